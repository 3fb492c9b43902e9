package kernel

import (
	"syscall"
	"testing"
	"unsafe"
)

// guarded returns a function that makes a slice of n <= most numbers which
// ends where an unreadable page begins: reading past it crashes the test. The
// memory of one call is reused by the next.
func guarded(t testing.TB, most int) func(n int) []float32 {
	page := syscall.Getpagesize()
	size := (4*(most+fence) + page - 1) / page * page
	memory, err := syscall.Mmap(-1, 0, size+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(memory); err != nil {
			t.Error(err)
		}
	})
	if err := syscall.Mprotect(memory[size:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	all := unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(memory))), size/4)
	return func(n int) []float32 { return fenced(all[len(all)-n-fence:])[:n:n] }
}

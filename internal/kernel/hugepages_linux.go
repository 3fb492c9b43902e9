package kernel

import (
	"syscall"
	"unsafe"

	"github.com/treeloss/treeloss/matrix"
)

// hugePage is the size in bytes of a large page on most processors.
const hugePage = 2 << 20

// HugePages asks the system to keep x in large pages, so that rows read at random
// need fewer walks through the tables of addresses. It does most before x is
// first touched. It is advice: no number changes, and the system may refuse.
func HugePages[T matrix.Float](x []T) {
	var zero T
	start := unsafe.Pointer(unsafe.SliceData(x))
	size := uintptr(len(x)) * unsafe.Sizeof(zero)
	skip := -uintptr(start) % hugePage
	if size < skip+hugePage {
		return
	}
	inside := unsafe.Slice((*byte)(unsafe.Add(start, skip)), (size-skip)/hugePage*hugePage)
	_ = syscall.Madvise(inside, syscall.MADV_HUGEPAGE)
}

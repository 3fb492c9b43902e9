package memory

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// memoryStatus is MEMORYSTATUSEX of the Windows API.
type memoryStatus struct {
	length                           uint32
	load                             uint32
	totalPhysical, availablePhysical uint64
	totalPageFile, availablePageFile uint64
	totalVirtual, availableVirtual   uint64
	availableExtendedVirtual         uint64
}

var globalMemoryStatusEx = windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")

func machine() int64 {
	var s memoryStatus
	s.length = uint32(unsafe.Sizeof(s))
	if ok, _, _ := globalMemoryStatusEx.Call(uintptr(unsafe.Pointer(&s))); ok == 0 {
		return 0
	}
	return int64(s.totalPhysical)
}

//go:build !linux && !darwin && !windows

package memory

func machine() int64 { return 0 }

//go:build !linux

package kernel

import "github.com/treeloss/treeloss/matrix"

// HugePages does nothing on this system.
func HugePages[T matrix.Float]([]T) {}

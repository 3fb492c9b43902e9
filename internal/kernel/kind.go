package kernel

import (
	"unsafe"

	"github.com/treeloss/treeloss/matrix"
)

// kind is a way to do the float32 loops.
type kind uint8

const (
	plain  kind = iota // Go
	avx2               // AVX2, FMA, BMI1 and BMI2
	avx512             // AVX-512F, BMI1 and BMI2
)

// String returns the name that Instructions and benchmarks show.
func (k kind) String() string { return [...]string{"go", "avx2", "avx512"}[k] }

// Instructions names what runs the float32 loops on this machine: "avx512",
// "avx2" or "go".
func Instructions() string { return best.String() }

// isFloat32 reports whether T is 4 bytes long. The compiler knows the answer
// in each instance and drops the branch.
func isFloat32[T matrix.Float]() bool {
	var zero T
	return unsafe.Sizeof(zero) == 4
}

// float32s is x, whose elements are known to be float32 under some name.
func float32s[T matrix.Float](x []T) []float32 { return *(*[]float32)(unsafe.Pointer(&x)) }

//go:build !linux

package kernel

import "testing"

// guarded returns a function that makes a slice of n numbers; only on Linux
// does reading past it crash the test.
func guarded(_ testing.TB, _ int) func(n int) []float32 {
	return func(n int) []float32 { return fenced(make([]float32, n+fence))[:n:n] }
}

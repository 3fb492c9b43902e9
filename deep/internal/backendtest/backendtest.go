// Package backendtest opens the backend that tests run on: go, and in packages
// whose TestMain is Main once more ONNX Runtime, where it is at hand.
package backendtest

import (
	"cmp"
	"fmt"
	"os"
	"testing"

	"github.com/treeloss/treeloss/deep/backend"
)

// variable names the environment variable that picks the backend of the tests,
// go by default.
const variable = "TREELOSS_TEST_BACKEND"

// onnx is the value of variable for ONNX Runtime.
const onnx = "onnx"

// Main runs the tests on the go backend, and once more on ONNX Runtime where it
// is compiled in and its library is at hand. It does not return.
func Main(m *testing.M) {
	code := m.Run()
	if b, err := backend.Open(onnx, nil); err == nil && os.Getenv(variable) == "" {
		b.Finalize()
		fmt.Println("again on ONNX Runtime")
		os.Setenv(variable, onnx)
		code = max(code, m.Run())
	}
	os.Exit(code)
}

// OnONNX tells whether the tests run on ONNX Runtime.
func OnONNX() bool { return os.Getenv(variable) == onnx }

// Open returns the backend of the tests.
func Open(t testing.TB) backend.Backend {
	t.Helper()
	b, err := backend.Open(cmp.Or(os.Getenv(variable), backend.Go), nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Both returns the go backend and ONNX Runtime where the tests run on that; else
// it skips the test, which compares the two.
func Both(t testing.TB) (plain, fast backend.Backend) {
	t.Helper()
	if !OnONNX() {
		t.Skip("compares the ONNX Runtime backend with go; build with -tags onnx and set ONNXRUNTIME_SHARED_LIBRARY_PATH")
	}
	plain, err := backend.Open(backend.Go, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(plain.Finalize)
	fast = Open(t)
	t.Cleanup(fast.Finalize)
	return plain, fast
}

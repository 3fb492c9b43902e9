//go:build onnx

package backend

import (
	"errors"
	"fmt"
	"os"

	"github.com/gomlx/compute"
	onnxruntime "github.com/gomlx/compute-onnx"
)

// openONNX looks for the library itself: the package downloads it where it finds
// none.
func openONNX() (compute.Backend, error) {
	path := os.Getenv("ONNXRUNTIME_SHARED_LIBRARY_PATH")
	if path == "" {
		return nil, errors.New("no library; run scripts/onnxruntime.sh and set ONNXRUNTIME_SHARED_LIBRARY_PATH to the file it names")
	}
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("ONNXRUNTIME_SHARED_LIBRARY_PATH: %w", err)
	}
	return onnxruntime.New("cpu")
}

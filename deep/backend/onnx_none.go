//go:build !onnx

package backend

import (
	"fmt"

	"github.com/gomlx/compute"
)

// openONNX says how to get this backend.
func openONNX() (compute.Backend, error) {
	return nil, fmt.Errorf("%w; build with -tags onnx", errNotBuilt)
}

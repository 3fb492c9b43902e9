//go:build !onnx

package backend

import (
	"fmt"

	"github.com/gomlx/compute"
)

func openONNX() (compute.Backend, error) {
	return nil, fmt.Errorf("%w; build with -tags onnx", errNotBuilt)
}

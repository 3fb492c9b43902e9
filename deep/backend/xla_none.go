//go:build !xla

package backend

import (
	"fmt"

	"github.com/gomlx/compute"
)

// openXLA says how to get this backend.
func openXLA(string) (compute.Backend, error) {
	return nil, fmt.Errorf("%w; build with -tags xla", errNotBuilt)
}

//go:build xla

package backend

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/go-xla/compute/xla"
)

// openXLA opens a PJRT plugin that is installed; by default the package would download
// one.
func openXLA(plugin string) (compute.Backend, error) {
	xla.EnableAutoInstall(false)
	return xla.New(plugin)
}

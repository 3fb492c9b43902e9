//go:build xla

package backend

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/go-xla/compute/xla"
)

func openXLA(plugin string) (compute.Backend, error) {
	xla.EnableAutoInstall(false)
	return xla.New(plugin)
}

// Package backend opens what GoMLX computes on, by name:
//
//	go        pure Go, in every program, on every machine; slow
//	onnx      ONNX Runtime on the processor; build tag onnx
//	xla       XLA on the processor; build tag xla
//	xla:cuda  XLA on an NVIDIA card; build tag xla
//
// A name asked for is opened or is an error. Without a name the fastest of those
// compiled in whose library is on this machine is opened: xla:cuda, xla, onnx,
// go. Nothing is ever downloaded.
package backend

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/gobackend"
)

// Backend is what networks are computed on, GoMLX's. Finalize closes it.
type Backend = compute.Backend

// Go is the name of the backend that is always there.
const Go = "go"

// errNotBuilt says that a backend is not in this program.
var errNotBuilt = errors.New("not compiled in")

// Names returns the names that Open takes, fastest first.
func Names() []string { return []string{"xla:cuda", "xla", "onnx", Go} }

// Open opens the backend of that name, or the best for "". Each backend that is
// compiled in but cannot be opened on the way to the best is told to warn, once,
// in one line; warn may be nil. A name that is unknown, not compiled in, or whose
// library is missing is an error that says what to do.
func Open(name string, warn func(line string)) (Backend, error) {
	if name != "" {
		return open(name)
	}
	for _, name := range Names() {
		b, err := open(name)
		if err == nil {
			return b, nil
		}
		if warn != nil && !errors.Is(err, errNotBuilt) && name != "xla:cuda" {
			warn(err.Error())
		}
	}
	return nil, fmt.Errorf("backend: none of %s can be opened", strings.Join(Names(), ", "))
}

// open opens the backend of that name. Errors name it and have one line.
func open(name string) (b compute.Backend, err error) {
	defer func() { // a library may panic while it loads
		if r := recover(); r != nil {
			b, err = nil, fmt.Errorf("backend: %s: %v", name, r)
		}
	}()
	switch name {
	case Go:
		// Without ops_sequential the worker pool of this backend can wait for
		// itself for ever: convolutions inside operations hold all workers.
		b, err = gobackend.New("ops_sequential")
	case "onnx":
		b, err = openONNX()
	case "xla":
		b, err = openXLA("cpu")
	case "xla:cuda":
		b, err = openXLA("cuda")
	default:
		return nil, fmt.Errorf("backend: unknown backend %q, want one of %s", name, strings.Join(Names(), ", "))
	}
	if err != nil {
		return nil, fmt.Errorf("backend: %s: %w", name, firstLine(err))
	}
	return b, nil
}

// lineError is an error without what follows its first line.
type lineError struct{ error }

// Error returns the first line.
func (e lineError) Error() string {
	line, _, _ := strings.Cut(e.error.Error(), "\n")
	return line
}

// Unwrap returns the whole error.
func (e lineError) Unwrap() error { return e.error }

// firstLine shortens an error of a library, which may have a stack in it.
func firstLine(err error) error { return lineError{err} }

package safetensors

import (
	"fmt"
	"io"
	"os"

	"github.com/treeloss/treeloss/internal/atomicfile"
)

// ReadFile reads the file at path; see Read. Errors name the path. Call Verify
// on the result unless another program may have written the file.
func ReadFile(path string) (*File, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err) // the error names the path
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("safetensors: %s is %s, want a regular file", path, atomicfile.Kind(info.Mode()))
	}
	f, err := Read(in, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// WriteFile writes f to path, which holds the old file or the new one, whole,
// whatever happens in between; see package atomicfile.
func WriteFile(path string, f *File) error {
	tensors, header, err := prepare(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return atomicfile.Write(path, func(w io.Writer) error { return writeAll(w, tensors, header) })
}

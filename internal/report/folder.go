package report

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// CheckFolder finds out before any work whether Page.Save can write a page into a folder: it
// is there or can be made, files can be written to it, and it has no index.html of another
// program. It leaves nothing behind. Save may still fail, as on a disk that fills up
// meanwhile; this is for an answer before hours of training, not for safety.
func CheckFolder(folder string) error {
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		folder = filepath.Dir(filepath.Clean(folder)) // it will be made
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is a file; name a folder", folder)
	case foreign(folder):
		return fmt.Errorf("%s is a page of another program; it is left as it is: name another folder", filepath.Join(folder, "index.html"))
	}
	probe, err := os.CreateTemp(folder, ".treeloss-probe-*")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no folder %s; create it first", folder)
	case err != nil:
		if place, ok := errors.AsType[*fs.PathError](err); ok {
			err = place.Err // the name of the probe says nothing
		}
		return fmt.Errorf("no file can be written to the folder %s: %w", folder, err)
	}
	probe.Close()
	return os.Remove(probe.Name())
}

// foreign tells whether a folder has an index.html that treeloss did not write. An empty
// one is nobody's work.
func foreign(folder string) bool {
	page, err := os.ReadFile(filepath.Join(folder, "index.html"))
	return err == nil && len(page) > 0 && !bytes.Contains(page, []byte(`<meta name="generator" content="treeloss">`))
}

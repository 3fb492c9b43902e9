package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/treeloss/treeloss/deep/anymodel"
)

// checkTarget finds out before hours of work whether a model can be written.
func checkTarget(path string) error {
	if path == "" {
		return usagef("no model: name the file to write with --model")
	}
	info, err := os.Stat(path)
	to, link := os.Readlink(path)
	switch {
	case err != nil && link == nil:
		return fmt.Errorf("cannot write %s: it is a link to %s, which cannot be followed; remove it or name another file with --model", path, to)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("cannot write %s: %w; name another file with --model", path, reason(err))
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a folder; name the model file to write with --model", path)
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%s is no regular file; name the model file to write with --model", path)
	case err == nil && info.Mode().Perm()&0o222 == 0:
		return fmt.Errorf("%s is read-only; it is left as it is: make it writable, or name another file with --model", path)
	case err == nil && info.Size() > 0 && !anymodel.IsFile(path):
		return fmt.Errorf("%s is there and is no model of treeloss; it is left as it is: name another file with --model", path)
	}
	// The model will be written beside the target and renamed, so a new file
	// must fit into the folder.
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	folder := filepath.Dir(path)
	probe, err := os.CreateTemp(folder, ".treeloss-probe-*")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("cannot write %s: there is no folder %s; create it first", path, folder)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("cannot write %s: no right to write to the folder %s; choose another one", path, folder)
	case err != nil:
		return fmt.Errorf("cannot write %s: the folder %s: %w; choose another one", path, folder, reason(err))
	}
	probe.Close()
	return os.Remove(probe.Name())
}

// source is a file that a command reads, and the flag that names it.
type source struct{ flag, path string }

// sources lists files that the same flag names.
func sources(flag string, paths ...string) []source {
	var list []source
	for _, path := range paths {
		list = append(list, source{flag, path})
	}
	return list
}

// spare refuses to write a file that is also read: it would be gone.
func spare(flag, path string, read []source) error {
	target, err := os.Stat(path)
	if err != nil {
		return nil // there is nothing to lose
	}
	for _, s := range read {
		if info, err := os.Stat(s.path); err == nil && os.SameFile(target, info) && info.Mode().IsRegular() {
			return usagef("%s would replace %s, the file of %s; name another one", flag, path, s.flag)
		}
	}
	return nil
}

// spareIn refuses to write many files into a folder with one that is read.
func spareIn(flag, folder string, read []source) error {
	target, err := os.Stat(folder)
	if err != nil {
		return nil // there is nothing to lose
	}
	for _, s := range read {
		if info, err := os.Stat(s.path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if home, err := os.Stat(filepath.Dir(s.path)); err == nil && os.SameFile(target, home) {
			return usagef("%s %s is the folder of %s, which %s reads; name a folder of its own, so that no file of yours is replaced", flag, folder, s.path, s.flag)
		}
	}
	return nil
}

// canWrite finds out before the work whether a file can be written to its folder.
func canWrite(flag, path string) error {
	folder := filepath.Dir(path)
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("cannot write %s: there is no folder %s; create it first, or choose another place with %s", path, folder, flag)
	case err != nil:
		return fmt.Errorf("cannot write %s: the folder %s: %w; choose another place with %s", path, folder, reason(err), flag)
	case !info.IsDir():
		return fmt.Errorf("cannot write %s: %s is a file and no folder; choose another place with %s", path, folder, flag)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder; name a file with %s", path, flag)
	}
	return nil
}

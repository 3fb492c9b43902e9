package safetensors

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
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
		return nil, fmt.Errorf("safetensors: %s is %s, want a regular file", path, kind(info.Mode()))
	}
	f, err := Read(in, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// WriteFile writes f to path so that path holds the old file or the new one,
// whole, whatever happens in between: it writes a temporary file in the same
// folder, syncs it to disk, renames it and syncs the folder. An existing file
// keeps its permissions; a symbolic link stays and its target is replaced. On
// an error the temporary file is removed and an existing file is untouched,
// unless the error says that only the last sync failed.
func WriteFile(path string, f *File) error {
	tensors, header, err := prepare(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return replaceFile(path, func(w io.Writer) error { return writeAll(w, tensors, header) })
}

// replaceFile does what WriteFile promises with whatever write writes.
func replaceFile(path string, write func(io.Writer) error) error {
	target := path
	if behindLink, err := filepath.EvalSymlinks(path); err == nil {
		target = behindLink
	}
	mode, err := modeOf(target)
	if err != nil {
		return cannotWrite(path, err)
	}
	out, err := createBeside(target)
	if err != nil {
		return cannotWrite(path, err)
	}
	err = fill(out, mode, write)
	if err == nil {
		err = os.Rename(out.Name(), target)
	}
	if err != nil {
		_ = os.Remove(out.Name()) // the first error says more
		return cannotWrite(path, err)
	}
	if err := syncFolder(filepath.Dir(target)); err != nil {
		return fmt.Errorf("safetensors: %s is written, but its folder could not be synced and a power cut may undo it: %w", path, err)
	}
	return nil
}

// modeOf returns the permissions of the file at path, 0 if there is none.
func modeOf(path string) (fs.FileMode, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, fmt.Errorf("it is %s, want a regular file", kind(info.Mode()))
	}
	return info.Mode().Perm(), nil
}

// createBeside creates an empty file in the folder of path under a name that
// is free. Its permissions follow the umask, which os.CreateTemp's do not.
func createBeside(path string) (*os.File, error) {
	for n := 0; ; n++ {
		name := filepath.Join(filepath.Dir(path), ".safetensors-"+strconv.Itoa(n)+".tmp")
		out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) || n == 10000 {
			return out, err
		}
	}
}

// fill writes, syncs and closes out; a mode other than 0 replaces its own.
func fill(out *os.File, mode fs.FileMode, write func(io.Writer) error) error {
	err := write(out)
	if err == nil && mode != 0 {
		err = out.Chmod(mode)
	}
	if err == nil {
		err = out.Sync()
	}
	return cmp.Or(err, out.Close())
}

// syncFolder makes a rename in this folder last. Systems that cannot do it
// (Windows, some network file systems) say so, which is no failure of ours.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	folder, err := os.Open(path)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return nil // one may write to a folder without the right to read it
		}
		return err
	}
	defer folder.Close()
	err = folder.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// cannotWrite says what failed and what to do.
func cannotWrite(path string, err error) error {
	advice := "try another path"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		advice = "create its folder first"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		advice = "choose a folder that you may write to"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		advice = "free some space or choose another disk"
	}
	return fmt.Errorf("safetensors: cannot write %s: %w; %s", path, err, advice)
}

// kind names what stands at a path that is no regular file.
func kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeDevice != 0:
		return "a device"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	}
	return "no regular file"
}

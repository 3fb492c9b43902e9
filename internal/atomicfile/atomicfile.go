// Package atomicfile replaces files whole or not at all.
package atomicfile

import (
	"bufio"
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

// Write puts what write writes in place of the file at path, so that path holds
// the old file or the new one, whole, whatever happens in between; see Commit.
// On an error of write an existing file is untouched. write is given a buffer;
// its errors come back.
func Write(path string, write func(io.Writer) error) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	defer f.Discard()
	if err := write(f); err != nil {
		return cannotWrite(path, err)
	}
	return f.Commit()
}

// WriteBytes puts data in place of the file at path; see Write.
func WriteBytes(path string, data []byte) error {
	return Write(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// File is a file beside its place, under a name of its own until Commit.
type File struct {
	*bufio.Writer
	path   string // as the caller gave it
	target string // the same behind links
	out    *os.File
	mode   fs.FileMode // of the old file; 0 if there is none
	ready  bool        // on disk, closed, to be renamed
}

// Create creates an empty file in the folder of path, under another name. It is
// an error if path is there and is no regular file. Commit or Discard ends it.
func Create(path string) (*File, error) {
	// A link stays a link: what it leads to is replaced.
	f := &File{path: path, target: path}
	if behindLink, err := filepath.EvalSymlinks(path); err == nil {
		f.target = behindLink
	} else if to, notLink := os.Readlink(path); notLink == nil {
		return nil, cannotWrite(path, fmt.Errorf("it is a link to %s, which cannot be followed; remove it or name another file", to))
	}
	var err error
	if f.mode, err = modeOf(f.target); err != nil {
		return nil, cannotWrite(path, err)
	}
	if f.out, err = createBeside(f.target); err != nil {
		return nil, cannotWrite(path, err)
	}
	f.Writer = bufio.NewWriterSize(f.out, 1<<16)
	return f, nil
}

// Prepare syncs the file to disk under the name that it has so far. Who replaces
// several files together prepares all before the first Commit, which then has only
// renames left that could fail. On an error the new file is removed.
func (f *File) Prepare() error {
	err := f.Flush()
	if err == nil && f.mode != 0 {
		err = f.out.Chmod(f.mode)
	}
	if err == nil {
		err = f.out.Sync()
	}
	if err = cmp.Or(err, f.out.Close()); err != nil {
		f.Discard()
		return cannotWrite(f.path, err)
	}
	f.ready = true
	return nil
}

// Commit syncs the file to disk, renames it to its path and syncs the folder. An
// old file's permissions stay; of a symbolic link the target is replaced. On an
// error the new file is removed and an old one is untouched, unless the error
// says that only the last sync failed.
func (f *File) Commit() error {
	defer f.Discard()
	// The rename must come last: before it the data have to be on disk, or a power cut
	// could leave an empty file under the name.
	if !f.ready {
		if err := f.Prepare(); err != nil {
			return err
		}
	}
	if err := os.Rename(f.out.Name(), f.target); err != nil {
		return cannotWrite(f.path, err)
	}
	f.target = ""
	if err := syncFolder(filepath.Dir(f.out.Name())); err != nil {
		return fmt.Errorf("%s is written, but its folder could not be synced and a power cut may undo it: %w", f.path, err)
	}
	return nil
}

// Discard removes the new file; after Commit it does nothing.
func (f *File) Discard() {
	if f.target == "" {
		return
	}
	f.target = ""
	_ = f.out.Close() // there may be an error that says more
	_ = os.Remove(f.out.Name())
}

// modeOf returns the permissions of the file at path, 0 if there is none. A rename over
// a folder would fail late, one over a device would replace it.
func modeOf(path string) (fs.FileMode, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, fmt.Errorf("it is %s, want a regular file", Kind(info.Mode()))
	}
	// A rename would replace a file that its owner protects.
	if info.Mode().Perm()&0o222 == 0 {
		return 0, errors.New("it is read-only; make it writable, or write to another file")
	}
	return info.Mode().Perm(), nil
}

// createBeside creates an empty file in the folder of path under a name that
// is free. Its permissions follow the umask, which os.CreateTemp's do not.
func createBeside(path string) (*os.File, error) {
	for n := 0; ; n++ {
		name := filepath.Join(filepath.Dir(path), ".treeloss-"+strconv.Itoa(n)+".tmp")
		out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		// Names of runs that crashed may be taken; so many are another fault.
		if !errors.Is(err, fs.ErrExist) || n == 10000 {
			return out, err
		}
	}
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

// cannotWrite says what failed and what to do, naming the path once.
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
	// The errors of os name the temporary file, which nobody knows.
	cause := err
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		cause = e.Err
	} else if e := (*os.LinkError)(nil); errors.As(err, &e) {
		cause = e.Err
	}
	return fmt.Errorf("cannot write %s: %w; %s", path, cause, advice)
}

// Kind names what stands at a path that is no regular file, for a message such as "x is
// a folder, want a regular file".
func Kind(mode fs.FileMode) string {
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

package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// onlyEntries fails unless folder holds exactly these names.
func onlyEntries(t *testing.T, folder string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if strings.Join(names, " ") != strings.Join(want, " ") {
		t.Errorf("the folder holds %q, want %q", names, want)
	}
}

// sample writes 100 bytes.
func sample(w io.Writer) error {
	_, err := w.Write(make([]byte, 100))
	return err
}

func TestFailedWriteLeavesTheOldFile(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "model.safetensors")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name  string
		cause error
		want  string
	}{
		{"disk full", syscall.ENOSPC, "free some space"},
		{"no right", syscall.EACCES, "may write to"},
		{"other", io.ErrShortWrite, "another path"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := Write(path, func(w io.Writer) error {
				if _, err := w.Write([]byte("half of it")); err != nil {
					t.Error(err)
				}
				return tc.cause
			})
			if !errors.Is(err, tc.cause) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %v, the path and %q", err, tc.cause, tc.want)
			}
		})
	}
	onlyEntries(t, folder, "model.safetensors")
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Errorf("the old file holds %q", got)
	}
}

func TestWriteToABadPlace(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, path, want string }{
		{"a folder", folder, "it is a folder, want a regular file"},
		{"a device", os.DevNull, "it is a device, want a regular file"},
		{"no such folder", filepath.Join(folder, "none", "m"), "create its folder first"},
		{"below a file", filepath.Join(file, "m"), "cannot write"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.path == os.DevNull && runtime.GOOS == "windows" {
				t.Skip("the null device of Windows has no path in a folder")
			}
			err := Write(tc.path, sample)
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), tc.path) {
				t.Errorf("got %v, want %q and the path", err, tc.want)
			}
		})
	}
	onlyEntries(t, folder, "file")
}

func TestWriteKeepsLinksModesAndStrangers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows makes symbolic links for administrators only, and has no permission bits")
	}
	folder := t.TempDir()
	target, link := filepath.Join(folder, "real"), filepath.Join(folder, "link")
	if err := os.WriteFile(target, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", link); err != nil {
		t.Fatal(err)
	}
	// What a killed program left behind is neither used nor removed.
	if err := os.WriteFile(filepath.Join(folder, ".treeloss-0.tmp"), []byte("stranger"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(link, sample); err != nil {
		t.Fatal(err)
	}
	onlyEntries(t, folder, ".treeloss-0.tmp", "link", "real")
	info, err := os.Lstat(target)
	if err != nil || info.Mode() != 0o600 || info.Size() != 100 {
		t.Errorf("the target is %v, %v; want the new content with mode 0600", info, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
}

func TestCreate(t *testing.T) {
	folder := t.TempDir()
	for _, keep := range []bool{true, false} {
		f, err := Create(filepath.Join(folder, "file"))
		if err != nil {
			t.Fatal(err)
		}
		if err := sample(f); err != nil {
			t.Fatal(err)
		}
		if keep {
			if err := f.Commit(); err != nil {
				t.Fatal(err)
			}
		}
		f.Discard()
		onlyEntries(t, folder, "file")
	}
}

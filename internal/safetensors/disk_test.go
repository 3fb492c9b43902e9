package safetensors

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
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

func TestWriteFileReadFile(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "model.safetensors")
	for range 2 { // a new file, then over it
		if err := WriteFile(path, sample()); err != nil {
			t.Fatal(err)
		}
		onlyEntries(t, folder, "model.safetensors")
	}
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, encodeFile(t, sample())) {
		t.Errorf("the file differs from Write's bytes (%v)", err)
	}
	for name, read := range map[string]func(string) (*File, error){"ReadFile": ReadFile, "Map": Map} {
		f, err := read(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Verify(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !bytes.Equal(encodeFile(t, f), got) {
			t.Errorf("%s gives another file", name)
		}
	}
}

// What is mapped stays when another file takes the place of its own.
func TestMapOutlivesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.safetensors")
	if err := WriteFile(path, sample()); err != nil {
		t.Fatal(err)
	}
	f, err := Map(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(path, &File{}); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := f.Verify(); err != nil {
		t.Error(err)
	}
}

func TestWriteFileNamesThePath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.safetensors")
	if err := WriteFile(path, &File{Tensors: []Tensor{{Name: "w", DType: "?"}}}); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a file that cannot be written: %v", err)
	}
	onlyEntries(t, filepath.Dir(path))
}

func TestReadFileNamesThePath(t *testing.T) {
	folder := t.TempDir()
	cut := filepath.Join(folder, "cut")
	data := encodeFile(t, sample())
	if err := os.WriteFile(cut, data[:len(data)-1], 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, path, want string }{
		{"absent", filepath.Join(folder, "none"), "no such file"},
		{"a folder", folder, "is a folder, want a regular file"},
		{"truncated", cut, "truncated"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, read := range []func(string) (*File, error){ReadFile, Map} {
				if _, err := read(tc.path); err == nil || !strings.Contains(err.Error(), tc.path) || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("got %v, want the path and %q", err, tc.want)
				}
			}
		})
	}
}

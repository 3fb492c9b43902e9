package dataset

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// record returns a record of the binary form; pixel i of plane p is i+p.
func pictureRecord(coarse, fine byte) []byte {
	out := []byte{coarse, fine}
	for p := range 3 {
		for i := range cifarSide * cifarSide {
			out = append(out, byte(i+p))
		}
	}
	return out
}

func writeFile(t testing.TB, path string, data []byte) string {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadCIFAR100Binary(t *testing.T) {
	dir := t.TempDir()
	file := writeFile(t, filepath.Join(dir, "train.bin"), append(pictureRecord(1, 2), pictureRecord(0, 0)...))
	s, err := ReadCIFAR100(file)
	if err != nil {
		t.Fatal(err)
	}
	if s.Len() != 2 || !slices.Equal(s.Label, []int32{2, 0}) || !slices.Equal(s.Classes, []string{"0", "1", "2"}) {
		t.Errorf("labels %v of %v", s.Label, s.Classes)
	}
	if p := s.Picture(1); len(p) != cifarPixels || p[3*40] != 40 || p[3*40+1] != 41 || p[3*40+2] != 42 {
		t.Errorf("pixel 40 is %v", p[3*40:3*40+3])
	}
	writeFile(t, filepath.Join(dir, "fine_label_names.txt"), []byte("apple\r\nfish\nbaby\n"))
	if s, err = ReadCIFAR100(dir); err != nil || !slices.Equal(s.Classes, []string{"apple", "fish", "baby"}) {
		t.Errorf("names %v, error %v", s.Classes, err)
	}
	if !IsCIFAR100(dir) || !IsCIFAR100(file) || IsCIFAR100(filepath.Join(dir, "fine_label_names.txt")) || IsCIFAR100(t.TempDir()) {
		t.Error("IsCIFAR100 is wrong")
	}
}

func TestReadCIFAR100Refuses(t *testing.T) {
	names := "apple\nfish\nbaby\n"
	for _, tc := range []struct {
		name, file string
		data       []byte
		names      string
		want       string
	}{
		{"cut record", "train.bin", pictureRecord(0, 0)[:3000], "", "no whole number"},
		{"empty", "train.bin", nil, "", "no whole number"},
		{"something else", "train.csv", []byte("text,label\n"), "", "neither a file of CIFAR-100"},
		{"label without name", "train.bin", pictureRecord(0, 9), names, "class 9, there are 3 names"},
		{"label above 99", "train.bin", append(pictureRecord(0, 99), pictureRecord(0, 255)...), "", "picture 1 has the fine label 255, CIFAR-100 has 0 to 99"},
		{"label 100", "train.bin", pictureRecord(0, 100), "", "picture 0 has the fine label 100"},
		{"empty name", "train.bin", pictureRecord(0, 0), "apple\n\nfish\n", "an empty line"},
		{"name twice", "train.bin", pictureRecord(0, 0), "apple\napple\n", "stands already on line 1"},
		{"Python form", "train", []byte("\x80\x02}q\x00(U\x04data"), "", "is a Python pickle; want CIFAR-100 in its binary form"},
	} {
		dir := t.TempDir()
		file := writeFile(t, filepath.Join(dir, tc.file), tc.data)
		if tc.names != "" {
			writeFile(t, filepath.Join(dir, "fine_label_names.txt"), []byte(tc.names))
		}
		_, err := ReadCIFAR100(file)
		var refusal *Error
		if !errors.As(err, &refusal) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want %q", tc.name, err, tc.want)
		}
	}
	if _, err := ReadCIFAR100(t.TempDir()); err == nil {
		t.Error("an empty folder: no error")
	}
	python := t.TempDir()
	writeFile(t, filepath.Join(python, "train"), []byte("\x80\x02}."))
	writeFile(t, filepath.Join(python, "meta"), []byte("\x80\x02}."))
	if _, err := ReadCIFAR100(python); !IsCIFAR100(python) || err == nil || !strings.Contains(err.Error(), "cifar-100-binary.tar.gz") {
		t.Errorf("a folder of the Python form: %v", err)
	}
	if _, err := ReadCIFAR100(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// The data at hand in this format, if they are there.
func TestReadCIFAR100Shared(t *testing.T) {
	dir := "../../shared/data/tiny-imagenet/cifar100-format"
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the real data of ../shared is not beside the repository")
	}
	s, err := ReadCIFAR100(dir)
	if err != nil {
		t.Fatal(err)
	}
	if s.Len() != 10_000 || len(s.Classes) != 100 {
		t.Errorf("%d pictures, %d classes", s.Len(), len(s.Classes))
	}
	count := make([]int, 100)
	for _, l := range s.Label {
		count[l]++
	}
	if slices.Min(count) != 100 || slices.Max(count) != 100 {
		t.Errorf("%d to %d pictures a class, want 100", slices.Min(count), slices.Max(count))
	}
}

func TestKeep(t *testing.T) {
	s := &Images{Height: 1, Width: 1, Classes: []string{"a", "b", "c"}, Label: []int32{2, 0, 1, 2},
		Pixels: []byte{1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4}}
	kept, others := s.Keep([]string{"c", "a"})
	if others != 1 || !slices.Equal(kept.Label, []int32{0, 1, 0}) || kept.Picture(2)[0] != 4 {
		t.Errorf("%d others, kept %+v", others, kept)
	}
	kept, others = s.Keep([]string{"c", "b", "a", "d"})
	if others != 0 || !slices.Equal(kept.Label, []int32{0, 2, 1, 0}) || &kept.Pixels[0] != &s.Pixels[0] {
		t.Errorf("%d others, kept %+v", others, kept)
	}
}

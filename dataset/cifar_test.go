package dataset

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// record returns a record of the binary form; pixel i of plane p is i+p.
func record(coarse, fine byte) []byte {
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
	file := writeFile(t, filepath.Join(dir, "train.bin"), append(record(1, 2), record(0, 0)...))
	s, err := ReadCIFAR100(file)
	if err != nil {
		t.Fatal(err)
	}
	if s.Len() != 2 || !slices.Equal(s.Label, []int32{2, 0}) || !slices.Equal(s.Coarse, []int32{1, 0}) || !slices.Equal(s.Classes, []string{"0", "1", "2"}) {
		t.Errorf("labels %v of %v, groups %v", s.Label, s.Classes, s.Coarse)
	}
	if p := s.Picture(1); len(p) != cifarPixels || p[3*40] != 40 || p[3*40+1] != 41 || p[3*40+2] != 42 {
		t.Errorf("pixel 40 is %v", p[3*40:3*40+3])
	}
	writeFile(t, filepath.Join(dir, "fine_label_names.txt"), []byte("apple\nfish\nbaby\n"))
	writeFile(t, filepath.Join(dir, "coarse_label_names.txt"), []byte("water\r\nland\r\n"))
	if s, err = ReadCIFAR100(dir); err != nil || !slices.Equal(s.Classes, []string{"apple", "fish", "baby"}) || !slices.Equal(s.Groups, []string{"water", "land"}) {
		t.Errorf("names %v and %v, error %v", s.Classes, s.Groups, err)
	}
	if !IsCIFAR100(dir) || !IsCIFAR100(file) || IsCIFAR100(filepath.Join(dir, "fine_label_names.txt")) || IsCIFAR100(t.TempDir()) {
		t.Error("IsCIFAR100 is wrong")
	}
}

// The fixtures were pickled by Python 3 in protocols 2 to 5, with arrays in the
// form in which NumPy pickles them: 3 pictures, byte j of picture i is 7i + j.
func TestReadCIFAR100Python(t *testing.T) {
	for protocol := 2; protocol <= 5; protocol++ {
		dir := t.TempDir()
		for _, name := range []string{"train", "meta"} {
			writeFile(t, filepath.Join(dir, name), unpack(t, fmt.Sprintf("testdata/cifar100-python/%s-protocol%d.gz", name, protocol)))
		}
		if !IsCIFAR100(dir) {
			t.Errorf("protocol %d: not taken for CIFAR-100", protocol)
		}
		checkPickled(t, dir)
	}
}

func unpack(t testing.TB, path string) []byte {
	t.Helper()
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func checkPickled(t *testing.T, dir string) {
	t.Helper()
	s, err := ReadCIFAR100(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Label, []int32{1, 0, 2}) || !slices.Equal(s.Coarse, []int32{0, 0, 1}) || !slices.Equal(s.Classes, []string{"apple", "fish", "baby"}) || !slices.Equal(s.Groups, []string{"water", "land"}) {
		t.Errorf("labels %v of %v, groups %v of %v", s.Label, s.Classes, s.Coarse, s.Groups)
	}
	p := s.Picture(2)
	for i := range 1024 {
		for c := range 3 {
			if want := byte(14 + i + 1024*c); p[3*i+c] != want {
				t.Fatalf("pixel %d, channel %d is %d, want %d", i, c, p[3*i+c], want)
			}
		}
	}
}

// Python 2 wrote the files that are handed out: text as str, with long lists in
// parts and marks.
func TestReadCIFAR100Python2(t *testing.T) {
	var b bytes.Buffer
	str := func(s string) {
		if len(s) < 256 {
			b.WriteByte('U')
			b.WriteByte(byte(len(s)))
		} else {
			b.WriteByte('T')
			b.Write([]byte{byte(len(s)), byte(len(s) >> 8), byte(len(s) >> 16), 0})
		}
		b.WriteString(s)
		b.WriteString("q\x01")
	}
	b.WriteString("\x80\x02}q\x00(")
	str("data")
	b.WriteString("cnumpy.core.multiarray\n_reconstruct\nq\x02cnumpy\nndarray\nq\x03K\x00\x85U\x01b\x87R(K\x01K\x03M\x00\x0c\x86cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89")
	data := make([]byte, 3*3072)
	for i := range data {
		data[i] = byte(i/3072*7 + i%3072)
	}
	str(string(data))
	b.WriteString("tb")
	str("fine_labels")
	b.WriteString("](K\x01K\x00e(K\x02e")
	str("coarse_labels")
	b.WriteString("](K\x00K\x00K\x01e")
	b.WriteString("u.")
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "train"), b.Bytes())
	writeFile(t, filepath.Join(dir, "meta"), unpack(t, "testdata/cifar100-python/meta-protocol2.gz"))
	checkPickled(t, dir)
}

func TestReadCIFAR100Refuses(t *testing.T) {
	good := unpack(t, "testdata/cifar100-python/train-protocol3.gz")
	names := "apple\nfish\nbaby\n"
	for _, tc := range []struct {
		name, file string
		data       []byte
		names      string
		want       string
	}{
		{"cut record", "train.bin", record(0, 0)[:3000], "", "no whole number"},
		{"empty", "train.bin", nil, "", "no whole number"},
		{"something else", "train.csv", []byte("text,label\n"), "", "neither a file of CIFAR-100"},
		{"label without name", "train.bin", record(0, 9), names, "class 9, there are 3 names"},
		{"empty name", "train.bin", record(0, 0), "apple\n\nfish\n", "an empty line"},
		{"name twice", "train.bin", record(0, 0), "apple\napple\n", "stands already on line 1"},
		{"cut pickle", "train", good[:5000], "", "ends early"},
		{"pickle of code", "train", []byte("\x80\x02cos\nsystem\nU\x02ls\x85R."), "", "asks to call"},
		{"pickle of a list", "train", []byte("\x80\x02]."), "", "want a dict"},
		{"no array", "train", []byte("\x80\x02}."), "", "no array data"},
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
	if s.Len() != 10_000 || len(s.Classes) != 100 || len(s.Groups) != 24 {
		t.Errorf("%d pictures, %d classes, %d groups", s.Len(), len(s.Classes), len(s.Groups))
	}
	count := make([]int, 100)
	for _, l := range s.Label {
		count[l]++
	}
	if slices.Min(count) != 100 || slices.Max(count) != 100 {
		t.Errorf("%d to %d pictures a class, want 100", slices.Min(count), slices.Max(count))
	}
}

func FuzzReadCIFAR100Pickle(f *testing.F) {
	for _, name := range []string{"meta-protocol2", "meta-protocol4", "train-protocol3"} {
		f.Add(unpack(f, "testdata/cifar100-python/"+name+".gz"))
	}
	f.Add([]byte("\x80\x02cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R."))
	f.Fuzz(func(t *testing.T, data []byte) {
		var s Images
		if err := s.fromPickle("f", data); err == nil && len(s.Pixels) != len(s.Label)*cifarPixels {
			t.Errorf("%d bytes of pixels for %d labels", len(s.Pixels), len(s.Label))
		}
		_, _, _ = namesFromPickle("f", data)
	})
}

func TestKeep(t *testing.T) {
	s := &Images{Height: 1, Width: 1, Classes: []string{"a", "b", "c"}, Label: []int32{2, 0, 1, 2}, Coarse: []int32{1, 0, 0, 1},
		Pixels: []byte{1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4}}
	kept, others := s.Keep([]string{"c", "a"})
	if others != 1 || !slices.Equal(kept.Label, []int32{0, 1, 0}) || !slices.Equal(kept.Coarse, []int32{1, 0, 1}) || kept.Picture(2)[0] != 4 {
		t.Errorf("%d others, kept %+v", others, kept)
	}
	kept, others = s.Keep([]string{"c", "b", "a", "d"})
	if others != 0 || !slices.Equal(kept.Label, []int32{0, 2, 1, 0}) || &kept.Pixels[0] != &s.Pixels[0] {
		t.Errorf("%d others, kept %+v", others, kept)
	}
}

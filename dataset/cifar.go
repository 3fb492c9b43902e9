package dataset

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/treeloss/treeloss/internal/input"
)

// The sizes of a record: pixels a side, bytes of a picture, bytes with the labels; and the
// number of fine labels.
const (
	cifarSide   = 32
	cifarPixels = cifarSide * cifarSide * 3
	cifarRecord = 2 + cifarPixels // coarse label, fine label, picture
	cifarLabels = 100
)

// ReadCIFAR100 reads a file of CIFAR-100 in its binary form (train.bin: records of
// 3,074 bytes). A folder stands for its train.bin. Names of the classes come from
// fine_label_names.txt beside it; without it, classes are called 0, 1, and so on, up
// to the highest label. The coarse labels are left out. The format is that of
// cs.toronto.edu/~kriz/cifar.html (Krizhevsky 2009); the pictures take 3,072 bytes each.
//
// A file of another length, the Python form (pickles), and a label above 99 or without a
// name are each an *Error.
func ReadCIFAR100(path string) (*Images, error) {
	path, err := cifarFile(path)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, input.Refuse(path, 0, 0, "is no regular file; want CIFAR-100 in its binary form, or a folder of pictures")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, input.Missing(path, err)
	}
	s := &Images{Height: cifarSide, Width: cifarSide}
	if err := s.fromRecords(path, data); err != nil {
		return nil, err
	}
	if s.Classes, err = nameFile(filepath.Join(filepath.Dir(path), "fine_label_names.txt")); err != nil {
		return nil, err
	}
	s.Classes, err = named(path, s.Label, s.Classes)
	return s, err
}

// cifarFile returns the training file of a folder, or the path itself.
func cifarFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", input.Missing(path, err)
	}
	if !info.IsDir() {
		return path, nil
	}
	for _, name := range []string{"train.bin", "train"} {
		if info, err := os.Stat(filepath.Join(path, name)); err == nil && info.Mode().IsRegular() {
			return filepath.Join(path, name), nil
		}
	}
	return "", input.Refuse(path, 0, 0, "a folder without train.bin; name the file, or unpack cifar-100-binary.tar.gz there")
}

// IsCIFAR100 tells whether a path looks like CIFAR-100: a folder with train.bin, or
// a file such as this, by its length. The pickles train and meta are CIFAR-100, too:
// ReadCIFAR100 says what to fetch in their place.
func IsCIFAR100(path string) bool {
	file, err := cifarFile(path)
	if err != nil {
		return false
	}
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return false
	}
	if strings.HasSuffix(file, ".bin") && info.Size()%cifarRecord == 0 {
		return true
	}
	_, err = os.Stat(filepath.Join(filepath.Dir(file), "meta"))
	return err == nil && filepath.Ext(file) == ""
}

// fromRecords takes the records apart: coarse label, fine label, and 32 x 32 bytes of each
// colour, which become the pixels of Images, colour by colour.
func (s *Images) fromRecords(path string, data []byte) error {
	if bytes.HasPrefix(data, []byte{0x80}) && len(data)%cifarRecord != 0 {
		return input.Refuse(path, 0, 0, "is a Python pickle; want CIFAR-100 in its binary form: unpack cifar-100-binary.tar.gz and name that folder")
	} else if whole := len(data)%cifarRecord == 0; !whole && filepath.Ext(path) != ".bin" {
		return input.Refuse(path, 0, 0, "is neither a file of CIFAR-100, as train.bin is, nor a folder of pictures")
	} else if !whole || len(data) == 0 {
		return input.Refuse(path, 0, 0, "%d bytes are no whole number of CIFAR-100 records of %d bytes; fetch the file anew", len(data), cifarRecord)
	}
	s.Pixels = make([]byte, 0, len(data))
	for ; len(data) > 0; data = data[cifarRecord:] {
		if data[1] >= cifarLabels {
			return input.Refuse(path, 0, 0, "picture %d has the fine label %d, CIFAR-100 has 0 to %d; the file is damaged or of another kind, fetch it anew",
				len(s.Label), data[1], cifarLabels-1)
		}
		s.Label = append(s.Label, int32(data[1]))
		planes := data[2:cifarRecord] // reds first, then greens, then blues
		for i := range cifarSide * cifarSide {
			s.Pixels = append(s.Pixels, planes[i], planes[cifarSide*cifarSide+i], planes[2*cifarSide*cifarSide+i])
		}
	}
	return nil
}

// nameFile reads a name a line; a file that does not exist has none.
func nameFile(path string) ([]string, error) {
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, input.Missing(path, err)
	}
	lines := strings.Split(strings.TrimRight(string(data), "\r\n"), "\n")
	seen := map[string]int{}
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if line == "" {
			return nil, input.Refuse(path, i+1, 0, "an empty line, want the name of class %d", i)
		}
		if first, twice := seen[line]; twice {
			return nil, input.Refuse(path, i+1, 0, "the name %q stands already on line %d", line, first)
		}
		seen[line] = i + 1
		lines[i] = line
	}
	return lines, nil
}

// named checks that each label has a name, or makes names of numbers, for all classes up to
// the highest: one without a picture keeps its place.
func named(path string, labels []int32, names []string) ([]string, error) {
	most := int32(-1)
	for i, l := range labels {
		if l < 0 || names != nil && int(l) >= len(names) {
			return nil, input.Refuse(path, 0, 0, "picture %d has class %d, there are %d names; take the list of names that belongs to the file", i, l, len(names))
		}
		most = max(most, l)
	}
	for i := int32(0); names == nil || len(names) <= int(most); i++ {
		names = append(names, fmt.Sprint(i))
	}
	return names, nil
}

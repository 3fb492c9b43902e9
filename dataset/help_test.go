package dataset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// collect reads all examples, cloned.
func collect(r *Reader) ([]Example, error) {
	var out []Example
	for ex, err := range r.All() {
		if err != nil {
			return out, err
		}
		out = append(out, ex.Clone())
	}
	return out, nil
}

// readText reads what stands in text under the given name.
func readText(text, name string, opts Options) ([]Example, *Reader, error) {
	r, err := NewReader(strings.NewReader(text), name, opts)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	out, err := collect(r)
	return out, r, err
}

// write puts a file into a fresh folder and returns its path.
func write(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func gzipped(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

func zstandard(data []byte) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return w.EncodeAll(data, nil)
}

// npyBytes lays an array out as numpy.save does: the header padded with spaces
// so that the data begins at a multiple of 64 bytes.
func npyBytes(version byte, descr, shape string, data any) []byte {
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape)
	before := 10
	if version > 1 {
		before = 12
	}
	for (before+len(header)+1)%64 != 0 {
		header += " "
	}
	header += "\n"
	b := append([]byte(npyMagic), version, 0)
	if version > 1 {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(header)))
	} else {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	}
	b = append(b, header...)
	b, err := binary.Append(b, binary.LittleEndian, data)
	if err != nil {
		panic(err)
	}
	return b
}

// same reports whether two examples are equal but for the place.
func same(a, b Example) bool {
	return a.Text == b.Text && a.Label == b.Label && a.Weight == b.Weight && slices.Equal(a.Values, b.Values) && slices.Equal(a.Index, b.Index) && slices.Equal(a.Mix, b.Mix)
}

// byteAtATime gives one byte a read, as a slow terminal does.
type byteAtATime struct{ r io.Reader }

func (b byteAtATime) Read(p []byte) (int, error) { return b.r.Read(p[:min(len(p), 1)]) }

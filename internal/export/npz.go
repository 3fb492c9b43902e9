package export

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/treeloss/treeloss/labeltree"
)

// WriteTree writes the matrix A of a tree (k x nodes) as scipy.sparse.save_npz writes a CSR
// matrix of float32: A[c, v] is the square root of the length of node v, 1 in a tree
// without lengths, if v is on the path from class c to the root, which is node 0. The
// classes are in the order of the tree. W = A @ V is then what this tree shares, in
// any program. Errors are those of w. O(k depth).
func WriteTree(t *labeltree.Tree, w io.Writer) error {
	indptr, indices, data := make([]int32, 1, t.Classes()+1), []int32(nil), []float32(nil)
	for c := range t.Classes() {
		path := t.Path(c)
		slices.Sort(path)
		for _, v := range path {
			indices, data = append(indices, int32(v)), append(data, float32(math.Sqrt(t.Length(v))))
		}
		indptr = append(indptr, int32(len(indices)))
	}
	// An .npz is a zip of .npy: magic, version 1.0, length of the head in 2 bytes, head, data
	// (numpy.lib.format). The head is filled up with spaces so that data begin at a multiple
	// of 64: 10 bytes before it, and a line feed at its end.
	z := zip.NewWriter(w)
	for _, part := range []struct {
		name, kind, shape string
		values            any
	}{
		{"indices", "<i4", fmt.Sprintf("(%d,)", len(indices)), indices},
		{"indptr", "<i4", fmt.Sprintf("(%d,)", len(indptr)), indptr},
		{"format", "|S3", "()", []byte("csr")},
		{"shape", "<i8", "(2,)", []int64{int64(t.Classes()), int64(t.Len())}},
		{"data", "<f4", fmt.Sprintf("(%d,)", len(data)), data},
	} {
		f, err := z.CreateHeader(&zip.FileHeader{Name: part.name + ".npy", Method: zip.Deflate}) // without a time: the same tree gives the same bytes
		if err != nil {
			return err
		}
		text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", part.kind, part.shape)
		text += strings.Repeat(" ", 63-(10+len(text))%64) + "\n"
		var b bytes.Buffer
		b.WriteString("\x93NUMPY\x01\x00")
		for _, v := range []any{uint16(len(text)), []byte(text), part.values} {
			if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
				return err
			}
		}
		if _, err := f.Write(b.Bytes()); err != nil {
			return err
		}
	}
	return z.Close()
}

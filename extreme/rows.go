package extreme

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"math"
	"os"
	"runtime"

	"github.com/treeloss/treeloss/internal/safetensors"
	"github.com/treeloss/treeloss/matrix"
)

// examples are rows of features with their classes, in the order of a partition: in memory,
// or in a file where memory does not hold them.
type examples struct {
	columns int
	place   []int32   // of the class of each row in Partition.Order, ascending
	weight  []float32 // nil: all 1
	start   []int     // k+1: the rows of the class at place n are start[n] to start[n+1]-1

	x    *matrix.Sparse // nil: the rows are in the file
	file *rowFile
	row  []int32 // of the file, for each row
}

// inOrder returns the rows of x in the order of a partition.
func inOrder(x *matrix.Sparse, class []int32, weight []float32, p *Partition) *examples {
	e, rows := ordered(class, weight, p)
	e.columns = x.Columns
	all := make([]int, len(rows))
	for n, i := range rows {
		all[n] = int(i)
	}
	e.x = x.Select(all).(*matrix.Sparse)
	return e
}

// ordered sorts rows by the places of their classes, those of one class as they come.
func ordered(class []int32, weight []float32, p *Partition) (e *examples, rows []int32) {
	at := p.Positions()
	e = &examples{place: make([]int32, len(class)), start: make([]int, len(p.Order)+1)}
	for _, c := range class {
		e.start[at[c]+1]++
	}
	for n := range p.Order {
		e.start[n+1] += e.start[n]
	}
	rows = make([]int32, len(class))
	if weight != nil {
		e.weight = make([]float32, len(class))
	}
	next := append([]int(nil), e.start[:len(p.Order)]...)
	for i, c := range class {
		place := at[c]
		n := next[place]
		next[place]++
		rows[n], e.place[n] = int32(i), place
		if weight != nil {
			e.weight[n] = weight[i]
		}
	}
	return e, rows
}

// len returns the number of rows.
func (e *examples) len() int { return len(e.place) }

// values returns about the number of values that so many rows have.
func (e *examples) values(rows int) int {
	if e.x != nil {
		return rows * len(e.x.Value) / max(e.len(), 1)
	}
	return int(int64(rows) * e.file.values / int64(max(e.len(), 1)))
}

// between returns the rows from lo to hi-1. They may be those of e itself, with no room
// behind.
func (e *examples) between(lo, hi int) (*matrix.Sparse, error) {
	if e.x == nil {
		rows := make([]int, 0, hi-lo)
		for i := lo; i < hi; i++ {
			rows = append(rows, i)
		}
		return e.some(rows)
	}
	from, to := e.x.Start[lo], e.x.Start[hi]
	x := &matrix.Sparse{Columns: e.columns, Start: make([]int, 0, hi-lo+1), Index: e.x.Index[from:to:to], Value: e.x.Value[from:to:to]}
	for _, s := range e.x.Start[lo : hi+1] {
		x.Start = append(x.Start, s-from)
	}
	return x, nil
}

// some returns a copy of some rows.
func (e *examples) some(rows []int) (*matrix.Sparse, error) {
	if e.x != nil {
		return e.x.Select(rows).(*matrix.Sparse), nil
	}
	out := &matrix.Sparse{Columns: e.columns, Start: make([]int, 1, len(rows)+1)}
	return out, e.add(out, rows)
}

// add appends some rows to a matrix.
func (e *examples) add(to *matrix.Sparse, rows []int) error {
	if e.x != nil {
		for _, i := range rows {
			to.AppendRow(e.x.Row(i))
		}
		return nil
	}
	var buffer []byte
	var err error
	for _, i := range rows {
		if buffer, err = e.file.read(to, int(e.row[i]), buffer); err != nil {
			return err
		}
	}
	return nil
}

// sum adds all that rows are to a digest.
func (e *examples) sum(h hash.Hash) {
	parts := []safetensors.Tensor{safetensors.New("", e.place), safetensors.New("", e.weight)}
	if e.x != nil {
		parts = append(parts, safetensors.New("", e.x.Index), safetensors.New("", e.x.Value))
	} else {
		h.Write(e.file.sum.Sum(nil))
	}
	for _, p := range parts {
		h.Write(p.Data)
	}
}

// rowFile is a file of sparse rows, for a training whose rows memory does not hold: some
// five bytes a value. It is written from end to end, then read row by row in any order,
// from several goroutines.
type rowFile struct {
	columns int
	file    *os.File
	out     *bufio.Writer
	sum     hash.Hash // of all that was written
	at      []int64   // where each row begins, and the last ends
	values  int64     // of all rows
	next    []byte    // the bytes of a row
}

// errRows begins the errors of a rowFile.
var errRows = errors.New("rows that memory does not hold are kept in a file")

// newRowFile makes an empty file in a folder, which goes when the process does, or with
// close.
func newRowFile(folder string, columns int) (*rowFile, error) {
	file, err := os.CreateTemp(folder, ".treeloss-rows-*")
	if err != nil {
		return nil, fmt.Errorf("%w, which cannot be made: %w", errRows, err)
	}
	if runtime.GOOS != "windows" {
		if err := os.Remove(file.Name()); err != nil {
			return nil, errors.Join(err, file.Close())
		}
	}
	return &rowFile{columns: columns, file: file, out: bufio.NewWriterSize(file, 1<<20), sum: sha256.New(), at: []int64{0}}, nil
}

// close frees the file.
func (f *rowFile) close() error {
	err := f.file.Close()
	if gone := os.Remove(f.file.Name()); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

// write appends a row: the differences of its columns as varints, and its values.
func (f *rowFile) write(index []int32, value []float32) error {
	b := f.next[:0]
	last := int32(-1)
	for n, j := range index {
		b = binary.AppendUvarint(b, uint64(j-last))
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(value[n]))
		last = j
	}
	f.next = b
	f.at = append(f.at, f.at[len(f.at)-1]+int64(len(b)))
	f.values += int64(len(index))
	f.sum.Write(b)
	if _, err := f.out.Write(b); err != nil {
		return fmt.Errorf("%w, %d MB so far; there is no room for it: %w", errRows, f.at[len(f.at)-1]>>20, err)
	}
	return nil
}

// done ends the writing.
func (f *rowFile) done() error {
	if err := f.out.Flush(); err != nil {
		return fmt.Errorf("%w, %d MB; there is no room for it: %w", errRows, f.at[len(f.at)-1]>>20, err)
	}
	f.out, f.next = nil, nil
	return nil
}

// read appends row i to a matrix. It returns the buffer that it was given, or a longer one.
func (f *rowFile) read(to *matrix.Sparse, i int, buffer []byte) ([]byte, error) {
	size := int(f.at[i+1] - f.at[i])
	if cap(buffer) < size {
		buffer = make([]byte, 2*size)
	}
	b := buffer[:size]
	if _, err := f.file.ReadAt(b, f.at[i]); err != nil {
		return buffer, fmt.Errorf("%w: %w", errRows, err)
	}
	last := int64(-1)
	for len(b) > 0 {
		step, n := binary.Uvarint(b)
		if n <= 0 || len(b) < n+4 || step == 0 || step > math.MaxInt32 || last+int64(step) >= int64(f.columns) {
			return buffer, fmt.Errorf("%w, which was changed while it was in use", errRows)
		}
		last += int64(step)
		to.Index = append(to.Index, int32(last))
		to.Value = append(to.Value, math.Float32frombits(binary.LittleEndian.Uint32(b[n:])))
		b = b[n+4:]
	}
	to.Start = append(to.Start, len(to.Index))
	return buffer, nil
}

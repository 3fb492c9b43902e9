// Package spill keeps examples on disk that memory does not hold. They are dealt at
// random into parts, each small enough to be read whole:
//
//	New -> Add, Add ... -> Store.Part(i) -> rows, in the order in which they were added
//
// A part is then a random sample of all examples, whatever the order they came in: parts read
// in random order, and rows of a part in random order, are as good for SGD as a shuffle of
// all, in two passes over the data and without a sort.
//
// The file is a sequence of pieces, each with rows of one part, in which numbers are varints:
//
//	label  weight (float32)  n, n x (label, share (float64))      soft labels, in full precision
//	texts:    length, bytes  n, n x (length, bytes) fields  n, n x float32 values
//	numbers:  n, n x float32
//	sparse:   n, n x (index, float32)
//
// It is of this process alone: no header, no version, and nothing is read from an earlier run.
package spill

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"runtime"

	"github.com/treeloss/treeloss/dataset"
)

// Parts is the number of parts of a Store: with 1 GB to read parts into, 256 GB of examples.
const Parts = 256

// pieceBytes is how much of a part is written at a time: 16 MB of memory for all parts, and
// reads of a part that are long enough for a disk with a head to move.
const pieceBytes = 1 << 16

// stream is the stream of random numbers that deals examples.
const stream = 0x5b11

// Store is a file of examples. Adding is for one goroutine; then any number of them may
// read parts.
type Store struct {
	folder  string
	file    *os.File // nil until something is written
	kind    dataset.Kind
	random  *rand.Rand
	number  map[string]int
	labels  []string
	counts  []int     // rows with the label, as that of the largest share
	weights []float64 // of these, each label by its share
	parts   [Parts]part
	written int64
	rows    int
}

// part is where the rows of a part are: in pieces of the file, and then in pending.
type part struct {
	rows    int
	pending []byte  // rows that are not written yet; below pieceBytes, but for a long last row
	at      []int64 // where the pieces in the file begin
	size    []int
}

// New returns an empty store of examples of a kind. The seed decides which part an
// example goes to. When it holds some megabytes it makes a file in the folder, which
// Close removes.
func New(folder string, kind dataset.Kind, seed uint64) *Store {
	return &Store{folder: folder, kind: kind, random: rand.New(rand.NewPCG(seed, stream)), number: make(map[string]int)}
}

// Close removes the file.
func (s *Store) Close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if gone := os.Remove(s.file.Name()); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

// Rows returns the number of examples; Labels their labels, by number, and how many
// have each. Of several labels that with the largest share counts.
func (s *Store) Rows() int                 { return s.rows }
func (s *Store) Labels() ([]string, []int) { return s.labels, s.counts }

// Weights returns what the examples of each label weigh together; of several labels each
// has its share.
func (s *Store) Weights() []float64 { return s.weights }

// PartRows returns the number of examples in a part.
func (s *Store) PartRows(i int) int { return s.parts[i].rows }

// label returns the number of a label.
func (s *Store) label(name string) int {
	n, ok := s.number[name]
	if !ok {
		n = len(s.labels)
		s.number[name] = n
		s.labels, s.counts, s.weights = append(s.labels, name), append(s.counts, 0), append(s.weights, 0)
	}
	return n
}

// Add appends an example to a part. Its numbers are kept as float32, as a table of
// features has them. It copies what it is given. An error is one of the disk, after which
// the Store is of no use.
func (s *Store) Add(e dataset.Example) error {
	p := &s.parts[s.random.IntN(Parts)]
	label := s.label(e.Label)
	s.counts[label]++
	b := binary.AppendUvarint(p.pending, uint64(label))
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(e.Weight)))
	b = binary.AppendUvarint(b, uint64(len(e.Mix)))
	if len(e.Mix) == 0 {
		s.weights[label] += e.Weight
	}
	for _, share := range e.Mix {
		part := s.label(share.Label)
		s.weights[part] += e.Weight * share.Share
		b = binary.AppendUvarint(b, uint64(part))
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(share.Share))
	}
	switch s.kind {
	case dataset.Text:
		b = binary.AppendUvarint(b, uint64(len(e.Text)))
		b = append(b, e.Text...)
		b = binary.AppendUvarint(b, uint64(len(e.Fields)))
		for _, field := range e.Fields {
			b = binary.AppendUvarint(b, uint64(len(field)))
			b = append(b, field...)
		}
		b = binary.AppendUvarint(b, uint64(len(e.Values)))
		for _, v := range e.Values {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
		}
	default:
		b = binary.AppendUvarint(b, uint64(len(e.Values)))
		for n, v := range e.Values {
			if s.kind == dataset.Sparse {
				b = binary.AppendUvarint(b, uint64(e.Index[n]))
			}
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
		}
	}
	p.pending = b
	p.rows++
	s.rows++
	if len(p.pending) >= pieceBytes {
		return s.write(p)
	}
	return nil
}

// write appends what is pending of a part to the file.
func (s *Store) write(p *part) error {
	if s.file == nil {
		file, err := os.CreateTemp(s.folder, ".treeloss-rows-*")
		if err != nil {
			return fmt.Errorf("examples that memory does not hold are kept in a file, which cannot be made: %w", err)
		}
		s.file = file
		if runtime.GOOS != "windows" { // the file then goes when the process does, however it ends
			if err := os.Remove(file.Name()); err != nil {
				return err
			}
		}
	}
	if _, err := s.file.Write(p.pending); err != nil {
		return fmt.Errorf("examples that memory does not hold are kept in a file, %d MB so far; there is no room for it: %w", s.written>>20, err)
	}
	p.at, p.size = append(p.at, s.written), append(p.size, len(p.pending))
	s.written += int64(len(p.pending))
	p.pending = p.pending[:0]
	return nil
}

// Row is an example of a part, with its labels by number.
type Row struct {
	Label   int
	Mix     []Share // as dataset.Example has it
	Example dataset.Example
}

// Share is the part of an example that belongs to a label.
type Share struct {
	Label int
	Share float64
}

// Part is the examples of a part, as bytes.
type Part struct {
	kind dataset.Kind
	data []byte
	from []int // where each row begins
}

// Part reads a part: the rows are those of Add, in their order. It takes the bytes of the
// part and 8 bytes a row, and may be called by several goroutines at once.
func (s *Store) Part(i int) (*Part, error) {
	p := &s.parts[i]
	total := len(p.pending)
	for _, n := range p.size {
		total += n
	}
	data := make([]byte, 0, total)
	for n, at := range p.at {
		piece := data[len(data) : len(data)+p.size[n]]
		if _, err := s.file.ReadAt(piece, at); err != nil {
			return nil, fmt.Errorf("examples that memory does not hold: %w", err)
		}
		data = data[:len(data)+p.size[n]]
	}
	out := &Part{kind: s.kind, data: append(data, p.pending...), from: make([]int, 0, p.rows)}
	// All rows are passed over once, so that Row has no errors to return.
	c := cursor{rest: out.data}
	for range p.rows {
		out.from = append(out.from, len(out.data)-len(c.rest))
		c.skip(s.kind)
	}
	if c.bad || len(c.rest) > 0 {
		return nil, errors.New("examples that memory does not hold: their file was changed while it was in use")
	}
	return out, nil
}

// Rows returns the number of rows.
func (p *Part) Rows() int { return len(p.from) }

// Row sets r to row i. Its text is a copy; its lists are used again.
func (p *Part) Row(i int, r *Row) {
	c := cursor{rest: p.data[p.from[i]:]}
	r.Label = int(c.number())
	r.Example = dataset.Example{Weight: float64(c.float32()), Fields: r.Example.Fields[:0], Values: r.Example.Values[:0], Index: r.Example.Index[:0]}
	r.Mix = r.Mix[:0]
	for range c.number() {
		label := int(c.number())
		r.Mix = append(r.Mix, Share{label, math.Float64frombits(binary.LittleEndian.Uint64(c.bytes(8)))})
	}
	n := int(c.number())
	if p.kind == dataset.Text {
		r.Example.Text = string(c.bytes(n))
		for range c.number() {
			r.Example.Fields = append(r.Example.Fields, string(c.bytes(int(c.number()))))
		}
		n = int(c.number())
	}
	for range n {
		if p.kind == dataset.Sparse {
			r.Example.Index = append(r.Example.Index, int32(c.number()))
		}
		r.Example.Values = append(r.Example.Values, float64(c.float32()))
	}
}

// cursor reads what Add wrote. After bytes that are none of Add's it is bad.
type cursor struct {
	rest []byte
	bad  bool
}

func (c *cursor) number() uint64 {
	v, n := binary.Uvarint(c.rest)
	if n <= 0 {
		c.bad, c.rest = true, nil
		return 0
	}
	c.rest = c.rest[n:]
	return v
}

// bytes returns the next n bytes; where there are fewer 8 zeros, enough for a number.
func (c *cursor) bytes(n int) []byte {
	if n < 0 || n > len(c.rest) {
		c.bad, c.rest = true, nil
		return make([]byte, 8)
	}
	b := c.rest[:n]
	c.rest = c.rest[n:]
	return b
}

func (c *cursor) float32() float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(c.bytes(4)))
}

// skip passes over a row: Row without the memory. A count that is damaged ends at the first
// byte that is missing.
func (c *cursor) skip(kind dataset.Kind) {
	c.number()
	c.bytes(4)
	for n := c.number(); n > 0 && !c.bad; n-- {
		c.number()
		c.bytes(8)
	}
	n := c.number()
	switch kind {
	case dataset.Text:
		c.bytes(int(n))
		for n := c.number(); n > 0 && !c.bad; n-- {
			c.bytes(int(c.number()))
		}
		c.bytes(4 * int(c.number()))
	case dataset.Numbers:
		c.bytes(4 * int(n))
	default:
		for ; n > 0 && !c.bad; n-- {
			c.number()
			c.bytes(4)
		}
	}
}

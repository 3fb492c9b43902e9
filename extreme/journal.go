package extreme

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"sync"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/internal/safetensors"
)

// A journal is a file of the nodes that a training has done: a magic word, a digest of all
// that the weights depend on, and a record for each node, in the order in which they were
// done:
//
//	node, number of weights before pruning, of features, of words, of biases   5 x uint64
//	features, start, rows, bias                                                as in the model file
//	CRC-32C of the above                                                       uint32
//
// All numbers are little-endian. A record that was being written when the program ended is
// left out, and so is what follows.
type journal struct {
	file *os.File
	busy sync.Mutex
}

// journalMagic begins a journal.
const journalMagic = "treeloss-tree-checkpoint 2\n"

// ErrCheckpoint says that a file is no checkpoint of this training.
var ErrCheckpoint = errors.New("not a checkpoint of this training")

// record is a trained node.
type record struct {
	node    int
	trained int // weights before pruning
	weights *weights
}

// newJournal makes the journal of a training, in place of an old one, or with resume goes
// on with that, if there is one, and returns its nodes.
func newJournal(path string, digest [sha256.Size]byte, resume bool) (*journal, []record, error) {
	if resume {
		done, whole, err := readJournal(path, digest)
		if err == nil {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return nil, nil, err
			}
			if err = f.Truncate(whole); err == nil {
				_, err = f.Seek(whole, io.SeekStart)
			}
			if err != nil {
				f.Close()
				return nil, nil, err
			}
			return &journal{file: f}, done, nil
		}
		if !errors.Is(err, os.ErrNotExist) {
			return nil, nil, err
		}
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, nil, err
	}
	if _, err := f.Write(headOf(digest)); err != nil {
		f.Close()
		return nil, nil, err
	}
	return &journal{file: f}, nil, nil
}

// headOf is what the journal of a training begins with.
func headOf(digest [sha256.Size]byte) []byte { return append([]byte(journalMagic), digest[:]...) }

// readJournal returns the nodes of a journal of a training, and its length up to the first
// record that is not whole. Another file is an ErrCheckpoint.
func readJournal(path string, digest [sha256.Size]byte) (done []record, whole int64, err error) {
	head := headOf(digest)
	b, err := os.ReadFile(path)
	switch {
	case err != nil:
		return nil, 0, err
	case !bytes.HasPrefix(b, head[:len(journalMagic)]):
		return nil, 0, fmt.Errorf("%s: %w; train without Options.Resume to start again", path, ErrCheckpoint)
	case !bytes.HasPrefix(b, head):
		return nil, 0, fmt.Errorf("%s belongs to other data or options: %w; give the same ones, or train without Options.Resume to start again", path, ErrCheckpoint)
	}
	rest := b[len(head):]
	for {
		r, size := readRecord(rest)
		if size == 0 {
			return done, int64(len(b) - len(rest)), nil
		}
		done, rest = append(done, r), rest[size:]
	}
}

// add appends a node.
func (j *journal) add(r record) error {
	w := r.weights
	b := make([]byte, 0, 64+4*(len(w.features)+len(w.start)+len(w.bias))+2*len(w.words()))
	for _, n := range []int{r.node, r.trained, len(w.features), len(w.words()), len(w.bias)} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	for _, part := range w.parts() {
		b = append(b, part.Data...)
	}
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
	j.busy.Lock()
	defer j.busy.Unlock()
	_, err := j.file.Write(b)
	return err
}

// readRecord reads the record that b begins with, and returns its size, 0 if it is not
// whole.
func readRecord(b []byte) (record, int) {
	const numbers = 5
	var n [numbers]int
	if len(b) < 8*numbers {
		return record{}, 0
	}
	for i := range n {
		v := binary.LittleEndian.Uint64(b[8*i:])
		if v > uint64(len(b)) && i != 1 { // more than there is room for
			return record{}, 0
		}
		n[i] = int(v)
	}
	features, words, biases := n[2], n[3], n[4]
	w := &weights{}
	at := 8 * numbers
	end := at + 4*(2*features+1) + 2*words + 4*biases
	if end+4 > len(b) || crc32.Checksum(b[:end], crc32.MakeTable(crc32.Castagnoli)) != binary.LittleEndian.Uint32(b[end:]) {
		return record{}, 0
	}
	next := func(t safetensors.DType, n int) *safetensors.Tensor {
		from := at
		at += n * t.Size()
		return &safetensors.Tensor{DType: t, Shape: []int{n}, Data: bytes.Clone(b[from:at])}
	}
	var errs [4]error
	w.features, errs[0] = next(safetensors.I32, features).Int32s()
	w.start, errs[1] = next(safetensors.I32, features+1).Int32s()
	w.rows, errs[2] = next(safetensors.U16, words).Uint16s()
	w.bias, errs[3] = next(safetensors.F32, biases).Float32s()
	w.rows = append(w.rows, make([]uint16, kernel.PackedSlack)...)
	if errors.Join(errs[:]...) != nil {
		return record{}, 0
	}
	return record{n[0], n[1], w}, end + 4
}

// digest is that of all that the weights of the nodes depend on, but for what the program
// itself is.
func (t *trainer) digest() (sum [sha256.Size]byte) {
	h := sha256.New()
	s := t.Settings
	s.Threads = 0
	fmt.Fprintf(h, "%+v %v %d\n", s, t.partition.Nodes, len(t.info.Labels))
	for _, label := range t.info.Labels {
		fmt.Fprintf(h, "%q\n", label)
	}
	if t.info.Taxonomy != nil {
		_ = t.info.Taxonomy.WriteJSON(h) // a hash takes everything
	}
	fmt.Fprintf(h, "%d rows\n", t.rows.len())
	t.rows.sum(h)
	if x := t.held.x; x != nil { // these choose what finds the leaves
		fmt.Fprintln(h, t.held.class, x.Start, x.Index, x.Value)
	}
	parts := []safetensors.Tensor{safetensors.New("", t.partition.Order)}
	if t.info.Vectors != nil {
		parts = append(parts, safetensors.New("", t.info.Vectors.Data))
	}
	for _, p := range parts {
		h.Write(p.Data)
	}
	h.Sum(sum[:0])
	return sum
}

// resume makes the journal of the training and takes over what an old one has.
func (t *trainer) resume(path string, resume bool) error {
	var done []record
	var err error
	if t.journal, done, err = newJournal(path, t.digest(), resume); err != nil {
		return err
	}
	return t.take(path, done)
}

// join takes over the nodes of the journals of all parts.
func (t *trainer) join(paths []string) error {
	digest := t.digest()
	for _, path := range paths {
		done, _, err := readJournal(path, digest)
		if err != nil {
			return err
		}
		if err := t.take(path, done); err != nil {
			return err
		}
	}
	if n := t.missing(); n > 0 {
		return fmt.Errorf("%d of %d nodes are in no part: %w", n, len(t.nodes), ErrCheckpoint)
	}
	return nil
}

// take takes over nodes of a journal. Inner nodes, which all parts train, have to be equal
// in all: they are not where processors round differently, and leaves then fit another
// router.
func (t *trainer) take(path string, done []record) error {
	if t.nodes == nil {
		t.nodes = make([]*weights, len(t.partition.Nodes))
	}
	for _, r := range done {
		if r.node >= len(t.nodes) || r.weights.check(t.rows.columns, outputs(t.partition, r.node)) != nil || len(r.weights.bias) != outputs(t.partition, r.node) {
			return fmt.Errorf("%s: node %d: %w; train without Options.Resume to start again", path, r.node, ErrCheckpoint)
		}
		if old := t.nodes[r.node]; old != nil {
			if old.checksum() != r.weights.checksum() {
				return fmt.Errorf("%s: node %d is not that of other parts, as of a processor that rounds in another way: %w; train all parts on machines of one kind", path, r.node, ErrCheckpoint)
			}
			continue
		}
		t.nodes[r.node] = r.weights.index(t.rows.columns)
		t.trained.Add(int64(r.trained))
		t.report(r.node)
	}
	return nil
}

package corpus

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"sync/atomic"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/internal/memory"
	"github.com/treeloss/treeloss/internal/spill"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/score"
	"github.com/treeloss/treeloss/softmax"
)

// Limits bound what reading takes, and say what it keeps.
type Limits struct {
	Memory  int64  // as Corpus.Memory
	Scratch string // folder for a file of the examples that memory does not hold; "": they are an error that wraps ErrMemory
	Seed    uint64 // of the sample that is kept of them
	Encoder string // sentence encoder of the texts, see encoder.OpenAny; "": none
	Origins bool   // keep Corpus.Origins: 56 bytes a row, its text and its id

	// Progress is called after some thousand examples that go to the file, with how
	// many did and about how many bytes of a text file they were; nil: not.
	Progress func(rows int, bytes int64)
}

// Stream is the examples of a Corpus that memory does not hold, in a file. The table of
// the corpus then has a random sample of them, which features are fitted on. The first
// Held rows of the table are no part of the stream: they tell how good a classifier is.
type Stream struct {
	Held int

	store *spill.Store
	mixed bool    // whether a row has several labels
	class []int32 // of each label, -1 for one that is no class; set by Corpus.Data
}

const (
	heldOfStream = 10_000 // rows, or half a part of a smaller stream
	streamBlock  = 8192   // rows of a block of examples, fewer where they are long
	blockValues  = 4 << 20
	streamGrain  = 256 // rows that a goroutine makes at a time

	// sampleShare of the budget may go to the sample, with the features of its rows.
	sampleShare   = 0.2
	maxSampleRows = 400_000

	// Streams of random numbers: which rows are held out, and the order of an epoch.
	streamHeld, streamOrder = 0x4e1d, 0x0bde
)

// Rows returns the number of examples in an epoch, those of no class included.
func (s *Stream) Rows() int { return s.store.Rows() - s.Held }

// Close removes the file.
func (s *Stream) Close() error { return s.store.Close() }

// Close removes what the corpus has on disk, if anything. Then a Stream is of no use.
func (c *Corpus) Close() error {
	if c.Stream == nil {
		return nil
	}
	return c.Stream.Close()
}

// readAll adds the examples of a reader. Where they turn out to be too many for the
// memory they go to a file instead, and a sample of them to the table: files are read
// anew for that, while a stream, which cannot be, goes to the file from the start.
func (c *Corpus) readAll(r *dataset.Reader, limits Limits) error {
	if limits.Scratch == "" {
		return c.AddAll(r)
	}
	if !r.Rewindable() {
		return c.spillAll(r, limits, true)
	}
	err := c.AddAll(r)
	if !errors.Is(err, ErrMemory) {
		return err
	}
	c.hash.Reset()
	c.forget()
	return c.spillAll(r, limits, false)
}

// forget takes all rows away.
func (c *Corpus) forget() {
	encoder, fields := c.Table.Encoder(), c.Table.Fields()
	c.Table, c.Labels, c.Weight, c.Mix = feature.NewTable(c.Table.Kind(), c.Table.Columns()), nil, nil, nil
	// As it did before, and no row is there.
	if fields.Several() {
		_ = c.Table.SetFields(fields)
	}
	if encoder != nil {
		_ = c.Table.Encode(encoder)
	}
	if c.Origins != nil {
		c.Origins = []Origin{}
	}
}

// spillAll writes all examples to a file. With keep they also become rows, as long as
// there is room; if that is so to the end the file goes, else the rows, for a sample.
func (c *Corpus) spillAll(r *dataset.Reader, limits Limits, keep bool) error {
	s := newSpiller(c, limits, !keep)
	var err error
	mixed := false
	for e, readErr := range r.All() {
		if err = readErr; err == nil {
			err = c.Table.Check(e)
		}
		if err == nil && keep {
			if err = c.keepIfRoom(e); errors.Is(err, ErrMemory) {
				keep, err = false, nil
				c.forget()
				s.tell.Store(true)
			}
		}
		if err != nil {
			break
		}
		c.even = c.even && e.Weight == 1
		mixed = mixed || len(e.Mix) > 1
		s.put(e)
	}
	if err = errors.Join(err, s.done()); err == nil && !keep {
		c.Stream = &Stream{store: s.store, mixed: mixed}
		err = c.sample()
	}
	if err != nil || keep {
		c.Stream = nil
		err = errors.Join(err, s.store.Close())
	}
	return err
}

// spiller writes examples to a store and adds them to the fingerprint on a goroutine of
// its own, so that they are read meanwhile.
type spiller struct {
	store   *spill.Store
	tell    atomic.Bool // whether to call progress
	next    []dataset.Example
	batches chan []dataset.Example
	failed  chan error
}

// spillBatch is the number of examples that are handed over at a time.
const spillBatch = 1024

func newSpiller(c *Corpus, limits Limits, tell bool) *spiller {
	s := &spiller{store: spill.New(limits.Scratch, c.Table.Kind(), limits.Seed), batches: make(chan []dataset.Example, 2), failed: make(chan error, 1)}
	s.tell.Store(tell)
	go func() {
		var err error
		var bytes int64
		for batch := range s.batches {
			for _, e := range batch {
				c.digest(e)
				if err == nil {
					err = s.store.Add(e)
				}
				bytes += int64(len(e.Text) + len(e.Label) + 2)
			}
			if limits.Progress != nil && s.tell.Load() {
				limits.Progress(s.store.Rows(), bytes)
			}
		}
		s.failed <- err
	}()
	return s
}

func (s *spiller) put(e dataset.Example) {
	if s.next = append(s.next, e.Clone()); len(s.next) == spillBatch {
		s.batches <- s.next
		s.next = nil
	}
}

// done waits until all is written.
func (s *spiller) done() error {
	s.batches <- s.next
	close(s.batches)
	return <-s.failed
}

// sample fills the empty table with random rows of the stream, the held-out ones first,
// as many as have room.
func (c *Corpus) sample() error {
	s := c.Stream
	room := sampleShare * float64(memory.Budget(c.Memory))
	labels, _ := s.store.Labels()
	s.Held = min(heldOfStream, s.store.PartRows(0)/2)
	var row spill.Row
	for n := range spill.Parts {
		part, order, err := s.part(n)
		if err != nil {
			return err
		}
		for _, i := range order {
			if rows := c.Table.Rows(); rows > s.Held && rows%spillBatch == 0 {
				if values, grams := c.Table.Bytes(); rows >= maxSampleRows || float64(2*values+grams) > room {
					return nil
				}
			}
			part.Row(i, &row)
			e := row.Example
			e.Label = labels[row.Label]
			for _, share := range row.Mix {
				e.Mix = append(e.Mix, dataset.Share{Label: labels[share.Label], Share: share.Share})
			}
			if err := c.keep(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// part reads a part of the stream. Of the first the order is random, and the held-out
// rows begin it; of others it is as they were read.
func (s *Stream) part(n int) (*spill.Part, []int, error) {
	p, err := s.store.Part(n)
	if err != nil {
		return nil, nil, err
	}
	if n == 0 {
		return p, rand.New(rand.NewPCG(streamHeld, uint64(p.Rows()))).Perm(p.Rows()), nil
	}
	return p, dataset.Range(0, p.Rows()), nil
}

// classes sets the class of each label; number has those that are classes.
func (s *Stream) classes(number map[string]int32) {
	labels, _ := s.store.Labels()
	s.class = make([]int32, len(labels))
	for i, label := range labels {
		s.class[i] = -1
		if c, ok := number[label]; ok {
			s.class[i] = c
		}
	}
}

// ClassRows returns the number of examples of each of k classes in the stream and, if
// held out, in the table.
func (s *Stream) ClassRows(k int) []float64 {
	rows := make([]float64, k)
	_, counts := s.store.Labels()
	for label, n := range counts {
		if c := s.class[label]; c >= 0 {
			rows[c] += float64(n)
		}
	}
	return rows
}

// classTotals returns what the examples that ClassRows counts weigh, with soft labels by
// their shares.
func (s *Stream) classTotals(k int) []float64 {
	totals := make([]float64, k)
	for label, weight := range s.store.Weights() {
		if c := s.class[label]; c >= 0 {
			totals[c] += weight
		}
	}
	return totals
}

// Epochs returns the examples of the stream, as features of a set, in blocks for an
// epoch each. The order of the parts, of which a block is one or a piece of one, and of
// the rows in a part depends on the seed and the epoch. Blocks are made by so many
// goroutines while the one before is trained on. f is what features were fitted on.
func (d *Data) Epochs(f *Fitted, seed uint64, threads int) softmax.Stream {
	s, n := d.Stream, f.X.Rows()
	var squares float64
	for i := range n {
		squares += f.X.SquaredNorm(i)
	}
	values := d.Table.Values(dataset.Range(0, d.Table.Rows())) / d.Table.Rows()
	block := max(min(streamBlock, blockValues/max(values, 1)), 64)
	_, dense := f.X.(*matrix.Dense)
	out := softmax.Stream{Features: f.X.Cols(), Dense: dense, Mixed: s.mixed, SquaredNorm: squares / float64(n)}
	for _, rows := range s.ClassRows(len(d.Classes.Labels)) {
		out.Rows += int(rows)
	}
	out.Rows -= s.Held
	for i := range spill.Parts {
		rows := s.store.PartRows(i)
		if i == 0 {
			rows -= s.Held
		}
		out.Blocks += (rows + block - 1) / block
	}
	m := &blockMaker{d: d, set: f.Features, seed: seed, threads: kernel.Threads(threads), rows: block, mixed: out.Mixed}
	m.idle = make(chan *feature.Rower, m.threads)
	for range m.threads {
		m.idle <- feature.NewRower(f.Features)
	}
	out.Epoch = m.epoch
	return out
}

// blockMaker makes the blocks of epochs.
type blockMaker struct {
	d       *Data
	set     *feature.Set
	seed    uint64
	threads int
	rows    int // of a block
	mixed   bool
	idle    chan *feature.Rower // one for each goroutine
	pieces  []piece             // of a block, their memory used again
}

// piece is some rows of a block.
type piece struct {
	sparse matrix.Sparse
	dense  matrix.Dense
	class  []int32
	weight []float32
	mix    matrix.Sparse
	row    spill.Row
	shares score.Mix
	err    error
}

// made is a block, or why there is none.
type made struct {
	softmax.Examples
	err error
}

func (m *blockMaker) epoch(ctx context.Context, epoch int) iter.Seq2[softmax.Examples, error] {
	return func(yield func(softmax.Examples, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		blocks := make(chan made, 1)
		go func() {
			defer close(blocks)
			m.produce(ctx, epoch, blocks)
		}()
		for b := range blocks {
			if !yield(b.Examples, b.err) {
				break
			}
		}
		cancel()
		for range blocks { // the goroutine uses makers that the next epoch needs
		}
	}
}

// produce sends the blocks of an epoch.
func (m *blockMaker) produce(ctx context.Context, epoch int, blocks chan<- made) {
	random := rand.New(rand.NewPCG(m.seed, streamOrder<<32|uint64(epoch)))
	for _, n := range random.Perm(spill.Parts) {
		part, order, err := m.d.Stream.part(n)
		if n == 0 && err == nil {
			order = order[m.d.Stream.Held:]
		}
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for from := 0; err != nil || from < len(order); from += m.rows {
			b := made{err: err}
			if err == nil {
				b.Examples, b.err = m.block(part, order[from:min(from+m.rows, len(order))])
			}
			select {
			case blocks <- b:
			case <-ctx.Done():
				return
			}
			if b.err != nil {
				return
			}
		}
	}
}

// block makes rows of a part to examples, without those of no class.
func (m *blockMaker) block(part *spill.Part, rows []int) (ex softmax.Examples, err error) {
	pieces := (len(rows) + streamGrain - 1) / streamGrain
	for len(m.pieces) < pieces {
		m.pieces = append(m.pieces, piece{})
	}
	kernel.Parallel(m.threads, len(rows), streamGrain, func(n, lo, hi int) {
		rower := <-m.idle
		m.pieces[n].err = m.make(&m.pieces[n], rower, part, rows[lo:hi])
		m.idle <- rower
	})
	sparse, dense := &matrix.Sparse{Columns: m.set.Dim(), Start: []int{0}}, &matrix.Dense{Columns: m.set.Dim()}
	mix := &matrix.Sparse{Columns: len(m.d.Classes.Labels), Start: []int{0}}
	values := 0
	for _, p := range m.pieces[:pieces] {
		values += len(p.sparse.Value)
	}
	sparse.Index, sparse.Value = make([]int32, 0, values), make([]float32, 0, values)
	for _, p := range m.pieces[:pieces] {
		if p.err != nil {
			return ex, p.err
		}
		appendRows(sparse, &p.sparse)
		appendRows(mix, &p.mix)
		dense.Data = append(dense.Data, p.dense.Data...)
		ex.Class, ex.Weight = append(ex.Class, p.class...), append(ex.Weight, p.weight...)
	}
	ex.X = sparse
	if m.set.Kind() == dataset.Numbers {
		ex.X = dense
	}
	if m.mixed {
		ex.Mix = mix
	}
	return ex, nil
}

// appendRows appends the rows of m to dst.
func appendRows(dst, m *matrix.Sparse) {
	at := len(dst.Value)
	for _, s := range m.Start[min(1, len(m.Start)):] {
		dst.Start = append(dst.Start, at+s)
	}
	dst.Index, dst.Value = append(dst.Index, m.Index...), append(dst.Value, m.Value...)
}

// clear empties a piece and keeps its memory.
func (p *piece) clear() {
	for _, m := range []*matrix.Sparse{&p.sparse, &p.mix} {
		m.Start, m.Index, m.Value = append(m.Start[:0], 0), m.Index[:0], m.Value[:0]
	}
	p.dense.Data, p.class, p.weight = p.dense.Data[:0], p.class[:0], p.weight[:0]
}

// make fills a piece with rows of a part.
func (m *blockMaker) make(p *piece, rower *feature.Rower, part *spill.Part, rows []int) error {
	p.clear()
	for _, i := range rows {
		part.Row(i, &p.row)
		class := m.d.Stream.class[p.row.Label]
		p.shares = score.Mix{Class: p.shares.Class[:0], Share: p.shares.Share[:0]}
		mix := p.row.Mix
		if len(mix) == 1 { // of its class alone
			mix = nil
		}
		for _, s := range mix { // by label, so by class
			c := m.d.Stream.class[s.Label]
			class = min(class, c) // -1 if one is no class
			if s.Share > 0 {
				p.shares.Class, p.shares.Share = append(p.shares.Class, c), append(p.shares.Share, float32(s.Share))
			}
		}
		if class < 0 {
			continue
		}
		class = m.d.Stream.class[p.row.Label]
		index, value, err := rower.Row(p.row.Example)
		if err != nil {
			return err
		}
		if index != nil {
			p.sparse.AppendRow(index, value)
		} else {
			p.dense.Data = append(p.dense.Data, value...)
		}
		weight := float32(p.row.Example.Weight)
		if m.d.ClassWeight != nil {
			weight *= m.d.classWeightOf(class, p.shares)
		}
		shares := m.d.weighed(p.shares)
		p.mix.AppendRow(shares.Class, shares.Share)
		p.class, p.weight = append(p.class, class), append(p.weight, weight)
	}
	return nil
}

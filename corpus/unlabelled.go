package corpus

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"math"
	"math/rand/v2"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/memory"
	"github.com/treeloss/treeloss/internal/option"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/score"
	"github.com/treeloss/treeloss/softmax"
)

// Unlabelled is examples without labels that training may learn from.
type Unlabelled struct {
	Rows        []int  // of the table, in random order: the first n are a random sample
	Read        int    // examples that the files hold
	Repeats     int    // of these, the ones that repeat another or are empty, which are left out
	Fingerprint string // SHA-256 of the examples read, in hexadecimal
}

const (
	// maxUnlabelled is the most unlabelled examples that are kept; of more a random
	// sample is. From a few ten thousand on more were not seen to help.
	maxUnlabelled = 200_000
	// unlabelledShare of the budget may go to the sample while it is drawn.
	unlabelledShare = 0.1
	// maxSeen bounds the examples among which repeats are found: 20 bytes each.
	maxSeen = 4 << 20

	// streamUnlabelled is the stream of random numbers of the sample.
	streamUnlabelled = 0x0c1a
)

// AppendUnlabelled reads files of examples without labels, of the kind of the others; the
// column of the text, or the numeric ones, are those of the first files, and a label is
// not looked at. It returns how the files were understood, in words. Call it once, after
// all labelled examples and before Data.
//
// Repeats are left out. More than 200,000 examples, or than a tenth of the memory budget
// holds, are a random sample by the seed. A corpus whose examples are a Stream takes none:
// that is an error that wraps ErrMemory.
func (c *Corpus) AppendUnlabelled(in classify.Input, seed uint64) (string, error) {
	if c.read.Multilabel {
		return "", option.Refuse("%s has no effect on a model of several labels an example; leave it out", "Unlabelled")
	}
	in.Options = c.read
	in.Options.Labels, in.Options.Label, in.Options.Weight, in.Options.ID = "", "", "", ""
	in.Options.Text, in.Options.Columns, in.Options.Categories = "", nil, nil
	in.Options.Unlabelled = true
	like := classify.Like{Kind: c.Table.Kind(), Fields: c.Table.Fields(), Training: map[string]string{"text": c.read.Text}}
	if like.Kind == dataset.Numbers {
		like.Columns = c.Table.Columns()
	}
	r, err := classify.OpenLike(like, in)
	if err != nil {
		return "", err
	}
	defer r.Close()
	if err := c.AddUnlabelled(r.All(), seed); err != nil {
		return "", err
	}
	return r.Describe(), nil
}

// AddUnlabelled is AppendUnlabelled for examples of any source.
func (c *Corpus) AddUnlabelled(examples iter.Seq2[dataset.Example, error], seed uint64) error {
	if c.Stream != nil {
		return fmt.Errorf("unlabelled examples need the labelled ones in memory, which are too many for the budget of %s: leave them out, or raise it with Options.Memory: %w",
			memory.Text(memory.Budget(c.Memory)), ErrMemory)
	}
	s := sampler{room: unlabelledShare * float64(memory.Budget(c.Memory)), most: maxUnlabelled, seen: make(map[uint64]struct{}),
		random: rand.New(rand.NewPCG(seed, streamUnlabelled))}
	sum := sha256.New()
	var b [8]byte
	for e, err := range examples {
		if err != nil {
			return err
		}
		if err := c.Table.Check(e); err != nil {
			return err
		}
		c.unlabelled.Read++
		key := keyOf(e)
		binary.LittleEndian.PutUint64(b[:], key)
		sum.Write(b[:])
		if !s.add(e, key) {
			c.unlabelled.Repeats++
		}
	}
	c.unlabelled.Fingerprint = hex.EncodeToString(sum.Sum(nil))
	s.random.Shuffle(len(s.kept), func(i, j int) { s.kept[i], s.kept[j] = s.kept[j], s.kept[i] })
	for _, e := range s.kept {
		e.Label, e.Mix, e.Weight = "", nil, 1
		err := c.keepIfRoom(e)
		if errors.Is(err, ErrMemory) {
			break // those so far are a random sample, too
		}
		if err != nil {
			return err
		}
		c.unlabelled.Rows = append(c.unlabelled.Rows, c.Table.Rows()-1)
	}
	return nil
}

// sampler keeps a random sample of different examples (Vitter's algorithm R), as many as
// are allowed and have room.
type sampler struct {
	kept   []dataset.Example
	bytes  float64 // of kept
	room   float64
	most   int
	differ int // different examples so far
	seen   map[uint64]struct{}
	random *rand.Rand
}

// add offers an example, and tells whether it is none that was seen before, nor empty.
func (s *sampler) add(e dataset.Example, key uint64) bool {
	if e.Text == "" && len(e.Values) == 0 && len(e.Fields) == 0 {
		return false
	}
	if _, old := s.seen[key]; old {
		return false
	}
	if len(s.seen) < maxSeen {
		s.seen[key] = struct{}{}
	}
	s.differ++
	switch at := s.random.IntN(s.differ); {
	case len(s.kept) < s.most:
		s.kept = append(s.kept, e.Clone())
		s.bytes += exampleBytes(e)
	case at < s.most:
		s.bytes += exampleBytes(e) - exampleBytes(s.kept[at])
		s.kept[at] = e.Clone()
	}
	for s.bytes > s.room && len(s.kept) > 1 { // fewer of them are a random sample again
		at := s.random.IntN(len(s.kept))
		s.bytes -= exampleBytes(s.kept[at])
		s.kept[at] = s.kept[len(s.kept)-1]
		s.kept = s.kept[:len(s.kept)-1]
		s.most = len(s.kept)
	}
	return true
}

// exampleBytes is about what an example takes, with its place.
func exampleBytes(e dataset.Example) float64 {
	bytes := 200 + len(e.Text) + 8*len(e.Values) + 4*len(e.Index)
	for _, s := range e.Fields {
		bytes += 16 + len(s)
	}
	return float64(bytes)
}

// keyOf tells examples apart by what they say, their label aside.
func keyOf(e dataset.Example) uint64 {
	h := fnv.New64a()
	var b [8]byte
	for _, s := range append([]string{e.Text}, e.Fields...) { // each with its length before it
		binary.LittleEndian.PutUint64(b[:], uint64(len(s)))
		h.Write(b[:])
		h.Write([]byte(s))
	}
	for n, v := range e.Values {
		binary.LittleEndian.PutUint64(b[:], math.Float64bits(v))
		h.Write(b[:])
		if e.Index != nil {
			binary.LittleEndian.PutUint64(b[:], uint64(e.Index[n]))
			h.Write(b[:])
		}
	}
	return h.Sum64()
}

// Apart returns the unlabelled rows that are not the same as one of some rows, and how many
// are. Texts are the same if their n-grams are.
func (d *Data) Apart(rows []int) (apart []int, same int) {
	labelled := make(map[uint64]bool, len(rows))
	for _, row := range rows {
		labelled[d.Table.Key(row)] = true
	}
	for _, row := range d.Unlabelled.Rows {
		if !labelled[d.Table.Key(row)] {
			apart = append(apart, row)
		}
	}
	return apart, len(d.Unlabelled.Rows) - len(apart)
}

// Soften returns the examples of f with soft labels (n x k) and weights in place of the
// labels of n rows, which begin at first. As in all of training, a share of a class counts by its
// ClassWeight.
func (d *Data) Soften(f *Fitted, first int, labels *matrix.Sparse, weight []float32) softmax.Examples {
	rows, n := f.X.Rows(), labels.Rows()
	ex := softmax.Examples{X: f.X, Class: make([]int32, rows), Weight: make([]float32, rows), Mix: &matrix.Sparse{Columns: len(d.Classes.Labels)}}
	copy(ex.Class, f.Class)
	for i := range rows {
		ex.Weight[i] = 1
		if f.Weight != nil {
			ex.Weight[i] = f.Weight[i]
		}
		var mix score.Mix
		if i >= first && i < first+n {
			mix.Class, mix.Share = labels.Row(i - first)
			ex.Weight[i] = weight[i-first]
			if d.ClassWeight != nil {
				ex.Weight[i] *= d.classWeightOf(0, mix)
				mix = d.weighed(mix)
			}
			ex.Class[i] = mix.Class[softmax.Top(mix.Share)]
		} else if f.Mix != nil {
			mix.Class, mix.Share = f.Mix.Row(i)
		}
		ex.Mix.AppendRow(mix.Class, mix.Share)
	}
	return ex
}

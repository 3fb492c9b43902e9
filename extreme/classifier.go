package extreme

import (
	"cmp"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/labeltree"
)

// classifier is a model as a classify.Classifier.
type classifier struct {
	model *Model
	beam  int
}

// Classifier makes a classifier of a model that follows so many nodes of a level, 0 for
// Report.Beam. Each example is classified by itself, on all goroutines of Input.Threads.
func Classifier(m *Model, beam int) classify.Classifier { return classifier{m, beam} }

// About has the given taxonomy as the tree; that of the softmaxes is of no meaning.
func (c classifier) About() classify.About {
	m := c.model
	about := classify.About{Kind: classify.LinearModel, Like: c.like(), Labels: m.Labels, Tree: m.Tree, Vectors: m.Vectors, Temperature: 1, Balanced: m.Balance != nil}
	if t := m.Training.Calibration; t != nil {
		about.Temperature, about.Calibrated, about.Answers = t.Temperature, true, t.Answers
	}
	return about
}

// Totals are those of the model.
func (c classifier) Totals() []float32 { return c.model.ClassTotals }

// Balanced has a model of its own, which shares the weights.
func (c classifier) Balanced(b decide.Balance) classify.Classifier {
	m := *c.model
	m.Balance = b
	return classifier{&m, c.beam}
}

// LabelTree returns the tree that predictions walk down, for people to look at.
func (c classifier) LabelTree() (*labeltree.Tree, error) { return c.model.LabelTree() }

// Close does nothing: the memory of a model goes when nobody holds it.
func (c classifier) Close() error { return nil }

// Open opens the examples with a Predictor for each goroutine.
func (c classifier) Open(in classify.Input) (classify.Examples, error) {
	reader, err := classify.OpenLike(c.like(), in)
	if err != nil {
		return nil, err
	}
	r := classify.PredictRecords(reader, in, c.predictor)
	r.Block = c.blockSize()
	return r, nil
}

// blockLogs is about how many candidates a block of records may have, of four bytes each.
const blockLogs = 4 << 20

// blockSize returns how many records are read at a time: many, so that several of them come
// to each leaf of their beams.
func (c classifier) blockSize() int {
	p := c.model.Partition
	leaves := p.Leaves()
	each := len(p.Order) / leaves * min(cmp.Or(c.beam, c.model.Report.Beam, DefaultBeam), leaves)
	return min(max(blockLogs/max(each, 1), classify.BlockSize), 8*classify.BlockSize)
}

// Runners returns n of them, each with a Predictor.
func (c classifier) Runners(n int) ([]classify.Runner, error) {
	return classify.PredictBlocks(n, c.predictor), nil
}

func (c classifier) predictor() classify.Predictor { return c.model.NewPredictor(c.beam) }

func (c classifier) like() classify.Like {
	return classify.Like{Kind: c.model.Features.Kind(), Fields: c.model.Features.Fields(), Training: c.model.Training.Options}
}

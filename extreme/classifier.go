package extreme

import (
	"context"
	"runtime"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/dataset"
)

// classifier is a model as a classify.Classifier.
type classifier struct {
	model *Model
	beam  int
}

// Classifier makes a classifier of a model that follows so many nodes of a level, 0 for
// DefaultBeam. Each example is classified by itself, on all goroutines of Input.Threads.
func Classifier(m *Model, beam int) classify.Classifier { return classifier{m, beam} }

// About has the given taxonomy as the tree; that of the softmaxes is of no meaning.
func (c classifier) About() classify.About {
	m := c.model
	about := classify.About{Kind: classify.LinearModel, Labels: m.Labels, Tree: m.Tree, Vectors: m.Vectors, Temperature: 1}
	if t := m.Training.Calibration; t != nil {
		about.Temperature, about.Calibrated = t.Temperature, true
	}
	return about
}

// Close does nothing: the memory of a model goes when nobody holds it.
func (c classifier) Close() error { return nil }

// Open opens the examples with a Predictor for each goroutine.
func (c classifier) Open(in classify.Input) (classify.Examples, error) {
	reader, err := classify.OpenLike(classify.Like{Kind: c.model.Features.Kind(), Training: c.model.Training.Options}, in)
	if err != nil {
		return nil, err
	}
	threads := in.Threads
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	predictors := make([]*Predictor, threads)
	for i := range predictors {
		predictors[i] = c.model.NewPredictor(c.beam)
	}
	return classify.Each(reader, in, threads, func(_ context.Context, worker int, e dataset.Example) ([]float32, error) {
		return predictors[worker].Probabilities(e)
	}), nil
}

package softmax

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"

	"github.com/treeloss/treeloss/matrix"
)

// streamOf cuts examples into a stream of blocks of n rows.
func streamOf(ex Examples, n int) Stream {
	rows := ex.X.Rows()
	_, dense := ex.X.(*matrix.Dense)
	return Stream{Features: ex.X.Cols(), Dense: dense, Rows: rows, Weight: ex.totalWeight(), SquaredNorm: ex.meanSquaredNorm(),
		Blocks: (rows + n - 1) / n, Fingerprint: "test",
		Epoch: func(context.Context, int) iter.Seq2[Examples, error] {
			return func(yield func(Examples, error) bool) {
				for from := 0; from < rows; from += n {
					var at []int
					for i := from; i < min(from+n, rows); i++ {
						at = append(at, i)
					}
					block := Examples{X: ex.X.Select(at), Class: ex.Class[from : from+len(at)]}
					if ex.Weight != nil {
						block.Weight = ex.Weight[from : from+len(at)]
					}
					if !yield(block, nil) {
						return
					}
				}
			}
		}}
}

// Taken in order, the blocks of a stream give the weights that all examples give at
// once: every variant of SGD, AdamW, dense and sparse rows.
func TestStreamIsTrainingOnAll(t *testing.T) {
	dense := sample(31, 96, 12, 5)
	dense.Weight = make([]float32, 96)
	for i := range dense.Weight {
		dense.Weight[i] = float32(1 + i%3)
	}
	variants := sgdVariants()
	for kind, ex := range map[string]Examples{"dense": dense, "sparse": sparsely(dense)} {
		for name, sgd := range variants {
			sgd.InOrder, sgd.Batch, sgd.Schedule = true, 8, nil
			want, _, err := Fit(context.Background(), ex, 5, Options{Trainer: sgd})
			if err != nil {
				t.Fatal(err)
			}
			got, record, err := FitStream(context.Background(), streamOf(ex, 32), 5, Options{Trainer: sgd})
			if err != nil {
				t.Fatal(err)
			}
			if diff := largestDifference(want.Weight, got.Weight); diff > 1e-5 {
				t.Errorf("%s, %s: weights differ by %g", kind, name, diff)
			}
			if diff := largestDifference(want.Bias, got.Bias); diff > 1e-5 || record.Steps != positive(sgd.Epochs, 20) {
				t.Errorf("%s, %s: biases differ by %g after %d epochs", kind, name, diff, record.Steps)
			}
		}
		adam := AdamW{Epochs: 2}
		one, _, err := Fit(context.Background(), ex, 5, Options{Trainer: adam, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		whole, _, err := FitStream(context.Background(), streamOf(ex, 96), 5, Options{Trainer: adam, Seed: 3})
		if err != nil || !slices.Equal(one.Weight, whole.Weight) {
			t.Errorf("%s: AdamW on a stream of one block differs from AdamW on its rows: %v", kind, err)
		}
	}
}

// The rate of a cosine falls within an epoch, and progress tells of every block.
func TestStreamCosineAndProgress(t *testing.T) {
	ex := sparsely(sample(32, 60, 8, 3))
	var fractions []float64
	o := Options{Trainer: SGD{Epochs: 1, Schedule: Cosine{}}, Progress: func(p Progress) { fractions = append(fractions, p.Fraction) }}
	cosine, _, err := FitStream(context.Background(), streamOf(ex, 20), 3, o)
	if err != nil {
		t.Fatal(err)
	}
	constant, _, err := FitStream(context.Background(), streamOf(ex, 20), 3, Options{Trainer: SGD{Epochs: 1}})
	if err != nil || slices.Equal(cosine.Weight, constant.Weight) {
		t.Errorf("a cosine over one epoch changes nothing: %v", err)
	}
	if len(fractions) != 3 || !slices.IsSorted(fractions) || fractions[0] < 0.3 || fractions[2] != 1 {
		t.Errorf("progress %v, want a third after each block of one epoch", fractions)
	}
	if got := rateFactor(Cosine{}, 1, 2, 2, 4); got != (Cosine{}).Factor(6, 8) {
		t.Errorf("factor %v in the third of four blocks of the second of two epochs, want %v", got, Cosine{}.Factor(6, 8))
	}
	if got := rateFactor(Step{Every: 1, Gamma: 0.5}, 1, 2, 2, 4); got != 0.5 {
		t.Errorf("factor %v of a step, want 0.5: it counts epochs", got)
	}
}

// A run that was stopped after an epoch goes on to the same weights.
func TestStreamResumes(t *testing.T) {
	ex := sparsely(sample(33, 50, 8, 3))
	var kept *Checkpoint
	sgd := SGD{Epochs: 4, Monitor: Monitor{Checkpoint: func(c *Checkpoint) error {
		if c.Epoch == 2 {
			copied := *c
			copied.Arrays = map[string][]float32{}
			for name, a := range c.Arrays {
				copied.Arrays[name] = slices.Clone(a)
			}
			kept = &copied
		}
		return nil
	}}}
	want, _, err := FitStream(context.Background(), streamOf(ex, 16), 3, Options{Trainer: sgd, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	sgd.Monitor = Monitor{Resume: kept}
	got, _, err := FitStream(context.Background(), streamOf(ex, 16), 3, Options{Trainer: sgd, Seed: 7})
	if err != nil || !slices.Equal(want.Weight, got.Weight) {
		t.Errorf("resumed: other weights than without the stop: %v", err)
	}
	other := streamOf(ex, 16)
	other.Fingerprint = "other data"
	if _, _, err := FitStream(context.Background(), other, 3, Options{Trainer: sgd, Seed: 7}); !errors.Is(err, ErrOptions) {
		t.Errorf("resumed on other data: %v, want a refusal", err)
	}
}

func TestStreamRefuses(t *testing.T) {
	ex := sparsely(sample(34, 20, 8, 3))
	broken := errors.New("the disk is gone")
	failing, narrow, wrong := streamOf(ex, 10), streamOf(ex, 10), streamOf(ex, 10)
	failing.Epoch = func(context.Context, int) iter.Seq2[Examples, error] {
		return func(yield func(Examples, error) bool) { yield(Examples{}, broken) }
	}
	narrow.Features = 7
	bad := Examples{X: ex.X, Class: slices.Repeat([]int32{3}, 20)}
	wrong.Epoch = streamOf(bad, 10).Epoch
	for _, tc := range []struct {
		name   string
		s      Stream
		o      Options
		target error
	}{
		{"no rows", Stream{Features: 3}, Options{Trainer: SGD{}}, ErrOptions},
		{"to convergence", streamOf(ex, 10), Options{}, ErrOptions},
		{"reading fails", failing, Options{Trainer: SGD{}}, broken},
		{"blocks of another width", narrow, Options{Trainer: SGD{}}, nil},
		{"a class that is none", wrong, Options{Trainer: AdamW{}}, nil},
		{"a prior below 0", streamOf(ex, 10), Options{Trainer: SGD{}, Prior: -1}, ErrOptions},
	} {
		_, _, err := FitStream(context.Background(), tc.s, 3, tc.o)
		if err == nil || tc.target != nil && !errors.Is(err, tc.target) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

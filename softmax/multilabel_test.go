package softmax

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/record"
)

// labelled gives the examples random sets of k labels in place of their class: none, some,
// and all of them.
func labelled(seed uint64, ex Examples, k int) Examples {
	rng := rand.New(rand.NewPCG(seed, 0))
	ex.Labels = &matrix.Sparse{Columns: k, Start: []int{0}}
	for i, class := range ex.Class {
		var index []int32
		for c := range int32(k) {
			if i%7 != 0 && (c == class || rng.IntN(4) == 0) || i%11 == 0 {
				index = append(index, c)
			}
		}
		value := make([]float32, len(index))
		for n := range value {
			value[n] = 1
		}
		ex.Labels.AppendRow(index, value)
	}
	ex.Class = nil
	return ex
}

// The ascent ends at the optimum of each class against the others, whatever the labels.
func TestMultilabelMinimum(t *testing.T) {
	for _, tc := range []struct {
		name string
		ex   Examples
		k    int
	}{
		{"dense", labelled(1, sample(1, 80, 6, 3), 3), 3},
		{"sparse", labelled(2, texts(2, 150, 60, 35), 35), 35},
		{"weights", labelled(3, weighted(texts(3, 120, 40, 5)), 5), 5},
	} {
		t.Run(tc.name, func(t *testing.T) {
			trainer := SquaredHinge{Tolerance: 1e-9, MaxPasses: 5000}
			err := FitPath(context.Background(), tc.ex, tc.k, Options{Trainer: trainer, Seed: 1}, []float64{0.3, 10}, func(prior float64, l *Layer, r Record) error {
				objective, gradient := hingeObjective(tc.ex, l, prior)
				if !r.Converged || math.Abs(objective-r.Objective) > 1e-4*objective || gradient > 2e-3*objective {
					t.Errorf("prior %v: objective %v with a gradient of length %v, of the dual %v, converged %v", prior, objective, gradient, r.Objective, r.Converged)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// One label an example is one class an example, to the last bit, at any number of threads, and
// from duals as well.
func TestMultilabelOfOneLabel(t *testing.T) {
	ex := texts(5, 200, 90, 70)
	sets := Examples{X: ex.X, Labels: &matrix.Sparse{Columns: 70, Start: []int{0}}}
	for _, c := range ex.Class {
		sets.Labels.AppendRow([]int32{c}, []float32{1})
	}
	fit := func(ex Examples, threads int, duals *Duals) *Layer {
		l, _, err := Fit(context.Background(), ex, 70, Options{Trainer: SquaredHinge{}, Threads: threads, Seed: 3, Duals: duals})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	first, second := &Duals{}, &Duals{}
	for n := range 2 { // from 0, then from the duals of that
		want := fit(ex, 1, first)
		for _, threads := range []int{1, 3} {
			at := second.Clone()
			got := fit(sets, threads, at)
			if !slices.Equal(got.Weight, want.Weight) || !slices.Equal(got.Bias, want.Bias) {
				t.Errorf("fit %d, %d threads: other weights than with classes", n, threads)
			}
			if threads == 3 {
				second = at
			}
		}
	}
}

func TestMultilabelRefuses(t *testing.T) {
	good := labelled(1, texts(6, 40, 20, 6), 6)
	both, short, wide, twos := good, good, good, good
	both.Class = make([]int32, 40)
	short.Labels = &matrix.Sparse{Columns: 6, Start: []int{0}}
	wide.Labels = &matrix.Sparse{Columns: 7, Start: make([]int, 41)}
	twos.Labels = &matrix.Sparse{Columns: 6, Start: good.Labels.Start, Index: good.Labels.Index, Value: slices.Clone(good.Labels.Value)}
	twos.Labels.Value[3] = 2
	for name, ex := range map[string]Examples{"a class, too": both, "fewer rows": short, "another k": wide, "a value of 2": twos} {
		if _, _, err := Fit(context.Background(), ex, 6, Options{Trainer: SquaredHinge{}}); err == nil {
			t.Errorf("%s: trained", name)
		}
	}
	for _, trainer := range []Trainer{Converge{}, SGD{}, AdamW{}} {
		if _, _, err := Fit(context.Background(), good, 6, Options{Trainer: trainer}); !errors.Is(err, ErrOptions) {
			t.Errorf("%T: error %v, want ErrOptions", trainer, err)
		}
	}
	l, _, err := Fit(context.Background(), good, 6, Options{Trainer: SquaredHinge{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Outcomes(good, 1); !errors.Is(err, ErrOptions) {
		t.Errorf("outcomes: %v", err)
	}
	if _, err := l.Accuracy(good, 1); !errors.Is(err, ErrOptions) {
		t.Errorf("accuracy: %v", err)
	}
}

// sigmoids is a model of several labels an example.
func sigmoids(t *testing.T) *Model {
	t.Helper()
	m, _ := modelOf(t, dataset.Text, Converge{})
	m.Layer.Sigmoid, m.Training.Calibration, m.Tree = true, nil, nil
	k := len(m.Labels)
	m.Multilabel = &Multilabel{Threshold: make([]float32, k), Count: make([]int32, k), Examples: m.Training.Examples}
	for c := range k {
		m.Multilabel.Threshold[c], m.Multilabel.Count[c] = 0.25+float32(c)/8, int32(c)
	}
	return m
}

// A model of sigmoids comes back from its file, also packed in fewer bytes, and its
// probabilities are those of their definition.
func TestMultilabelFile(t *testing.T) {
	m := sigmoids(t)
	small, err := m.Compress(Compression{Quantize: Float16})
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]*Model{"whole": m, "fp16": small} {
		var b bytes.Buffer
		if err := m.Write(&b); err != nil {
			t.Fatal(err)
		}
		got, err := Read(&b)
		if err != nil {
			t.Fatal(err)
		}
		if !got.Layer.Sigmoid || !slices.Equal(got.Multilabel.Threshold, m.Multilabel.Threshold) || !slices.Equal(got.Multilabel.Count, m.Multilabel.Count) || got.Multilabel.Examples != m.Training.Examples {
			t.Errorf("%s: %+v, want %+v", name, got.Multilabel, m.Multilabel)
		}
		e := record.Example{Text: "when will my card arrive"}
		p, err := got.NewPredictor().Probabilities(e)
		if err != nil {
			t.Fatal(err)
		}
		scores := make([]float32, len(p))
		index, value, err := got.NewPredictor().rower.Row(e)
		if err != nil {
			t.Fatal(err)
		}
		got.Layer.Scores(scores, index, value)
		for c, s := range scores {
			if want := 1 / (1 + math.Exp(-float64(s))); math.Abs(float64(p[c])-want) > 1e-6 {
				t.Errorf("%s: probability %d is %v, want %v", name, c, p[c], want)
			}
		}
	}
}

// What does not fit together is refused, in a file, too.
func TestMultilabelCheck(t *testing.T) {
	for name, damage := range map[string]func(m *Model){
		"no thresholds":           func(m *Model) { m.Multilabel = nil },
		"no sigmoids":             func(m *Model) { m.Layer.Sigmoid = false },
		"a threshold too few":     func(m *Model) { m.Multilabel.Threshold = m.Multilabel.Threshold[1:] },
		"a threshold that is NaN": func(m *Model) { m.Multilabel.Threshold[0] = float32(math.NaN()) },
		"a threshold below 0":     func(m *Model) { m.Multilabel.Threshold[0] = -1 },
		"a negative count":        func(m *Model) { m.Multilabel.Count[0] = -1 },
		"a temperature":           func(m *Model) { m.Training.Calibration = &decide.Calibration{Temperature: 1} },
	} {
		m := sigmoids(t)
		damage(m)
		if err := m.Check(); err == nil {
			t.Errorf("%s: a sound model", name)
		}
	}
	if _, err := sigmoids(t).CarryOver(sigmoids(t).Features, []string{"a", "b"}); err == nil || !strings.Contains(err.Error(), "several labels") {
		t.Errorf("to start from: %v", err)
	}
}

// An answer has the classes that reach their threshold, or a given one.
func TestMultilabelAnswer(t *testing.T) {
	m := &Multilabel{Threshold: []float32{0.5, 0.5, 2, 0.1}}
	p := []float32{0.5, 0.4, 1, 0.2}
	if got := m.Answer(nil, p, 0); !slices.Equal(got, []int32{0, 3}) {
		t.Errorf("answer %v, want 0 and 3", got)
	}
	if got := m.Answer(nil, p, 0.4); !slices.Equal(got, []int32{0, 1, 2}) {
		t.Errorf("from 0.4 on %v, want 0, 1 and 2", got)
	}
}

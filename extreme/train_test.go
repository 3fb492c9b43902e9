package extreme

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/softmax"
)

// texts of k classes in groups of five: of eight words two are the class's, two its
// group's, four anything.
func texts(k, each int, seed uint64) []dataset.Example {
	random := rand.New(rand.NewPCG(seed, 7))
	var out []dataset.Example
	for c := range k {
		for range each {
			words := []string{fmt.Sprintf("c%dx", c), fmt.Sprintf("c%dy", c), fmt.Sprintf("g%dx", c/5), fmt.Sprintf("g%dy", c/5)}
			words = slices.Delete(words, random.IntN(4), 4-random.IntN(2))
			for range 4 {
				words = append(words, fmt.Sprintf("any%d", random.IntN(50)))
			}
			out = append(out, dataset.Example{Text: strings.Join(words, " "), Label: fmt.Sprintf("class %03d", c), Weight: 1})
		}
	}
	return out
}

func dataOf(t *testing.T, list []dataset.Example) (*corpus.Data, []int) {
	t.Helper()
	c := corpus.New(dataset.Text, nil)
	for _, e := range list {
		if err := c.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	rows := c.Rows()
	d, err := c.Data(t.Context(), rows, corpus.ClassFiles{})
	if err != nil {
		t.Fatal(err)
	}
	return d, rows
}

func small() Options {
	return Options{Shape: Shape{MaxLeaf: 10, MaxWidth: 4}, Calibrate: true, Seed: 1}
}

func trained(t *testing.T, o Options) *Model {
	t.Helper()
	d, rows := dataOf(t, texts(60, 40, 1))
	m, err := Train(t.Context(), d, rows, o, softmax.Training{Program: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func accuracy(t *testing.T, m *Model, list []dataset.Example, beam int) float64 {
	t.Helper()
	p, right := m.NewPredictor(beam), 0.0
	for _, e := range list {
		probabilities, err := p.Probabilities(e)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, v := range probabilities {
			sum += float64(v)
		}
		if math.Abs(sum-1) > 1e-4 {
			t.Fatalf("probabilities sum to %v", sum)
		}
		if m.Labels[softmax.Top(probabilities)] == e.Label {
			right++
		}
	}
	return right / float64(len(list))
}

// A tree of three levels learns what there is to learn, a file gives the same answers, and
// threads do not matter.
func TestTrain(t *testing.T) {
	o := small()
	o.Threads = 1
	m := trained(t, o)
	if r := m.Report; r.Leaves != 6 || r.HeldOut < 100 || r.Weights == 0 || r.Weights >= r.Trained || r.Levels != 3 {
		t.Errorf("report %+v", r)
	}
	if m.Training.Calibration == nil || m.Training.Examples != 60*40 {
		t.Errorf("training %+v", m.Training)
	}
	test := texts(60, 5, 2)
	first := accuracy(t, m, test, 0)
	if first < 0.55 { // a third of the texts has no word of its class, some of these none of its group
		t.Errorf("accuracy %.3f", first)
	}
	folder := t.TempDir()
	path, again := filepath.Join(folder, "m"), filepath.Join(folder, "n")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	o.Threads = 3
	if err := trained(t, o).Save(again); err != nil {
		t.Fatal(err)
	}
	a, _ := os.ReadFile(path)
	if b, _ := os.ReadFile(again); !bytes.Equal(a, b) {
		t.Error("three goroutines make another model than one")
	}
	back, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := back.Verify(); err != nil {
		t.Error(err)
	}
	p, q := m.NewPredictor(0), back.NewPredictor(0)
	for _, e := range test {
		x, _ := p.Probabilities(e)
		y, err := q.Probabilities(e)
		if err != nil || !slices.Equal(x, y) {
			t.Fatalf("the file answers otherwise (%v)", err)
		}
	}
	if !IsFile(path) || softmax.IsFile(path) {
		t.Error("the kind of the file is not seen in its head")
	}
}

// With a beam as wide as the tree no class is out of reach.
func TestBeam(t *testing.T) {
	m := trained(t, small())
	e := dataset.Example{Text: "c7x c7y g1x any3"}
	counts := []int{0, 0, 0}
	for n, beam := range []int{1, 2, 100} {
		classes, _, err := m.NewPredictor(beam).Candidates(e)
		if err != nil {
			t.Fatal(err)
		}
		counts[n] = len(classes)
	}
	if counts[0] != 10 || counts[1] != 20 || counts[2] < counts[1] {
		t.Errorf("candidates of beams of 1, 2 and 100 leaves: %v", counts)
	}
}

func TestClassifier(t *testing.T) {
	m := trained(t, small())
	in := classify.Input{Paths: []string{"-"}, Stdin: strings.NewReader("text\nc7x c7y g1x\nc30x c30y any1\n"), Options: dataset.Options{Unlabelled: true, Text: "text"}, Threads: 2}
	x, err := Classifier(m, 3).Open(in)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	answers := make([]string, x.BlockSize())
	err = x.Each(t.Context(), func(_, at int, _ dataset.Example, p []float32) error {
		answers[at] = m.Labels[softmax.Top(p)]
		return nil
	}, func(block []dataset.Example) error { got = append(got, answers[:len(block)]...); return nil })
	if err != nil || !slices.Equal(got, []string{"class 007", "class 030"}) {
		t.Errorf("%q, %v", got, err)
	}
	if about := Classifier(m, 0).About(); len(about.Labels) != 60 || !about.Calibrated {
		t.Errorf("about %d labels, calibrated %v", len(about.Labels), about.Calibrated)
	}
}

// Of the candidates each counts as often as its class; one by one and in blocks, also of a
// file. What the search does not come to stays as it is.
func TestBalanced(t *testing.T) {
	m := trained(t, small())
	path := filepath.Join(t.TempDir(), "m")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	m, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	c := Classifier(m, 2)
	weights := map[string]float64{}
	for class, label := range m.Labels {
		weights[label] = float64(m.ClassTotals[class])
	}
	list := []dataset.Example{{Text: "c7x g1x any1"}, {Text: "c30x c30y"}}
	probabilities := func(weights map[string]float64) (all []float32) {
		b, err := classify.Rebalance(c, weights)
		if err != nil {
			t.Fatal(err)
		}
		p := b.(classifier).model.NewPredictor(2)
		for _, e := range list {
			one, err := p.Probabilities(e)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, one...)
		}
		runners, err := b.Runners(1)
		if err == nil {
			_, err = runners[0](t.Context(), list, func(at int, p []float32) error {
				if !slices.Equal(p, all[at*len(p):(at+1)*len(p)]) {
					t.Errorf("example %d has other probabilities in a block", at)
				}
				return nil
			})
		}
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	same := probabilities(weights)
	weights["class 007"] *= 0.01
	fewer := probabilities(weights)
	classes, p, err := m.NewPredictor(2).Candidates(list[0])
	if err != nil {
		t.Fatal(err)
	}
	plain := make([]float64, len(m.Labels)) // of the first text
	sum := 0.0
	for n, class := range classes {
		if plain[class] = float64(p[n]); m.Labels[class] == "class 007" {
			plain[class] *= 0.01
		}
		sum += plain[class]
	}
	missed := m.missed()
	for class := range m.Labels {
		before, err := m.NewPredictor(2).Probabilities(list[0])
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(float64(same[class]-before[class])) > 1e-6 {
			t.Errorf("class %d, as often as in training: %v, want %v", class, same[class], before[class])
		}
		if want := missed/float64(len(m.Labels)) + (1-missed)*plain[class]/sum; math.Abs(float64(fewer[class])-want) > 1e-6 {
			t.Errorf("class %d with class 007 rarer: %v, want %v", class, fewer[class], want)
		}
	}
}

// One example a class: nothing is held out, and names and taxonomy still work.
func TestFewExamples(t *testing.T) {
	d, rows := dataOf(t, texts(30, 1, 3))
	o := small()
	o.Names, o.Sharing = "on", classinfo.Spec{classinfo.Names}
	m, err := Train(t.Context(), d, rows, o, softmax.Training{})
	if err != nil {
		t.Fatal(err)
	}
	if m.Report.HeldOut != 0 || m.Training.Calibration != nil || m.Training.Sharing != "names" {
		t.Errorf("report %+v, sharing %s", m.Report, m.Training.Sharing)
	}
	if right := accuracy(t, m, texts(30, 1, 3), 0); right < 0.8 {
		t.Errorf("accuracy on the training rows %.2f", right)
	}
}

func TestTrainRefuses(t *testing.T) {
	d, rows := dataOf(t, texts(5, 2, 1))
	for name, o := range map[string]Options{
		"a sharing of all classes": {Sharing: classinfo.Spec{classinfo.VTree}},
		"a prior":                  {Prior: -1},
		"a leaf too large":         {Shape: Shape{MaxLeaf: 1000}},
	} {
		if _, err := Train(t.Context(), d, rows, o, softmax.Training{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	numbers := corpus.New(dataset.Numbers, []string{"x"})
	for _, label := range []string{"a", "b"} {
		if err := numbers.Add(dataset.Example{Values: []float64{1}, Label: label, Weight: 1}); err != nil {
			t.Fatal(err)
		}
	}
	n, err := numbers.Data(t.Context(), numbers.Rows(), corpus.ClassFiles{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Train(t.Context(), n, numbers.Rows(), Options{}, softmax.Training{}); !errors.Is(err, ErrData) {
		t.Errorf("numbers: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Train(ctx, d, rows, Options{}, softmax.Training{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Whatever byte is changed, loading or the first use says so, or nothing changes; and
// nothing panics.
func TestDamaged(t *testing.T) {
	m := trained(t, small())
	path := filepath.Join(t.TempDir(), "m")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 3))
	found := 0
	for range 150 {
		bad := slices.Clone(whole)
		bad[random.IntN(len(bad))] ^= byte(1 + random.IntN(255))
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		back, err := Load(path)
		if err == nil {
			if _, err := back.NewPredictor(100).Probabilities(dataset.Example{Text: "c7x g1x any1"}); err != nil && !errors.Is(err, ErrModelFile) {
				t.Errorf("use: %v", err)
			}
			err = back.Verify()
		}
		if errors.Is(err, ErrModelFile) {
			found++
		}
	}
	if found != 150 {
		t.Errorf("%d of 150 damaged files were found", found)
	}
	if err := os.WriteFile(path, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); !errors.Is(err, ErrModelFile) || !strings.HasPrefix(err.Error(), path+": ") {
		t.Errorf("half a file: %v", err)
	}
}

func TestCompareGap(t *testing.T) {
	g := compare([]bool{true, true, false, false}, []bool{true, false, true, true}, 9)
	if g.Difference != -0.25 || g.Tree != 0.5 || g.Flat != 0.75 || math.Abs(g.DifferenceSE-math.Sqrt((3./4-1./16)/4)) > 1e-12 {
		t.Errorf("%+v", g)
	}
}

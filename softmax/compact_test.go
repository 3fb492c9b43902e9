package softmax

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/feature"
)

// rareWords is a model of many classes and words in which a word speaks for few classes.
func rareWords(t *testing.T, k int) *Model {
	t.Helper()
	table := feature.NewTable(dataset.Text, nil)
	var rows []int
	for i := range 1500 {
		table.AddText("w" + strconv.Itoa(i))
		rows = append(rows, i)
	}
	set, err := table.Fit(rows, feature.Options{})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 1))
	l := newLayer(k, set.Dim())
	for f := range set.Dim() {
		base := float32(random.NormFloat64())
		for c := range k {
			l.Weight[f*k+c] = base + float32(random.NormFloat64())*smallWeight/5
		}
		for range 20 {
			l.Weight[f*k+random.IntN(k)] = float32(3 * random.NormFloat64())
		}
	}
	m := &Model{Layer: l, Features: set}
	for c := range k {
		l.Bias[c] = float32(random.NormFloat64())
		m.Labels = append(m.Labels, "class "+strconv.Itoa(c))
	}
	return m
}

// A model of many weights is saved in a fraction of their size, predicts as before, and
// is the same bytes when it is saved again.
func TestCompactModel(t *testing.T) {
	m := rareWords(t, 1500)
	if len(m.Layer.Weight) < leastCompact {
		t.Fatalf("%d weights, too few for the test", len(m.Layer.Weight))
	}
	path := filepath.Join(t.TempDir(), "m")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(data) > len(m.Layer.Weight)/4 {
		t.Errorf("%d bytes for %d weights", len(data), len(m.Layer.Weight))
	}
	small, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if small.Layer.Compact == nil {
		t.Fatal("the weights are not compact")
	}
	worst := 0.0
	for j, w := range small.Layer.Dense() {
		worst = max(worst, math.Abs(float64(w-m.Layer.Weight[j])))
	}
	if worst > 0.03 {
		t.Errorf("a weight is off by %v", worst)
	}
	before, after := m.NewPredictor(), small.NewPredictor()
	for _, text := range []string{"w7", "w1 w2 w1499", "nothing known", ""} {
		p, err := before.Probabilities(dataset.Example{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		q, err := after.Probabilities(dataset.Example{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		for c := range p {
			if math.Abs(math.Log(float64(p[c])/float64(q[c]))) > 0.05 {
				t.Fatalf("%q: probability of class %d %v, of the compact model %v", text, c, p[c], q[c])
			}
		}
	}
	again := filepath.Join(t.TempDir(), "again")
	if err := small.Save(again); err != nil {
		t.Fatal(err)
	}
	if twice, err := os.ReadFile(again); err != nil || !bytes.Equal(data, twice) {
		t.Errorf("saved again it has other bytes (%v)", err)
	}
	// Training goes on from it.
	l, err := small.CarryOver(m.Features, m.Labels)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(l.Weight, small.Layer.Dense()) {
		t.Error("other weights are carried over")
	}
}

// Weights that differ everywhere stay as they are, and so do few weights.
func TestNotCompact(t *testing.T) {
	l := newLayer(2100, 2000)
	random := rand.New(rand.NewPCG(2, 2))
	for j := range l.Weight {
		l.Weight[j] = float32(random.NormFloat64())
	}
	if compacted(l, 2) != l {
		t.Error("weights without anything in common became compact")
	}
	few := newLayer(100, 100)
	if compacted(few, 2) != few {
		t.Error("few weights became compact")
	}
}

// Compact weights are the same on any number of threads.
func TestCompactThreads(t *testing.T) {
	l := rareWords(t, 1500).Layer
	one := compacted(l, 1).Compact
	for _, threads := range []int{2, 5} {
		c := compacted(l, threads).Compact
		if !slices.Equal(c.Base, one.Base) || !slices.Equal(c.Rest.Index, one.Rest.Index) || !slices.Equal(c.Rest.Value, one.Rest.Value) || !slices.Equal(c.Rest.Start, one.Rest.Start) {
			t.Errorf("%d threads give other weights than one", threads)
		}
	}
}

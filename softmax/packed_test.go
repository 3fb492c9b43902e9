package softmax

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/internal/safetensors"
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
func TestPackedModel(t *testing.T) {
	m := rareWords(t, 1500)
	if len(m.Layer.Weight) < leastPacked {
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
	if _, ok := small.Layer.packed.(*baseWeights[uint16]); !ok {
		t.Fatalf("the weights are %T", small.Layer.packed)
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
				t.Fatalf("%q: probability of class %d %v, of the packed model %v", text, c, p[c], q[c])
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

// Weights that differ everywhere are saved in half precision; few weights, and those
// beyond it, stay as they are.
func TestHalfWeights(t *testing.T) {
	const k, d = 2100, 2000
	l := newLayer(k, d)
	random := rand.New(rand.NewPCG(2, 2))
	for j := range l.Weight {
		l.Weight[j] = float32(random.NormFloat64())
	}
	l.Weight[5], l.Weight[6] = 1e-6, -1e-7
	p := pack(l, 2)
	if _, ok := p.packed.(*halfWeights); !ok {
		t.Fatalf("weights without anything in common became %T", p.packed)
	}
	row := make([]float32, k)
	for f := range d {
		for c, w := range p.Row(f, row) {
			if want := l.Weight[f*k+c]; math.Abs(float64(w-want)) > math.Abs(float64(want))/2048+1e-7 {
				t.Fatalf("weight %d, %d is %v, want %v", f, c, w, want)
			}
		}
	}
	index, value := []int32{3, 800, 1999}, []float32{0.5, 0.25, -1}
	scores := make([]float32, k)
	for range 2 { // once with rows to be decoded, once without
		p.Scores(scores, index, value)
		for c, s := range scores {
			var want float64
			for n, f := range index {
				want += float64(value[n] * p.Row(int(f), row)[c])
			}
			if math.Abs(float64(s)-want) > 1e-5 {
				t.Fatalf("score %d is %v, want %v", c, s, want)
			}
		}
	}
	few := newLayer(100, 100)
	if pack(few, 2) != few {
		t.Error("few weights were packed")
	}
	if l.Weight[7] = 70000; pack(l, 2) != l {
		t.Error("a weight of 70000 was packed")
	}
}

// Packed weights are the same on any number of threads.
func TestPackedThreads(t *testing.T) {
	l := rareWords(t, 1500).Layer
	one := pack(l, 1).packed.(*baseWeights[uint16])
	for _, threads := range []int{2, 5} {
		w := pack(l, threads).packed.(*baseWeights[uint16])
		if !slices.Equal(w.base, one.base) || !slices.Equal(w.class, one.class) || !slices.Equal(w.value, one.value) || !slices.Equal(w.start, one.start) {
			t.Errorf("%d threads give other weights than one", threads)
		}
	}
}

// A file whose packed weights name classes that are not there, or whose parts do not
// fit together, is refused or gives scores; it never panics.
func TestHostilePackedWeights(t *testing.T) {
	const d, k = 3, 4
	good := baseWeights[uint16]{outputs: k, base: make([]float32, d), start: []int64{0, 2, 2, 3}, class: []uint16{0, 3, 2}, value: []uint16{0x3c00, 0x3c00, 0xbc00}}
	for _, tc := range []struct {
		name   string
		change func(w *baseWeights[uint16])
		loads  bool
	}{
		{"as it should be", func(*baseWeights[uint16]) {}, true},
		{"a class too large", func(w *baseWeights[uint16]) { w.class[1] = 60000 }, true},
		{"infinite", func(w *baseWeights[uint16]) { w.value[1] = 0x7c00 }, true},
		{"starts fall", func(w *baseWeights[uint16]) { w.start[1] = 3 }, false},
		{"starts begin late", func(w *baseWeights[uint16]) { w.start[0] = 1 }, false},
		{"negative", func(w *baseWeights[uint16]) { w.start[0] = -1 }, false},
		{"beyond the end", func(w *baseWeights[uint16]) { w.start[3] = 1 << 40 }, false},
		{"too few values", func(w *baseWeights[uint16]) { w.value = w.value[:2] }, false},
		{"too few bases", func(w *baseWeights[uint16]) { w.base = w.base[:2] }, false},
	} {
		w := good
		w.start, w.class, w.value = slices.Clone(w.start), slices.Clone(w.class), slices.Clone(w.value)
		tc.change(&w)
		f := &safetensors.File{Tensors: w.tensors()}
		for i := range f.Tensors {
			f.Tensors[i].Shape = []int{len(f.Tensors[i].Data) / f.Tensors[i].DType.Size()}
		}
		p, err := loadPacked(f, d, k)
		if (err == nil) != tc.loads {
			t.Errorf("%s: error %v", tc.name, err)
		}
		if err == nil {
			out := make([]float32, k)
			p.scores(out, []int32{0, 1, 2}, []float32{1, 1, 1})
			for c, s := range out {
				if !finite(float64(s)) {
					t.Errorf("%s: score %d is %v", tc.name, c, s)
				}
			}
		}
	}
}

// A model from a file stays in memory as long as one of its predictors, and several at a
// time give the same answers.
func TestMappedModelInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m")
	if err := rareWords(t, 1500).Save(path); err != nil {
		t.Fatal(err)
	}
	m, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	predictors := []*Predictor{m.NewPredictor(), m.NewPredictor(), m.NewPredictor()}
	m = nil
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	answers := make([][]float32, len(predictors))
	var group sync.WaitGroup
	for n, p := range predictors {
		group.Go(func() {
			for i := range 1500 {
				if i%500 == 0 {
					runtime.GC()
				}
				q, err := p.Probabilities(dataset.Example{Text: "w" + strconv.Itoa(i) + " w7"})
				if err != nil {
					t.Error(err)
					return
				}
				answers[n] = append(answers[n], q[i])
			}
		})
	}
	group.Wait()
	for n := range answers {
		if !slices.Equal(answers[n], answers[0]) {
			t.Errorf("predictor %d gives other answers", n)
		}
	}
}

package extreme

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/safetensors"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/softmax"
)

// unlike are texts of k classes that have nothing in common: each has six words of its own out
// of 400, of which a text has three beside three of any class.
func unlike(k, each int, seed uint64) []dataset.Example {
	words := rand.New(rand.NewPCG(1, 1))
	own := make([][]int, k)
	for c := range own {
		own[c] = words.Perm(400)[:6]
	}
	random := rand.New(rand.NewPCG(seed, 7))
	var out []dataset.Example
	for c := range k {
		for range each {
			var text []string
			for range 3 {
				text = append(text, fmt.Sprintf("%dw", own[c][random.IntN(6)]), fmt.Sprintf("%dw", random.IntN(400)))
			}
			out = append(out, dataset.Example{Text: strings.Join(text, " "), Label: fmt.Sprintf("class %03d", c), Weight: 1})
		}
	}
	return out
}

// Similarities are those of the formula, row by row, and leaves have that of their best class.
func TestSimilarity(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	const k, d = 7, 40
	x := &matrix.Sparse{Columns: d, Start: []int{0}}
	var class []int32
	for i := range 30 {
		var index []int32
		var value []float32
		for f := range d {
			if random.IntN(4) == 0 {
				index, value = append(index, int32(f)), append(value, random.Float32())
			}
		}
		x.AppendRow(index, value)
		class = append(class, int32(i%(k-1))) // the last has no rows
	}
	weight := slices.Repeat([]float32{1, 2}, 15)
	p := Sequence([]int32{3, 1, 0, 2, 6, 5, 4}, Shape{MaxLeaf: 2, MaxWidth: 4})
	s, err := newSimilarity(inOrder(x, class, weight, p), 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.check(d, k); err != nil {
		t.Fatal(err)
	}
	var sums, vectors [k][d]float64
	var has [d]float64
	for i, c := range class {
		index, value := x.Row(i)
		for n, f := range index {
			if sums[c][f] == 0 {
				has[f]++
			}
			sums[c][f] += float64(weight[i] * value[n])
		}
	}
	near := newSimilar(s, p)
	index, value := x.Row(4)
	near.set(x.Row(1))
	near.set(index, value)
	best := make(map[int32]float64)
	leafOf := func(place int) int32 {
		return int32(slices.IndexFunc(p.Nodes, func(n Node) bool { return n.Leaf() && n.First <= place && place < n.End }))
	}
	for place, c := range p.Order {
		squares, want := 0.0, 0.0
		for f := range d {
			vectors[c][f] = math.Sqrt(sums[c][f]) * math.Pow(math.Log((k+1)/max(has[f], 1)), 2)
			squares += vectors[c][f] * vectors[c][f]
		}
		for n, f := range index {
			if squares > 0 {
				want += float64(value[n]) * vectors[c][f] / math.Sqrt(squares)
			}
		}
		if math.Abs(float64(near.score[place])-want) > 2e-3 {
			t.Errorf("class %d: %v, want %v", c, near.score[place], want)
		}
		v := leafOf(place)
		best[v] = max(best[v], float64(near.score[place]))
	}
	for _, to := range near.leaves(nil, p) {
		if want := best[to.node]; float64(to.log) != want || want == 0 {
			t.Errorf("leaf %d: %v, want %v", to.node, to.log, want)
		}
		delete(best, to.node)
	}
	for v, left := range best {
		if left != 0 {
			t.Errorf("leaf %d with %v is not found", v, left)
		}
	}
	near.set(nil, nil)
	if to := near.leaves(nil, p); len(to) != 1 || to[0].node != leafOf(0) {
		t.Errorf("a row that is like no class comes to %v", to)
	}
}

// Where the classes of a leaf have nothing in common the similar ones find the leaf: better than
// the softmaxes above would, the same at any number of threads and from a file, whose damage is found.
func TestTrainSimilar(t *testing.T) {
	d, rows := dataOf(t, unlike(400, 12, 1))
	o := Options{Shape: Shape{MaxLeaf: 5, MaxWidth: 9}, Calibrate: true, Seed: 1, Threads: 1}
	m, err := Train(t.Context(), d, rows, o, softmax.Training{})
	if err != nil {
		t.Fatal(err)
	}
	if !m.Report.Similar {
		t.Fatalf("the softmaxes find the leaves: %+v", m.Report)
	}
	test := unlike(400, 3, 2)
	right := accuracy(t, m, test, 10)
	if right < 0.6 {
		t.Errorf("accuracy %.3f", right)
	}
	folder := t.TempDir()
	path, again := filepath.Join(folder, "m"), filepath.Join(folder, "n")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	o.Threads, o.Checkpoint = 3, filepath.Join(folder, "checkpoint")
	for range 2 { // the second time from a whole checkpoint
		other, err := Train(t.Context(), d, rows, o, softmax.Training{})
		if err != nil {
			t.Fatal(err)
		}
		if err := other.Save(again); err != nil {
			t.Fatal(err)
		}
		whole, _ := os.ReadFile(path)
		if b, _ := os.ReadFile(again); !bytes.Equal(whole, b) {
			t.Error("other threads, or a checkpoint, make another model")
		}
		o.Resume = true
	}
	back, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	one, many := m.NewPredictor(0), back.NewPredictor(0)
	list := append(test[:50:50], dataset.Example{Text: "no word of these"}, dataset.Example{Text: ""})
	if n, err := many.Block(list, func(at int, p []float32) error {
		if want, err := one.Probabilities(list[at]); err != nil || !slices.Equal(p, want) {
			t.Errorf("record %d differs (%v)", at, err)
		}
		return nil
	}); n != len(list) || err != nil {
		t.Errorf("%d records, %v", n, err)
	}
	f, err := safetensors.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"similar_start", "similar_place", "similar_value", "similar_crc32c"} {
		part, err := f.Tensor(name)
		if err != nil {
			t.Fatal(err)
		}
		part.Data[5] ^= 1
		if _, err := fromFile(f); err == nil {
			t.Errorf("a changed byte of %s is not found", name)
		}
		part.Data[5] ^= 1
	}
}

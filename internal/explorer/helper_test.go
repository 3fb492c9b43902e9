package explorer

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/evaluate"
	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/score"
	"github.com/treeloss/treeloss/softmax"
)

// Names that would break a page which takes them for HTML, for the end of a script, or for
// the direction of the text around them.
var hostile = []string{
	`<img src=x onerror="window.hacked=1">`, `</script><script>window.hacked=2</script>`, "a\u202ekcab txet\u202c", "line\nbreak", `"quoted' & <b>bold</b>`, strings.Repeat("long ", 300) + "end", "\u05e9\u05dc\u05d5\u05dd", "__proto__",
}

// texts are the examples of the small model: each class has words of its own.
func texts(labels []string) (train, test []dataset.Example) {
	random := rand.New(rand.NewPCG(5, 5))
	for c, label := range labels {
		for i := range 12 {
			word, thing := c, c
			if i == 3 || i == 7 { // half of its neighbour
				thing = c ^ 1
			}
			if i == 7 || i == 8 { // and one that is all of it
				word = c ^ 1
			}
			x := dataset.Example{Text: fmt.Sprintf("please word%02d thing%02d noise%d", word, thing, random.IntN(9)), Label: label, Weight: 1}
			if i < 6 {
				train = append(train, x)
			} else {
				test = append(test, x)
			}
		}
	}
	return train, test
}

// small trains nothing: its weights are the means of the classes, which is enough to be right mostly.
func small(t testing.TB, labels []string, tree *labeltree.Tree) *softmax.Model {
	t.Helper()
	train, _ := texts(labels)
	table := feature.NewTable(dataset.Text, nil)
	for _, x := range train {
		if err := table.Add(x); err != nil {
			t.Fatal(err)
		}
	}
	rows := dataset.Range(0, len(train))
	set, err := table.Fit(rows, feature.Options{})
	if err != nil {
		t.Fatal(err)
	}
	k := len(labels)
	l := &softmax.Layer{Classes: k, Features: set.Dim(), Weight: make([]float32, set.Dim()*k), Bias: make([]float32, k)}
	rower := feature.NewRower(set)
	for i, x := range train {
		index, value, err := rower.Row(x)
		if err != nil {
			t.Fatal(err)
		}
		for n, f := range index {
			l.Weight[int(f)*k+i/6] += 2 * value[n]
		}
	}
	return &softmax.Model{Layer: l, Features: set, Labels: labels, Tree: tree}
}

// labelsOf are names of so many classes, hostile ones among them.
func labelsOf(k int) []string {
	labels := slices.Clone(hostile[:min(k, len(hostile))])
	for c := len(labels); c < k; c++ {
		labels = append(labels, fmt.Sprintf("class_%02d of group_%d", c, c/4))
	}
	return labels
}

// groupsOf is a taxonomy of groups of four.
func groupsOf(t testing.TB, labels []string) *labeltree.Tree {
	t.Helper()
	nodes := []labeltree.Node{{Name: "root", Parent: -1, Class: -1}}
	group := 0
	for c, label := range labels {
		if c%4 == 0 {
			group = len(nodes)
			nodes = append(nodes, labeltree.Node{Name: fmt.Sprintf("group %d <i>", c/4), Parent: 0, Class: -1})
		}
		nodes = append(nodes, labeltree.Node{Name: label, Parent: group, Class: c})
	}
	tree, err := labeltree.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// measuredSmall is the Explorer of the small model on its test examples.
func measuredSmall(t testing.TB, k int) (*Explorer, classify.Classifier, string) {
	t.Helper()
	labels := labelsOf(k)
	_, test := texts(labels)
	var file strings.Builder
	for _, x := range append(test, dataset.Example{Text: "never trained <script>", Label: "unknown"}, dataset.Example{Text: "<b>please</b> word00 thing01 " + strings.Repeat("x", 1<<20), Label: labels[0]}) {
		line, err := json.Marshal(map[string]string{"text": x.Text, "label": x.Label})
		if err != nil {
			t.Fatal(err)
		}
		file.Write(append(line, '\n'))
	}
	path := filepath.Join(t.TempDir(), "test.jsonl")
	if err := os.WriteFile(path, []byte(file.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	m := classify.Linear(small(t, labels, groupsOf(t, labels)))
	e, err := New(m, "small <model>")
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Measure(context.Background(), m, open(t, m, path), []string{path}); err != nil {
		t.Fatal(err)
	}
	return e, m, path
}

// open opens examples.
func open(t testing.TB, m classify.Classifier, path string) classify.Examples {
	t.Helper()
	x, err := m.Open(classify.Input{Paths: []string{path}, Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

// opener is open for later.
func opener(_ testing.TB, m classify.Classifier, path string) func() (classify.Examples, error) {
	return func() (classify.Examples, error) { return m.Open(classify.Input{Paths: []string{path}, Threads: 2}) }
}

// synthetic is a model of many classes as the page sees it, with a tree of the given shape and
// mistakes mostly near the diagonal. Its counts are made up.
func synthetic(t testing.TB, k int, taxonomy bool) *Explorer {
	t.Helper()
	random := rand.New(rand.NewPCG(8, uint64(k)))
	nodes := []labeltree.Node{{Name: "root", Parent: -1, Class: -1}}
	labels := make([]string, k)
	words := strings.Fields("card account transfer payment order refund delivery address password login invoice contract tariff meter fault repair window")
	for c := range labels {
		labels[c] = fmt.Sprintf("%s %s %s %d", words[c/1200%len(words)], words[c/70%len(words)], words[random.IntN(len(words))], c)
	}
	var cut func(parent, lo, hi int)
	cut = func(parent, lo, hi int) {
		if hi-lo == 1 {
			nodes = append(nodes, labeltree.Node{Name: labels[lo], Parent: parent, Class: lo})
			return
		}
		v := len(nodes)
		if parent < 0 {
			v = 0
		} else {
			name := fmt.Sprint("pseudo", v+1)
			if taxonomy {
				name = fmt.Sprintf("group %d", v)
			}
			nodes = append(nodes, labeltree.Node{Name: name, Parent: parent, Class: -1})
		}
		if taxonomy {
			parts := min(hi-lo, 4+random.IntN(12))
			for i := range parts {
				if a, b := lo+(hi-lo)*i/parts, lo+(hi-lo)*(i+1)/parts; a < b {
					cut(v, a, b)
				}
			}
			return
		}
		mid := lo + 1 + random.IntN(hi-lo-1)
		cut(v, lo, mid)
		cut(v, mid, hi)
	}
	cut(-1, 0, k)
	tree, err := labeltree.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	e := &Explorer{name: "synthetic", about: classify.About{Kind: classify.LinearModel, Labels: labels, Tree: tree}, tree: tree, origin: OfModel, class: map[string]int{}}
	d := &measured{files: []string{"test.csv"}, predicted: make([]int32, k), kept: newKeeper(labels), matrix: &evaluate.Matrix{Labels: labels, Tree: tree, Right: make([]int, k), Support: make([]int, k)}}
	cells := map[[2]int]int{}
	for c := range k {
		n := 1 + random.IntN(9)
		d.matrix.Support[c], d.examples = n, d.examples+n
		for range n {
			to := c
			if random.IntN(4) == 0 {
				to = c + int(random.NormFloat64()*20)
				if random.IntN(5) == 0 {
					to = random.IntN(k)
				}
			}
			to = min(max(to, 0), k-1)
			d.predicted[to]++
			if to == c {
				d.matrix.Right[c]++
			} else {
				cells[[2]int{c, to}]++
			}
		}
	}
	for at, n := range cells {
		d.matrix.Mistakes = append(d.matrix.Mistakes, score.Confusion{True: at[0], Predicted: at[1], Count: n})
	}
	slices.SortFunc(d.matrix.Mistakes, func(a, b score.Confusion) int {
		if a.Count != b.Count {
			return b.Count - a.Count
		}
		return slices.Compare([]int{a.True, a.Predicted}, []int{b.True, b.Predicted})
	})
	e.data = d
	return e
}

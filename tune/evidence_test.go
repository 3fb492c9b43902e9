package tune

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/exampletest"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/softmax"
	"github.com/treeloss/treeloss/wordvec"
)

// A model keeps the vectors of its classes, not of those that were dropped.
func TestModelHasVectors(t *testing.T) {
	vectors := exampletest.File(t, "v.txt", "3 2\ncat 1 0\ndog 0.9 0.1\nbus 0 1\n")
	d, err := corpusOf(t, exampletest.Animals()).Data(ctx, dataset.Range(0, 8), corpus.ClassFiles{Vectors: vectors, Unknown: wordvec.UnknownDrop})
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := Plan{Sharing: spec("vectors")}.Train(ctx, d, []int{0, 1, 2, 4, 5, 6}, Options{}, softmax.Training{})
	if err != nil || m.Vectors.Rows() != 3 {
		t.Errorf("model with vectors %v, %v", m.Vectors, err)
	}
}

// z of mantel against all orders of the classes.
func TestMantelAgainstAllOrders(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, n := range []int{4, 5, 6} {
		a, b := newPairs(n), newPairs(n)
		for i := range n {
			for j := range i {
				a.set(i, j, r.NormFloat64())
				b.set(i, j, 5+r.ExpFloat64())
			}
		}
		var all []float64
		var visit func(order []int, rest []int)
		visit = func(order, rest []int) {
			if len(rest) == 0 {
				var g float64
				for i := range n {
					for j := range n {
						g += a.x[i*n+j] * b.x[order[i]*n+order[j]]
					}
				}
				all = append(all, g)
				return
			}
			for i := range rest {
				visit(append(slices.Clone(order), rest[i]), slices.Delete(slices.Clone(rest), i, i+1))
			}
		}
		visit(nil, dataset.Range(0, n))
		var mean, square float64
		for _, g := range all {
			mean += g / float64(len(all))
		}
		for _, g := range all {
			square += (g - mean) * (g - mean) / float64(len(all))
		}
		if want, got := (all[0]-mean)/math.Sqrt(square), mantel(a, b); math.Abs(got-want) > 1e-9 {
			t.Errorf("n=%d: z %v, over all orders %v", n, got, want)
		}
	}
	if z := mantel(newPairs(6), newPairs(6)); z != 0 {
		t.Errorf("z %v of distances that are all the same", z)
	}
}

// groups returns texts of 24 classes in 6 groups of 4, one row each, whose
// texts have words of the group; order says which class of the taxonomy and of
// the vectors each class is.
func groups(t *testing.T, order []int) (*corpus.Data, []int) {
	t.Helper()
	r := rand.New(rand.NewPCG(11, 1))
	c := corpus.New(dataset.Text, nil)
	taxonomy, vectors := "child,parent\n", matrix.NewDense(24, 6)
	for i := range 24 {
		var words []string
		for range 5 {
			words = append(words, fmt.Sprintf("g%dw%d", i/4, r.IntN(6)), fmt.Sprintf("n%d", r.IntN(40)))
		}
		if err := c.Add(dataset.Example{Text: strings.Join(words, " "), Label: fmt.Sprintf("%02d", i), Weight: 1}); err != nil {
			t.Fatal(err)
		}
		taxonomy += fmt.Sprintf("%02d,group%d\n", i, order[i]/4)
		vectors.Row(i)[order[i]/4] = 1
		vectors.Row(i)[(order[i]/4+1)%6] = 0.1 * r.Float32()
	}
	d, err := c.Data(ctx, dataset.Range(0, 24), corpus.ClassFiles{Taxonomy: exampletest.File(t, "tax.csv", taxonomy)})
	if err != nil {
		t.Fatal(err)
	}
	d.Classes.Vectors = vectors
	return d, dataset.Range(0, 24)
}

// With one row a class, vectors and a taxonomy are used if rows of near classes
// are near, and not if they are shuffled.
func TestAutoOneShotOfGroups(t *testing.T) {
	shuffled := rand.New(rand.NewPCG(7, 7)).Perm(24)
	for _, tc := range []struct {
		name  string
		order []int
		want  bool
	}{{"true", dataset.Range(0, 24), true}, {"shuffled", shuffled, false}} {
		t.Run(tc.name, func(t *testing.T) {
			d, rows := groups(t, tc.order)
			for _, s := range []classinfo.Source{classinfo.Taxonomy, classinfo.Vectors} {
				z, err := Agreement(d, rows, s)
				if err != nil || (z > enoughErrors) != tc.want {
					t.Errorf("%s: %.1f standard errors, %v", s, z, err)
				}
			}
			r, err := Plan{}.Fit(ctx, d, rows, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if (len(r.Method.Sharing) > 0) != tc.want {
				t.Errorf("auto chose %v (%s)", r.Method, r.Reason)
			}
			for _, word := range []string{"taxonomy", "vectors", "standard errors", "nearest name"} {
				if !strings.Contains(r.Reason, word) {
					t.Errorf("reason %q does not tell about %q", r.Reason, word)
				}
			}
		})
	}
}

// How often shuffled classes pass for knowledge: rarely.
func TestAgreementOfShuffledClasses(t *testing.T) {
	passed := 0
	r := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		d, rows := groups(t, r.Perm(24))
		z, err := Agreement(d, rows, classinfo.Vectors)
		if err != nil {
			t.Fatal(err)
		}
		if z > enoughErrors {
			passed++
		}
	}
	if passed > 2 {
		t.Errorf("%d of 60 shuffled sources passed", passed)
	}
}

func TestCandidatesOfAllKnowledge(t *testing.T) {
	d, rows := groups(t, dataset.Range(0, 24))
	var many []int
	for range 10 {
		many = append(many, rows...)
	}
	num, numRows := numbers(t, 4)
	num.Classes.Vectors = matrix.NewDense(4, 2)
	var err error
	if num.Classes.Taxonomy, err = labeltree.FromParents(map[string]string{"ash": "a", "birch": "a", "oak red": "oak", "oak white": "oak"}, num.Classes.Labels); err != nil {
		t.Fatal(err)
	}
	var most []int
	for range fewRows {
		most = append(most, rows...)
	}
	only := func(vectors, taxonomy bool) *corpus.Data {
		out := *d
		if !vectors {
			out.Classes.Vectors = nil
		}
		if !taxonomy {
			out.Classes.Taxonomy = nil
		}
		return &out
	}
	withoutTaxonomy, withoutVectors, bare := only(true, false), only(false, true), only(false, false)
	for _, tc := range []struct {
		name string
		d    *corpus.Data
		rows []int
		want string
	}{
		{"one row a class", d, rows, "[cross-entropy vectors taxonomy names+examples names+vectors+examples names+taxonomy+examples vectors+examples taxonomy+examples]"},
		{"ten rows a class bring the means", d, many, "[cross-entropy vectors taxonomy names+examples names+vectors+examples names+taxonomy+examples vectors+examples taxonomy+examples]"},
		{"vectors only", withoutTaxonomy, many, "[cross-entropy vectors names+examples names+vectors+examples vectors+examples names none+examples names+means+examples]"},
		{"a taxonomy only", withoutVectors, rows, "[cross-entropy taxonomy names+examples names+taxonomy+examples taxonomy+examples names none+examples]"},
		{"names only", bare, many, "[cross-entropy names+examples names none+examples names+means+examples]"},
		{"many rows need no names", d, most, "[cross-entropy vectors taxonomy]"},
		{"numbers have no examples", num, numRows, "[cross-entropy vectors taxonomy names names+vectors names+taxonomy]"},
	} {
		if got := methodNames(Candidates(tc.d, tc.rows)); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

// A trainer with a weight decay of its own makes the same weights for every
// prior: one is enough.
func TestOnePriorForOwnWeightDecay(t *testing.T) {
	d, rows, _ := topicData(t, 5, 1, same)
	for _, tc := range []struct {
		name    string
		trainer softmax.Trainer
		priors  int
	}{
		{"SGD by the prior", softmax.SGD{Epochs: 1}, len(firstPriors)},
		{"SGD with a decay", softmax.SGD{Epochs: 1, WeightDecay: 1e-3}, 1},
		{"SGD without decay", softmax.SGD{Epochs: 1, WeightDecay: -1}, 1},
		{"AdamW", softmax.AdamW{Epochs: 1}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, err := FitBest(ctx, d, rows, []Method{{}, {Names: true}}, Options{Trainer: tc.trainer})
			if err != nil || len(r.Candidates) != 2*tc.priors {
				t.Errorf("%d candidates, %v, want %d", len(r.Candidates), err, 2*tc.priors)
			}
		})
	}
}

func TestVectorsGiveSimilarities(t *testing.T) {
	d, _ := groups(t, dataset.Range(0, 24))
	s, err := Similarities(d.Classes)
	if err != nil {
		t.Fatal(err)
	}
	if near, far := s(0, 1), s(0, 12); near < 0.9 || far > 0.1 {
		t.Errorf("cosines %v in a group, %v between groups", near, far)
	}
	for _, l := range []Loss{SimLoss, SoftLabels} {
		if _, err := fitOne(ctx, d, dataset.Range(0, 24), Method{Loss: l}, Options{}); err != nil {
			t.Errorf("%s: %v", l, err)
		}
	}
	d.Classes.Vectors = matrix.NewDense(3, 2)
	if _, err := Similarities(d.Classes); err == nil {
		t.Error("3 vectors for 24 classes were taken")
	}
}

// Ready distances and the weights of a model are read for the labels at hand,
// become candidates, and are asked about at one row a class.
func TestDistancesAndWeightsOfFiles(t *testing.T) {
	d, err := corpusOf(t, exampletest.Animals()).Data(ctx, dataset.Range(0, 8), corpus.ClassFiles{})
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := Plan{Sharing: spec("none"), Names: "off"}.Train(ctx, d, dataset.Range(0, 8), Options{Priors: []float64{10}}, softmax.Training{})
	if err != nil {
		t.Fatal(err)
	}
	model := filepath.Join(t.TempDir(), "m.safetensors")
	if err := m.Save(model); err != nil {
		t.Fatal(err)
	}
	list := ""
	names := []string{"zyx", "dog", "cat", "bus"}
	for i, a := range names {
		for j, b := range names[:i] {
			list += fmt.Sprintf("%s %s %d\n", a, b, i-j)
		}
	}
	for _, tc := range []struct {
		files corpus.ClassFiles
		want  string
	}{
		{corpus.ClassFiles{Distances: exampletest.File(t, "d.txt", list)}, "distances"},
		{corpus.ClassFiles{Weights: model}, "weights"},
	} {
		d, err := corpusOf(t, exampletest.Animals()).Data(ctx, dataset.Range(0, 8), tc.files)
		if err != nil {
			t.Fatal(err)
		}
		if given := fmt.Sprint(d.Classes.Sources()); given != "["+tc.want+"]" {
			t.Errorf("given %s, want %s", given, tc.want)
		}
		got := methodNames(Candidates(d, dataset.Range(0, 8)))
		for _, method := range []string{" " + tc.want + " ", " names+" + tc.want + "+examples "} {
			if !strings.Contains(got, method) {
				t.Errorf("candidates %s lack %s", got, method)
			}
		}
		r, err := Plan{}.Fit(ctx, d, dataset.Range(0, 4), Options{})
		if err != nil || !strings.Contains(r.Reason, "near by "+tc.want) {
			t.Errorf("%v; reason %q does not tell about %s", err, r.Reason, tc.want)
		}
		if s := d.Classes.Distances; s != nil && s.Distance(0, 3) != 3 { // bus and zyx
			t.Errorf("bus and zyx are %v apart, want 3", s.Distance(0, 3))
		}
		if g := d.Classes.Weights; g != nil {
			l := m.Layer
			for a := range 4 {
				for b := range 4 {
					var want float64
					for f := range l.Features {
						want += float64(l.Weight[f*4+a]) * float64(l.Weight[f*4+b])
					}
					if math.Abs(g.At(a, b)-want) > 1e-9*(1+math.Abs(want)) {
						t.Errorf("weights %d and %d: product %v, want %v", a, b, g.At(a, b), want)
					}
				}
			}
		}
	}
}

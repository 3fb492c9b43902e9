package tune

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/score"
	"github.com/treeloss/treeloss/softmax"
)

// unlabelledData returns labelled examples, test ones and unlabelled ones.
func unlabelledData(t *testing.T, labelled, test, unlabelled []dataset.Example) (d *corpus.Data, rows, testRows []int) {
	t.Helper()
	c := corpus.New(dataset.Text, nil)
	for _, e := range slices.Concat(labelled, test) {
		if err := c.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	err := c.AddUnlabelled(func(yield func(dataset.Example, error) bool) {
		for _, e := range unlabelled {
			if !yield(e, nil) {
				return
			}
		}
	}, 1)
	if err != nil {
		t.Fatal(err)
	}
	rows = dataset.Range(0, len(labelled))
	if d, err = c.Data(ctx, rows, corpus.ClassFiles{}); err != nil {
		t.Fatal(err)
	}
	return d, rows, dataset.Range(len(labelled), len(labelled)+len(test))
}

// rightOf returns the share of right answers.
func rightOf(t *testing.T, d *corpus.Data, r *Result, rows []int) float64 {
	t.Helper()
	c, err := r.Test(d, rows, score.Options{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return c.Report().Accuracy
}

// Unlabelled texts connect a topic's own words, of which two examples have few: accuracy
// rises by tens of points, with the same weights at any number of threads.
func TestLearnFromUnlabelled(t *testing.T) {
	d, rows, test := unlabelledData(t, texts(4, 1, permuted), texts(30, 2, permuted), texts(100, 3, permuted))
	fit := func(opts Options) *Result {
		t.Helper()
		r, err := Plan{Names: Off, Sharing: spec("none")}.Fit(ctx, d, rows, opts)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	with, without := fit(Options{Seed: 1, Threads: 1}), fit(Options{Seed: 1, Threads: 1, Supervised: true})
	if without.Unlabelled != nil {
		t.Errorf("%+v of a supervised fit", without.Unlabelled)
	}
	u := with.Unlabelled
	if u == nil || u.Used != u.Examples || u.Used < 500 || u.Rounds < 1 || u.Similar < 0.9 || u.Balance < 0.9 || !(u.Weight > 0 && u.Weight < softWeight) {
		t.Fatalf("%+v, want all rows used, like the labelled ones, and balanced", u)
	}
	before, after := rightOf(t, d, without, test), rightOf(t, d, with, test)
	if after < before+0.05 {
		t.Errorf("accuracy %.3f with unlabelled rows, %.3f without", after, before)
	}
	again := fit(Options{Seed: 1, Threads: 3})
	if !slices.Equal(again.Layer.Weight, with.Layer.Weight) || !slices.Equal(again.Layer.Bias, with.Layer.Bias) || *again.Unlabelled != *u {
		t.Error("three threads give other weights than one")
	}
	// The record goes into the model.
	if m := with.Model(d.Classes.Labels, softmax.Training{}); m.Training.Unlabelled != u {
		t.Error("the model does not say what came of the unlabelled rows")
	}
}

// What learned from unlabelled rows is calibrated on rows that none of its rounds had the
// classes of: its probabilities are what they say on test rows, whatever the loss, and the
// same on any number of threads.
func TestCalibrateUnlabelled(t *testing.T) {
	// Each fourth class is of another topic.
	n := 0
	confused := func(name string) string {
		if n++; n%4 == 0 {
			return permuted(name)
		}
		return name
	}
	d, rows, test := unlabelledData(t, texts(24, 1, confused), texts(60, 2, confused), texts(100, 3, confused))
	k := len(d.Classes.Labels)
	for _, m := range []Method{{}, {Names: true}, {Loss: SquaredHinge}, {Loss: CrossEntropyHinge}} {
		t.Run(m.String(), func(t *testing.T) {
			opts := Options{Seed: 1, Threads: 1}
			r, err := fitOne(ctx, d, rows, m, opts)
			if err != nil || r.Unlabelled.Used == 0 {
				t.Fatalf("%v, %+v", err, r.Unlabelled)
			}
			c, err := Calibrate(ctx, d, rows, r, opts)
			if err != nil || c.AtLimit || c.Rows != len(rows) {
				t.Fatalf("%v, %+v; want a temperature by all %d rows", err, c, len(rows))
			}
			opts.Threads = 3
			if again, err := Calibrate(ctx, d, rows, r, opts); err != nil || again.Temperature != c.Temperature || again.ConfidenceScale != c.ConfidenceScale {
				t.Errorf("%+v (%v) on three threads, want %+v", again, err, c)
			}
			x, err := r.Features.Matrix(d.Table, test)
			if err != nil {
				t.Fatal(err)
			}
			scores, p, gap := classScores(r.Layer, x, 1), make([]float32, k), 0.0
			for i, row := range test {
				if _, err := decide.Probabilities(&c, p, scores[i*k:(i+1)*k]); err != nil {
					t.Fatal(err)
				}
				top := softmax.Top(p)
				gap += float64(p[top])
				if int32(top) == d.Class[row] {
					gap--
				}
			}
			// Of 144 held-out rows the accuracy is known to 4 points.
			if gap /= float64(len(test)); math.Abs(gap) > 0.1 {
				t.Errorf("mean confidence is %+.3f beside the accuracy", gap)
			}
		})
	}
}

// Every loss, and a sharing, learns from them or says why not.
func TestLearnMethods(t *testing.T) {
	d, rows, test := unlabelledData(t, texts(4, 1, same), texts(10, 2, same), texts(40, 3, same))
	d.ClassWeight = []float32{1, 2, 1, 2, 1, 2}
	for _, m := range []Method{{}, {Names: true}, {Sharing: spec("names"), Names: true}, {Sharing: spec("names+means")}, {Loss: SquaredHinge}, {Loss: CrossEntropyHinge},
		{Loss: SimLoss}, {Loss: SoftLabels}, {Loss: HXE}, {Smoothing: 0.1}, {Loss: HierarchicalSoftmax}} {
		t.Run(m.String(), func(t *testing.T) {
			r, err := fitOne(ctx, d, rows, m, Options{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			if used := r.Unlabelled.Used > 0; used != (m.Loss != HierarchicalSoftmax) {
				t.Errorf("used %d: %s", r.Unlabelled.Used, r.Unlabelled.Reason)
			}
			plain, err := fitOne(ctx, d, rows, m, Options{Seed: 1, Supervised: true})
			if err != nil {
				t.Fatal(err)
			}
			if with, without := rightOf(t, d, r, test), rightOf(t, d, plain, test); with < without-0.05 {
				t.Errorf("accuracy %.3f with unlabelled rows, %.3f without", with, without)
			}
		})
	}
	if r, err := fitOne(ctx, d, rows, Method{}, Options{Trainer: softmax.SGD{Epochs: 2}}); err != nil || r.Unlabelled.Used > 0 {
		t.Errorf("sgd: %v, %+v, want a reason not to use them", err, r.Unlabelled)
	}
}

// Rows that would mislead leave the result as it is, to the last bit, with a reason.
func TestUnlabelledGuards(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	var foreign []dataset.Example
	for range 300 {
		words := make([]string, 6)
		for i := range words {
			words[i] = fmt.Sprintf("%c%c%c%c", 'a'+random.IntN(26), 'a'+random.IntN(26), 'a'+random.IntN(26), 'a'+random.IntN(26))
		}
		foreign = append(foreign, dataset.Example{Text: strings.Join(words, " ")})
	}
	uneven := texts(200, 3, same)[:220] // nearly all of one class
	labelled := texts(6, 1, same)
	for _, tc := range []struct {
		name       string
		unlabelled []dataset.Example
		reason     string
	}{
		{"other texts", foreign, "like the labelled examples"},
		{"one class alone", uneven, "far more unevenly"},
		{"the labelled ones again", labelled, "labelled example"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, rows, _ := unlabelledData(t, labelled, nil, tc.unlabelled)
			r, err := fitOne(ctx, d, rows, Method{}, Options{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			if u := r.Unlabelled; u.Used != 0 || !strings.Contains(u.Reason, tc.reason) {
				t.Errorf("%+v, want a reason with %q", u, tc.reason)
			}
			plain, err := fitOne(ctx, d, rows, Method{}, Options{Seed: 1, Supervised: true})
			if err != nil || !slices.Equal(plain.Layer.Weight, r.Layer.Weight) {
				t.Errorf("other weights than without unlabelled rows (%v)", err)
			}
		})
	}
}

// The share of similar rows is about 1 for rows drawn like the labelled ones, with one row
// a class, too, and falls with what is mixed in.
func TestSimilar(t *testing.T) {
	other := make([]dataset.Example, 600)
	for i := range other {
		other[i].Text = fmt.Sprintf("zq%dvx wj%dkf xx%dyy", i, i%7, i*3)
	}
	own := texts(100, 3, same)
	for _, tc := range []struct {
		name       string
		each       int
		unlabelled []dataset.Example
		low, high  float64
	}{
		{"own", 8, own, 0.9, 1}, {"own, one a class", 1, own, 0.7, 1}, {"half", 8, slices.Concat(own, other), 0.4, 0.75}, {"none", 8, other, 0, 0.3},
	} {
		d, rows, _ := unlabelledData(t, texts(tc.each, 1, same), nil, tc.unlabelled)
		share, n, err := Similar(d, rows, 1)
		if err != nil || n == 0 || share < tc.low || share > tc.high {
			t.Errorf("%s: %.3f of %d (%v), want %v to %v", tc.name, share, n, err, tc.low, tc.high)
		}
	}
}

// One balancing step gives each class its expected share of a weighted mean up to what
// scaling the rows moves; probabilities stay such. Against a plain computation.
func TestBalance(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const n, k = 200, 5
	l := learner{k: k, soft: make([]int, n), near: make([]float64, n)}
	p := make([]float32, n*k)
	for i := range n {
		l.near[i] = random.Float64()
		l.similar += l.near[i] / n
		sum := float32(0)
		for c := range k {
			p[i*k+c] = random.Float32() * float32(c+1)
			sum += p[i*k+c]
		}
		for c := range k {
			p[i*k+c] /= sum
		}
	}
	expected := []float64{0.1, 0.3, 0.2, 0.2, 0.2}
	for _, power := range []float64{0, 0.5, 1} {
		mean := make([]float64, k)
		for i := range n {
			for c := range k {
				mean[c] += l.near[i] * float64(p[i*k+c]) / (l.similar * n)
			}
		}
		got := slices.Clone(p)
		l.told.Balance = power
		l.balance(got, expected)
		for i := range n {
			sum, want := 0.0, make([]float64, k)
			for c := range k {
				want[c] = float64(p[i*k+c]) * math.Pow(expected[c]/mean[c], power)
				sum += want[c]
			}
			for c := range k {
				if math.Abs(float64(got[i*k+c])-want[c]/sum) > 1e-6 {
					t.Fatalf("power %v, row %d, class %d: %v, want %v", power, i, c, got[i*k+c], want[c]/sum)
				}
			}
		}
	}
}

// At the temperature that is found the scores are as sure as they were to be.
func TestTemperatureFor(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 2))
	const n, k = 300, 7
	l := learner{k: k, soft: make([]int, n)}
	scores := make([]float32, n*k)
	for i := range scores {
		scores[i] = 4 * float32(random.NormFloat64())
	}
	for _, sure := range []float64{0.3, 0.5, 0.9} {
		p := l.probabilities(slices.Clone(scores), l.temperatureFor(scores, sure))
		sum := 0.0
		for i := range n {
			sum += float64(slices.Max(p[i*k:(i+1)*k])) / n
		}
		if math.Abs(sum-sure) > 1e-3 {
			t.Errorf("mean largest probability %v, want %v", sum, sure)
		}
	}
}

// Nearness against each pair of rows, sparse and dense.
func TestNearness(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 2))
	const labelled, soft, names, d = 12, 9, 3, 6
	dense, sparse := matrix.NewDense(labelled+soft+names, d), &matrix.Sparse{Columns: d, Start: []int{0}}
	for i := range labelled + soft + names {
		var index []int32
		var value []float32
		for j := range dense.Row(i) {
			if random.IntN(2) == 0 {
				dense.Row(i)[j] = random.Float32()
				index, value = append(index, int32(j)), append(value, dense.Row(i)[j])
			}
		}
		sparse.AppendRow(index, value)
	}
	for _, tc := range []struct {
		name string
		x    matrix.Matrix
		like func(a, b []float32) float64
	}{
		{"sparse", sparse, func(a, b []float32) float64 {
			var ab, aa, bb float64
			for j := range a {
				ab, aa, bb = ab+float64(a[j]*b[j]), aa+float64(a[j]*a[j]), bb+float64(b[j]*b[j])
			}
			return ab / (math.Sqrt(aa*bb) + 1e-30)
		}},
		{"dense", dense, func(a, b []float32) float64 {
			sum := 0.0
			for j := range a {
				sum -= float64(a[j]-b[j]) * float64(a[j]-b[j])
			}
			return sum
		}},
	} {
		in, out := nearness(tc.x, labelled, soft, 2)
		for i := range labelled + soft {
			want := math.Inf(-1)
			for j := range labelled + soft + names {
				if reference := j < labelled || j >= labelled+soft; reference && j != i {
					want = max(want, tc.like(dense.Row(i), dense.Row(j)))
				}
			}
			if got := slices.Concat(in, out)[i]; math.Abs(got-want) > 1e-6 {
				t.Errorf("%s, row %d: %v, want %v", tc.name, i, got, want)
			}
		}
	}
}

// Numbers like those of the other side weigh 1; such as are frequent only outside weigh
// less, and never more than larger ones.
func TestLikeness(t *testing.T) {
	in, mixed := make([]float64, 400), make([]float64, 800)
	for i := range mixed {
		if i < 400 {
			in[i] = 1 + float64(i*7%400)/400
		}
		mixed[i] = float64(i*3%800) / 400 // half of them below all of in
	}
	for i, w := range likeness(in, in) {
		if w < 0.95 {
			t.Errorf("number %d of the same: %v, want about 1", i, w)
		}
	}
	w := likeness(in, mixed)
	for i := range w {
		for j := range w {
			if mixed[i] < mixed[j] && w[i] > w[j] {
				t.Fatalf("%v weighs %v, %v weighs %v", mixed[i], w[i], mixed[j], w[j])
			}
		}
		if want := 1.0; mixed[i] > 1.2 && w[i] != want || mixed[i] < 1 && w[i] > 0.2 {
			t.Fatalf("%v weighs %v", mixed[i], w[i])
		}
	}
}

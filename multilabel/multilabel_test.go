package multilabel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/softmax"
)

// topics are labels with the words that tell of them.
var topics = map[string]string{"sport": "ball goal team match", "money": "bank price market tax", "food": "bread soup cook taste", "travel": "train hotel ticket road"}

// lines makes n JSON lines, each about none to three topics; some texts are about one and do
// not have it as a label.
func lines(seed uint64, n int) string {
	rng := rand.New(rand.NewPCG(seed, 0))
	names := []string{"sport", "money", "food", "travel"}
	var b strings.Builder
	for i := range n {
		rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		own := names[:rng.IntN(4)]
		text := []string{"the", "day", fmt.Sprint("n", i)}
		for _, name := range own {
			words := strings.Fields(topics[name])
			text = append(text, words[rng.IntN(4)], words[rng.IntN(4)])
		}
		var quoted []string
		for _, name := range own {
			if rng.IntN(12) > 0 {
				quoted = append(quoted, fmt.Sprintf("%q", name))
			}
		}
		fmt.Fprintf(&b, "{\"text\":%q,\"labels\":[%s]}\n", strings.Join(text, " "), strings.Join(quoted, ","))
	}
	return b.String()
}

// read makes a corpus of lines.
func read(t testing.TB, text, name string, o dataset.Options) *corpus.Corpus {
	t.Helper()
	o.Multilabel = true
	r, err := dataset.NewReader(strings.NewReader(text), name, o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c, err := corpus.ReadFrom(r, corpus.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func train(t testing.TB, c *corpus.Corpus, o Options) *softmax.Model {
	t.Helper()
	m, err := Train(context.Background(), c, c.Rows(), o, softmax.Training{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A model finds none, one or several topics in texts, its probabilities are about as often
// right as they say, and its bytes do not depend on threads.
func TestTrain(t *testing.T) {
	c := read(t, lines(1, 600), "a.jsonl", dataset.Options{})
	m := train(t, c, Options{Seed: 1, Threads: 1})
	if !slices.Equal(m.Labels, []string{"food", "money", "sport", "travel"}) || m.Training.Multilabel.HeldOut == 0 {
		t.Fatalf("labels %q, %+v", m.Labels, m.Training.Multilabel)
	}
	p := m.NewPredictor()
	for text, want := range map[string]string{"the day of the match": "sport", "a tax on bread": "food money", "the day": "", "train ticket to the hotel, goal": "sport travel"} {
		prob, err := p.Probabilities(dataset.Example{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range m.Multilabel.Answer(nil, prob, 0) {
			got = append(got, m.Labels[c])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: answered %q, want %q (%v)", text, got, want, prob)
		}
	}
	var sum, right, n float64
	test := read(t, lines(2, 600), "b.jsonl", dataset.Options{})
	x, err := m.Features.Matrix(test.Table, nil)
	if err == nil && x.Rows() != 0 {
		t.Error("rows of none")
	}
	labels := test.Sets.Matrix(test.Rows(), m.Labels)
	r, err := dataset.NewReader(strings.NewReader(lines(2, 600)), "b.jsonl", dataset.Options{Multilabel: true})
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for e, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		prob, err := p.Probabilities(e)
		if err != nil {
			t.Fatal(err)
		}
		own, _ := labels.Row(i)
		for c, v := range prob {
			n++
			sum += float64(v)
			if slices.Contains(own, int32(c)) {
				right++
			}
		}
		i++
	}
	if math.Abs(sum-right)/n > 0.03 {
		t.Errorf("mean probability %v, and %v of the decisions are right to answer", sum/n, right/n)
	}
	var one, three bytes.Buffer
	if err := errors.Join(m.Write(&one), train(t, c, Options{Seed: 1, Threads: 3}).Write(&three)); err != nil || !bytes.Equal(one.Bytes(), three.Bytes()) {
		t.Errorf("other bytes with three threads than with one, %v", err)
	}
}

// The calibration that is folded into the weights changes no order: the scores are a line of
// the margins of a plain fit.
func TestCalibrationKeepsTheOrder(t *testing.T) {
	c := read(t, lines(3, 200), "a.jsonl", dataset.Options{})
	m := train(t, c, Options{Prior: 1, Seed: 1})
	tr := &trainer{c: c, o: Options{Prior: 1, Seed: 1}, classes: m.Labels}
	ex, err := tr.examples(m.Features, c.Rows())
	if err != nil {
		t.Fatal(err)
	}
	plain, _, err := softmax.Fit(context.Background(), ex, 4, softmax.Options{Trainer: softmax.SquaredHinge{Tolerance: 1e-7, MaxPasses: 2000}, Prior: 1})
	if err != nil {
		t.Fatal(err)
	}
	a, b := make([]float32, len(c.Rows())*4), make([]float32, len(c.Rows())*4)
	marginsOf(plain, ex.X, a, 1)
	marginsOf(m.Layer, ex.X, b, 1)
	// Least squares of b on a.
	var n, sx, sy, sxx, sxy float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	slope := (n*sxy - sx*sy) / (n*sxx - sx*sx)
	for i := range a {
		if off := float64(b[i]) - slope*float64(a[i]) - (sy-slope*sx)/n; math.Abs(off) > 0.15*slope || slope <= 0 {
			t.Fatalf("decision %d: logit %v of margin %v, off a line of slope %v by %v", i, b[i], a[i], slope, off)
		}
	}
}

// histogramOf counts margins of single decisions.
func histogramOf(margins []float32, right []bool) histogram {
	labels := &matrix.Sparse{Columns: 1, Start: []int{0}}
	for _, r := range right {
		if r {
			labels.AppendRow([]int32{0}, []float32{1})
		} else {
			labels.AppendRow(nil, nil)
		}
	}
	return count(margins, labels, 2)
}

// decisions draws margins of which the larger are more often right.
func decisions(seed uint64, n int) (margins []float32, right []bool) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for range n {
		m := rng.NormFloat64()*1.5 - 1
		margins, right = append(margins, float32(m)), append(right, rng.Float64() < 1/(1+math.Exp(-(2.5*m-0.5))))
	}
	return margins, right
}

// The threshold has the micro F1 that is largest of all that there are, but for the width of a
// bin.
func TestBestF1(t *testing.T) {
	for seed := range uint64(20) {
		margins, right := decisions(seed, 60)
		at := func(least float64) float64 {
			var tp, wrong float64
			for i, m := range margins {
				switch answered := float64(m) >= least; {
				case answered && right[i]:
					tp++
				case answered != right[i]:
					wrong++
				}
			}
			return 2 * tp / (2*tp + wrong)
		}
		want := 0.0
		for _, m := range margins {
			want = max(want, at(float64(m)))
		}
		got, f1 := histogramOf(margins, right).bestF1()
		if math.Abs(f1-at(got)) > 1e-12 || math.Abs(f1-want) > 0.02 {
			t.Errorf("seed %d: threshold %v of F1 %v, by definition %v; the largest is %v", seed, got, f1, at(got), want)
		}
	}
	if got, f1 := histogramOf([]float32{-1, 2}, []bool{false, false}).bestF1(); !math.IsInf(got, 1) || f1 != 0 {
		t.Errorf("without labels: %v of F1 %v, want never", got, f1)
	}
}

// The gradient of the log loss vanishes at what platt finds, by central differences, and
// margins of one kind give numbers.
func TestPlatt(t *testing.T) {
	for seed := range uint64(5) {
		margins, right := decisions(seed, 4000)
		h := histogramOf(margins, right)
		a, b := h.platt()
		if math.Abs(a-2.5) > 0.4 || math.Abs(b+0.5) > 0.4 {
			t.Errorf("seed %d: slope %v and offset %v, drawn with 2.5 and -0.5", seed, a, b)
		}
		positive, negative := h.totals()
		loss := func(a, b float64) (sum float64) {
			high, low := (float64(positive)+1)/(float64(positive)+2), 1/(float64(negative)+2)
			for bin := range bins {
				p := 1 / (1 + math.Exp(-(a*middle(bin) + b)))
				for _, part := range []struct {
					n      int
					target float64
				}{{h.positive[bin], high}, {h.negative[bin], low}} {
					if part.n > 0 {
						sum -= float64(part.n) * (part.target*math.Log(p) + (1-part.target)*math.Log(1-p))
					}
				}
			}
			return sum
		}
		const step = 1e-4
		ga, gb := (loss(a+step, b)-loss(a-step, b))/(2*step), (loss(a, b+step)-loss(a, b-step))/(2*step)
		if math.Abs(ga) > 0.05 || math.Abs(gb) > 0.05 {
			t.Errorf("seed %d: a gradient of %v and %v", seed, ga, gb)
		}
	}
	for _, right := range [][]bool{{true, true}, {false, false}} {
		if a, b := histogramOf([]float32{-3, 40}, right).platt(); a != a || b != b || math.IsInf(a, 0) || math.IsInf(b, 0) {
			t.Errorf("of one kind: %v and %v", a, b)
		}
	}
}

// Each class gets the threshold of its best F1, those with few labels keep that of all.
func TestPerClass(t *testing.T) {
	const k, n = 3, 240
	margins := make([]float32, n*k)
	labels := &matrix.Sparse{Columns: k, Start: []int{0}}
	rng := rand.New(rand.NewPCG(4, 0))
	for i := range n {
		var own []int32
		for c := range k {
			margins[i*k+c] = float32(rng.NormFloat64())
			if c < 2 && float64(margins[i*k+c])+rng.NormFloat64() > float64(c) || c == 2 && i < leastHeldOut-1 {
				own = append(own, int32(c))
			}
		}
		value := make([]float32, len(own))
		for j := range value {
			value[j] = 1
		}
		labels.AppendRow(own, value)
	}
	threshold := []float64{9, 9, 9}
	perClass(threshold, margins, labels, 2)
	if threshold[2] != 9 {
		t.Errorf("%d labels gave a threshold of %v, want that of all", leastHeldOut-1, threshold[2])
	}
	for c := range 2 {
		at := func(least float64) float64 {
			var tp, wrong float64
			for i := range n {
				own, _ := labels.Row(i)
				answered, right := float64(margins[i*k+c]) >= least, slices.Contains(own, int32(c))
				if answered && right {
					tp++
				} else if answered != right {
					wrong++
				}
			}
			return 2 * tp / (2*tp + wrong)
		}
		best := 0.0
		for i := range n {
			best = max(best, at(float64(margins[i*k+c])))
		}
		if got := at(threshold[c]); math.Abs(got-best) > 1e-12 {
			t.Errorf("class %d: threshold %v of F1 %v, the largest is %v", c, threshold[c], got, best)
		}
	}
}

// What is at the edge of having something to learn from trains, or is refused in one line.
func TestEdges(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"no label at all":             {`{"text":"x y","labels":[]}` + "\n" + `{"text":"z","labels":[]}` + "\n", "no example has a label"},
		"one label on every row":      {strings.Repeat(`{"text":"x y","labels":["a"]}`+"\n", 30), ""},
		"all labels on every row":     {strings.Repeat(`{"text":"x y","labels":["a","b","c"]}`+"\n", 30), ""},
		"two rows":                    {`{"text":"x y","labels":["a"]}` + "\n" + `{"text":"z","labels":[]}` + "\n", ""},
		"a label of one row":          {lines(5, 100) + `{"text":"x y","labels":["rare"]}` + "\n", ""},
		"texts that are all the same": {strings.Repeat(`{"text":"x y","labels":["a"]}`+"\n"+`{"text":"x y","labels":["b"]}`+"\n", 30), ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := read(t, tc.text, "a.jsonl", dataset.Options{})
			for _, thresholds := range []Thresholds{Global, PerClass} {
				m, err := Train(context.Background(), c, c.Rows(), Options{Thresholds: thresholds}, softmax.Training{})
				if tc.want != "" {
					if err == nil || !strings.Contains(err.Error(), tc.want) || !errors.Is(err, ErrNoLabels) {
						t.Errorf("error %v, want %q", err, tc.want)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				p, err := m.NewPredictor().Probabilities(dataset.Example{Text: "x y"})
				for _, v := range p {
					if err != nil || !(v >= 0 && v <= 1) {
						t.Errorf("probabilities %v, %v", p, err)
					}
				}
			}
		})
	}
}

// Weights, numbers and sparse features train, too, and what does not fit the memory says so.
func TestKinds(t *testing.T) {
	heavy := read(t, strings.ReplaceAll(lines(6, 60), "}\n", ",\"w\":2}\n"), "a.jsonl", dataset.Options{Weight: "w"})
	train(t, heavy, Options{})
	sparse := read(t, "4 3 2\n0,1 0:1 2:1\n1 1:1\n 2:0.5\n0 0:2\n", "a.txt", dataset.Options{})
	if m := train(t, sparse, Options{}); !slices.Equal(m.Labels, []string{"0", "1"}) || m.Features.Dim() != 3 {
		t.Errorf("labels %q, %d features", m.Labels, m.Features.Dim())
	}
	numbers := read(t, "a,b,label\n1,2,x;y\n2,1,\n0,2,y\n", "a.csv", dataset.Options{LabelSeparator: ";"})
	train(t, numbers, Options{})
	numbers.Memory = 64 << 20
	if _, err := NeedOf(numbers, 1e6, 1e4); !errors.Is(err, corpus.ErrMemory) {
		t.Errorf("a million rows of 10,000 classes in 64 MB: %v", err)
	}
	for _, o := range []Options{{Prior: -1}, {Prior: math.NaN()}, {Thresholds: "none"}, {Threads: -1}} {
		if _, err := Train(context.Background(), numbers, numbers.Rows(), o, softmax.Training{}); err == nil {
			t.Errorf("trained with %+v", o)
		}
	}
	single, _, err := corpus.Read([]string{"../testdata/questions.csv"}, dataset.Options{}, corpus.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Train(context.Background(), single, single.Rows(), Options{}, softmax.Training{}); err == nil || !strings.Contains(err.Error(), "Multilabel") {
		t.Errorf("a corpus of one class a row: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Train(ctx, heavy, heavy.Rows(), Options{}, softmax.Training{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func ExampleTrain() {
	text := strings.Repeat(`{"text":"a grey wolf in the wood","labels":["wild","grey"]}
{"text":"a grey stone","labels":["grey"]}
{"text":"a red fox in the wood","labels":["wild"]}
{"text":"a red brick","labels":[]}
`, 10)
	r, err := dataset.NewReader(strings.NewReader(text), "a.jsonl", dataset.Options{Multilabel: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := corpus.ReadFrom(r, corpus.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := Train(context.Background(), c, c.Rows(), Options{}, softmax.Training{})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := m.NewPredictor().Probabilities(dataset.Example{Text: "grey, and in the wood"})
	for _, n := range m.Multilabel.Answer(nil, p, 0) {
		fmt.Println(m.Labels[n])
	}
	fmt.Println(err)
	// Output:
	// grey
	// wild
	// <nil>
}

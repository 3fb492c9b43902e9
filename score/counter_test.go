package score

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/matrix"
)

// example is one row of a test set.
type example struct {
	truth int
	p     []float32
}

// randomExamples draws n examples of k classes; coarse probabilities make ties
// frequent, and about one label in ten is Unknown.
func randomExamples(seed uint64, n, k int) []example {
	rng := rand.New(rand.NewPCG(seed, 7))
	list := make([]example, n)
	for i := range list {
		p, sum := make([]float32, k), float32(0)
		for sum == 0 {
			for j := range p {
				p[j] = float32(rng.IntN(4))
				sum += p[j]
			}
		}
		for j := range p {
			p[j] /= sum
		}
		list[i] = example{rng.IntN(k), p}
		if rng.IntN(10) == 0 {
			list[i].truth = Unknown
		}
	}
	return list
}

func counter(t testing.TB, k int, options Options, examples []example) *Counter {
	t.Helper()
	c, err := NewCounter(k, options)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range examples {
		if err := c.Add(e.truth, e.p); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func oneHot(k, j int) []float32 {
	p := make([]float32, k)
	p[j] = 1
	return p
}

func certain(k int, pairs ...[2]int) []example {
	var list []example
	for _, pair := range pairs {
		list = append(list, example{pair[0], oneHot(k, pair[1])})
	}
	return list
}

func randomVectors(rng *rand.Rand, k, d int) *matrix.Dense {
	m := matrix.NewDense(k, d)
	for i := range m.Data {
		m.Data[i] = float32(rng.NormFloat64())
	}
	return m
}

func near(a, b float64) bool {
	return math.Abs(a-b) <= 1e-9 || math.IsNaN(a) && math.IsNaN(b)
}

// plain computes a Report with the n x k table of probabilities in hand.
func plain(examples []example, k int, s *Similarity) Report {
	nan := math.NaN()
	r := Report{nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, len(examples), k, 0, 0}
	n := float64(len(examples))
	if n == 0 {
		return r
	}
	r.Accuracy, r.Top5Accuracy, r.CalibrationError = 0, 0, 0
	similarity, loss := 0.0, 0.0
	predicted := make([]int, len(examples))
	for i, e := range examples {
		order := make([]int, k)
		for j := range order {
			order[j] = j
		}
		sort.SliceStable(order, func(a, b int) bool { return e.p[order[a]] > e.p[order[b]] })
		predicted[i] = order[0]
		if e.truth == Unknown {
			r.Unknown++
			continue
		}
		if order[0] == e.truth {
			r.Accuracy += 1 / n
		}
		if slices.Contains(order[:min(5, k)], e.truth) {
			r.Top5Accuracy += 1 / n
		}
		if s != nil {
			similarity += s.Cosine(e.truth, order[0]) / n
		}
		p := float64(e.p[e.truth])
		if p == 0 {
			p = math.SmallestNonzeroFloat32
			r.Clipped++
		}
		loss -= math.Log(p)
	}
	if s != nil {
		r.SimilarityAccuracy = similarity
	}
	if r.Unknown < len(examples) {
		r.LogLoss = loss / float64(len(examples)-r.Unknown)
	}
	r.MacroF1, r.WeightedF1 = 0, 0
	var occurring float64
	for j := range k {
		var both, either float64
		for i, e := range examples {
			if e.truth == j && predicted[i] == j {
				both++
			}
			if e.truth == j {
				either++
			}
			if predicted[i] == j {
				either++
			}
		}
		if either == 0 {
			continue
		}
		occurring++
		r.MacroF1 += 2 * both / either
		for _, e := range examples {
			if e.truth == j {
				r.WeightedF1 += 2 * both / either / n
			}
		}
	}
	r.MacroF1 /= occurring
	for b := range 15 {
		var confidence, right float64
		for i, e := range examples {
			p := float64(e.p[predicted[i]])
			if inBin := p >= float64(b)/15 && (p < float64(b+1)/15 || b == 14); !inBin {
				continue
			}
			confidence += p / n
			if e.truth == predicted[i] {
				right += 1 / n
			}
		}
		r.CalibrationError += math.Abs(confidence - right)
	}
	return r
}

func compareReports(t *testing.T, got, want Report) {
	t.Helper()
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := range g.NumField() {
		name := g.Type().Field(i).Name
		if g.Field(i).CanFloat() {
			if !near(g.Field(i).Float(), w.Field(i).Float()) {
				t.Errorf("%s = %v, want %v", name, g.Field(i), w.Field(i))
			}
		} else if g.Field(i).Int() != w.Field(i).Int() {
			t.Errorf("%s = %v, want %v", name, g.Field(i), w.Field(i))
		}
	}
}

// identical tells whether two reports agree to the last bit; one not known is
// like another.
func identical(a, b Report) bool {
	v, w := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range v.NumField() {
		x, y := v.Field(i), w.Field(i)
		if !x.Equal(y) && !(x.CanFloat() && math.IsNaN(x.Float()) && math.IsNaN(y.Float())) {
			return false
		}
	}
	return true
}

func TestReportAgainstPlain(t *testing.T) {
	for _, tc := range []struct {
		name string
		n, k int
	}{
		{"no examples", 0, 3}, {"one class", 20, 1}, {"two classes", 100, 2},
		{"fewer than five", 100, 4}, {"more than five", 300, 12}, {"most classes absent", 10, 50},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := NewSimilarity(randomVectors(rand.New(rand.NewPCG(3, 3)), tc.k, 4))
			if err != nil {
				t.Fatal(err)
			}
			examples := randomExamples(11, tc.n, tc.k)
			compareReports(t, counter(t, tc.k, Options{Similarity: s}, examples).Report(), plain(examples, tc.k, s))
			compareReports(t, counter(t, tc.k, Options{}, examples).Report(), plain(examples, tc.k, nil))
		})
	}
}

// Truth 0 1 2 0 1 2, prediction 0 2 1 0 0 1: F1 is 0.8, 0 and 0, the example
// in scikit-learn's documentation of f1_score (macro 0.266..., weighted 0.26...).
func TestWorkedByHand(t *testing.T) {
	c := counter(t, 4, Options{KeepRows: true}, certain(4, [2]int{0, 0}, [2]int{1, 2}, [2]int{2, 1}, [2]int{0, 0}, [2]int{1, 0}, [2]int{2, 1}))
	r := c.Report()
	if !near(r.Accuracy, 2.0/6) || !near(r.MacroF1, 0.8/3) || !near(r.WeightedF1, 0.8/3) {
		t.Errorf("accuracy %v, macro F1 %v, weighted F1 %v; want 1/3, 0.8/3, 0.8/3", r.Accuracy, r.MacroF1, r.WeightedF1)
	}
	if !math.IsNaN(r.SimilarityAccuracy) {
		t.Errorf("similarity accuracy %v without a similarity, want NaN", r.SimilarityAccuracy)
	}
	want := []Class{
		{0, 2, 3, 2.0 / 3, 1, 0.8}, {1, 2, 2, 0, 0, 0}, {2, 2, 1, 0, 0, 0}, {3, 0, 0, 0, 0, 0},
	}
	if got := c.Classes(); !slices.Equal(got, want) {
		t.Errorf("classes %v, want %v", got, want)
	}
	confusions := []Confusion{{2, 1, 2}, {1, 0, 1}, {1, 2, 1}}
	if got := c.Confusions(-1); !slices.Equal(got, confusions) {
		t.Errorf("confusions %v, want %v", got, confusions)
	}
	if got := c.Confusions(2); !slices.Equal(got, confusions[:2]) {
		t.Errorf("two confusions: %v, want %v", got, confusions[:2])
	}
	if want := []bool{true, false, false, true, false, false}; !slices.Equal(c.Correct(), want) {
		t.Errorf("correct %v, want %v", c.Correct(), want)
	}
}

// Three of four sure predictions right, and two at 0.6 of which one is right:
// (4*|0.75-1| + 2*|0.5-0.6|)/6 = 0.2.
func TestCalibrationWorkedByHand(t *testing.T) {
	examples := certain(2, [2]int{0, 0}, [2]int{1, 1}, [2]int{1, 1}, [2]int{Unknown, 0})
	examples = append(examples, example{0, []float32{0.6, 0.4}}, example{1, []float32{0.6, 0.4}})
	c := counter(t, 2, Options{}, examples)
	if got := c.Report().CalibrationError; math.Abs(got-0.2) > 1e-7 {
		t.Errorf("calibration error %v, want 0.2", got)
	}
	bins := c.Calibration()
	if len(bins) != 15 || bins[14].Examples != 4 || bins[14].Accuracy != 0.75 || bins[14].Confidence != 1 || bins[9].Examples != 2 || bins[0] != (Bin{High: 1.0 / 15}) {
		t.Errorf("bins %+v", bins)
	}
	want := -(math.Log(float64(float32(0.6))) + math.Log(float64(float32(0.4)))) / 5
	if got := c.Report().LogLoss; !near(got, want) {
		t.Errorf("log loss %v, want %v over the five known labels", got, want)
	}
}

func TestIdentities(t *testing.T) {
	const k = 9
	var known []example
	for _, e := range randomExamples(5, 400, k) {
		if e.truth != Unknown {
			known = append(known, e)
		}
	}
	orthogonal := matrix.NewDense(k, k)
	for j := range k {
		orthogonal.Row(j)[j] = float32(j + 1)
	}
	s, err := NewSimilarity(orthogonal)
	if err != nil {
		t.Fatal(err)
	}
	c := counter(t, k, Options{Similarity: s}, known)
	r := c.Report()
	if r.SimilarityAccuracy != r.Accuracy {
		t.Errorf("similarity accuracy %v with orthogonal vectors, want the accuracy %v", r.SimilarityAccuracy, r.Accuracy)
	}
	var hits, support, predicted, recall float64
	for _, class := range c.Classes() {
		hits += class.Recall * float64(class.Support)
		support += float64(class.Support)
		predicted += float64(class.Predicted)
		recall += class.Recall * float64(class.Support) / float64(len(known))
	}
	if micro := 2 * hits / (support + predicted); !near(micro, r.Accuracy) || !near(recall, r.Accuracy) {
		t.Errorf("micro F1 %v, weighted recall %v, want the accuracy %v", micro, recall, r.Accuracy)
	}
	mistakes := 0
	for _, m := range c.Confusions(-1) {
		mistakes += m.Count
	}
	if mistakes != len(known)-int(math.Round(hits)) {
		t.Errorf("%d mistakes and %v hits of %d examples", mistakes, hits, len(known))
	}

	slanted, err := NewSimilarity(randomVectors(rand.New(rand.NewPCG(1, 1)), k, 3))
	if err != nil {
		t.Fatal(err)
	}
	right := certain(k, [2]int{0, 0}, [2]int{8, 8}, [2]int{3, 3})
	if got := counter(t, k, Options{Similarity: slanted}, right).Report().SimilarityAccuracy; got != 1 {
		t.Errorf("similarity accuracy %v with all right, want 1", got)
	}
	wrong := append(right, certain(k, [2]int{3, 4})...)
	if got := counter(t, k, Options{Similarity: slanted}, wrong).Report().SimilarityAccuracy; got >= 1 {
		t.Errorf("similarity accuracy %v with one wrong, want less than 1", got)
	}
}

// Order, and the split over merged counters, change not one bit.
func TestOrderAndMergeChangeNothing(t *testing.T) {
	const k = 8
	rng := rand.New(rand.NewPCG(9, 9))
	s, err := NewSimilarity(randomVectors(rng, k, 5))
	if err != nil {
		t.Fatal(err)
	}
	options := Options{Similarity: s, KeepRows: true}
	examples := randomExamples(2, 500, k)
	whole := counter(t, k, options, examples)
	want := whole.Report()

	merged := counter(t, k, options, examples[:77])
	if err := merged.Merge(counter(t, k, options, examples[77:])); err != nil {
		t.Fatal(err)
	}
	if got := merged.Report(); !identical(got, want) {
		t.Errorf("merged: %+v, want %+v", got, want)
	}
	if !reflect.DeepEqual(merged, whole) {
		t.Error("a merged counter differs from a whole one")
	}
	text, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	read := counter(t, k, options, examples[:5])
	if err := json.Unmarshal(text, read); err != nil || !reflect.DeepEqual(read, whole) {
		t.Errorf("read from JSON: %+v, error %v, want %+v", read, err, whole)
	}
	for _, bad := range []string{`{"classes":7}`, `{"classes":8,"support":[1]}`, strings.Replace(string(text), `"wrong":[[0,`, `"wrong":[[8,`, 1)} {
		if err := json.Unmarshal([]byte(bad), read); err == nil {
			t.Errorf("%.40s was read as counts of %d classes", bad, k)
		}
	}
	rng.Shuffle(len(examples), func(i, j int) { examples[i], examples[j] = examples[j], examples[i] })
	if got := counter(t, k, options, examples).Report(); !identical(got, want) {
		t.Errorf("shuffled: %+v, want %+v", got, want)
	}
}

func TestFloat64AgreesWithFloat32(t *testing.T) {
	const k = 6
	examples := randomExamples(4, 100, k)
	want := counter(t, k, Options{}, examples).Report()
	c, _ := NewCounter(k, Options{})
	for _, e := range examples {
		p := make([]float64, k)
		for j := range p {
			p[j] = float64(e.p[j])
		}
		if err := Count(c, e.truth, Mix{}, p, nil); err != nil {
			t.Fatal(err)
		}
	}
	compareReports(t, c.Report(), want)
}

func TestTiesGoToTheLowestIndex(t *testing.T) {
	const k = 8
	p := slices.Repeat([]float32{1.0 / k}, k)
	for truth := range k {
		r := counter(t, k, Options{}, []example{{truth, p}}).Report()
		if right := r.Accuracy == 1; right != (truth == 0) {
			t.Errorf("truth %d: accuracy %v", truth, r.Accuracy)
		}
		if inTop := r.Top5Accuracy == 1; inTop != (truth < 5) {
			t.Errorf("truth %d: top-5 accuracy %v", truth, r.Top5Accuracy)
		}
	}
}

func TestRefusals(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	two, err := NewSimilarity(matrix.NewDense(2, 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name  string
		truth int
		p     []float32
		want  string
	}{
		{"truth too large", 2, []float32{1, 0}, "true class 2, want 0 to 1"},
		{"truth below -1", -2, []float32{1, 0}, "true class -2"},
		{"too few", 0, []float32{1}, "1 probabilities, want one for each of the 2"},
		{"too many", 0, []float32{1, 0, 0}, "3 probabilities"},
		{"NaN", 0, []float32{nan, 1}, "probability NaN of class 0"},
		{"infinite", 0, []float32{0, inf}, "probability +Inf of class 1"},
		{"negative", 0, []float32{-0.1, 1}, "probability -0.1 of class 0"},
		{"scores", 0, []float32{7, -2}, "probability 7 of class 0"},
		{"not normalised", 0, []float32{0.2, 0.2}, "sum to 0.4"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := counter(t, 2, Options{Similarity: two, KeepRows: true}, certain(2, [2]int{1, 1}))
			before := c.Report()
			err := c.Add(tc.truth, tc.p)
			if err == nil || !strings.HasPrefix(err.Error(), "score: example 1: ") || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an error on example 1 with %q", err, tc.want)
			}
			if !identical(c.Report(), before) || len(c.Correct()) != 1 {
				t.Error("the refused example was counted")
			}
		})
	}
	if _, err := NewCounter(0, Options{}); err == nil {
		t.Error("no classes: want an error")
	}
	s, _ := NewSimilarity(matrix.NewDense(3, 2))
	if _, err := NewCounter(2, Options{Similarity: s}); err == nil || !strings.Contains(err.Error(), "of 3 classes, want 2") {
		t.Errorf("similarity of other classes: %v", err)
	}
	a, _ := NewCounter(2, Options{})
	b, _ := NewCounter(3, Options{})
	if err := a.Merge(b); err == nil {
		t.Error("merge of counters of 2 and 3 classes: want an error")
	}
}

func TestJSON(t *testing.T) {
	s, _ := NewSimilarity(matrix.NewDense(2, 1))
	for _, tc := range []struct {
		name     string
		options  Options
		examples []example
		want     string
	}{
		{"nothing known", Options{Similarity: s}, nil,
			`{"accuracy":null,"top5_accuracy":null,"macro_f1":null,"weighted_f1":null,"similarity_accuracy":null,"log_loss":null,"calibration_error":null,"mistake_severity":null,"hierarchical_distance_1":null,"hierarchical_distance_5":null,"hierarchical_distance_20":null,"hierarchical_precision":null,"hierarchical_recall":null,"hierarchical_f1":null,"examples":0,"classes":2,"unknown_labels":0,"log_loss_clipped":0}`},
		{"unknown only", Options{}, certain(2, [2]int{Unknown, 0}),
			`{"accuracy":0,"top5_accuracy":0,"macro_f1":0,"weighted_f1":0,"similarity_accuracy":null,"log_loss":null,"calibration_error":1,"mistake_severity":null,"hierarchical_distance_1":null,"hierarchical_distance_5":null,"hierarchical_distance_20":null,"hierarchical_precision":null,"hierarchical_recall":null,"hierarchical_f1":null,"examples":1,"classes":2,"unknown_labels":1,"log_loss_clipped":0}`},
		{"probability 0 costs 149 log 2", Options{Similarity: s}, certain(2, [2]int{1, 0}),
			`{"accuracy":0,"top5_accuracy":1,"macro_f1":0,"weighted_f1":0,"similarity_accuracy":0,"log_loss":103.27892990343207,"calibration_error":1,"mistake_severity":null,"hierarchical_distance_1":null,"hierarchical_distance_5":null,"hierarchical_distance_20":null,"hierarchical_precision":null,"hierarchical_recall":null,"hierarchical_f1":null,"examples":1,"classes":2,"unknown_labels":0,"log_loss_clipped":1}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := counter(t, 2, tc.options, tc.examples).Report()
			got, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
			var back Report
			if err := json.Unmarshal(got, &back); err != nil {
				t.Fatal(err)
			}
			compareReports(t, back, r)
		})
	}
	var r Report
	if err := json.Unmarshal([]byte(`{"accuracy":"high"}`), &r); err == nil {
		t.Error("a text for a rate: want an error")
	}
}

// FuzzCounter compares the Counter with the plain computation.
func FuzzCounter(f *testing.F) {
	f.Add(uint64(1), uint8(30), uint8(4))
	f.Add(uint64(2), uint8(0), uint8(1))
	f.Add(uint64(3), uint8(200), uint8(40))
	f.Fuzz(func(t *testing.T, seed uint64, n, k uint8) {
		classes := max(int(k), 1)
		s, err := NewSimilarity(randomVectors(rand.New(rand.NewPCG(seed, 1)), classes, 3))
		if err != nil {
			t.Fatal(err)
		}
		examples := randomExamples(seed, int(n), classes)
		compareReports(t, counter(t, classes, Options{Similarity: s}, examples).Report(), plain(examples, classes, s))
	})
}

// FuzzAdd: whatever the numbers, Add counts the example or refuses it, and the
// Report stays within its ranges.
func FuzzAdd(f *testing.F) {
	f.Add(0, float32(0.5), float32(0.25), float32(0.25))
	f.Add(-1, float32(math.NaN()), float32(1e30), float32(-1))
	f.Add(2, float32(1), float32(1e-45), float32(0))
	f.Fuzz(func(t *testing.T, truth int, a, b, c float32) {
		count, _ := NewCounter(3, Options{})
		err := count.Add(truth, []float32{a, b, c})
		r := count.Report()
		if (err == nil) != (r.Examples == 1) {
			t.Fatalf("error %v with %d examples", err, r.Examples)
		}
		for _, rate := range []float64{r.Accuracy, r.Top5Accuracy, r.MacroF1, r.WeightedF1} {
			if err == nil && !(rate >= 0 && rate <= 1) {
				t.Errorf("rate %v", rate)
			}
		}
		if r.LogLoss < 0 || r.LogLoss > 104 {
			t.Errorf("log loss %v", r.LogLoss)
		}
		if _, err := json.Marshal(r); err != nil {
			t.Error(err)
		}
	})
}

package score

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"
)

// multiExample is one example for a Multilabel.
type multiExample struct {
	truth   []int32
	unknown int
	answer  []int32
	p       []float32
}

// multiExamples draws examples: some without labels, some with all, some with labels that were
// never trained, scores with ties.
func multiExamples(seed uint64, n, k int) []multiExample {
	rng := rand.New(rand.NewPCG(seed, 0))
	list := make([]multiExample, n)
	for i := range list {
		e := &list[i]
		for c := range int32(k) {
			if i%10 == 9 || i%10 > 1 && rng.IntN(4) == 0 {
				e.truth = append(e.truth, c)
			}
			if i%7 != 0 && rng.IntN(3) == 0 {
				e.answer = append(e.answer, c)
			}
			e.p = append(e.p, float32(rng.IntN(6))/8)
		}
		e.unknown = max(0, rng.IntN(8)-6)
		if i%3 == 0 {
			e.answer = e.truth
		}
	}
	return list
}

// byDefinition computes each metric as it is written down, with sets and full sorts.
func byDefinition(list []multiExample, k int, propensity []float64) map[string]float64 {
	has := func(set []int32, c int) float64 {
		if slices.Contains(set, int32(c)) {
			return 1
		}
		return 0
	}
	out := map[string]float64{}
	labelled := 0.0
	for _, e := range list {
		if len(e.truth)+e.unknown > 0 {
			labelled++
		}
	}
	for _, cut := range Cuts {
		var precision, ndcg, psp, most float64
		for _, e := range list {
			labels := len(e.truth) + e.unknown
			if labels == 0 {
				continue
			}
			order := make([]int, k)
			for c := range order {
				order[c] = c
			}
			sort.SliceStable(order, func(a, b int) bool { return e.p[order[a]] > e.p[order[b]] })
			var dcg, ideal float64
			for i := range min(cut, k) {
				y := has(e.truth, order[i])
				precision += y / float64(cut)
				dcg += y / math.Log2(float64(i)+2)
				psp += y / propensity[order[i]] / float64(cut)
			}
			for i := range min(cut, labels) {
				ideal += 1 / math.Log2(float64(i)+2)
			}
			ndcg += dcg / ideal
			var gains []float64
			for _, c := range e.truth {
				gains = append(gains, 1/propensity[c])
			}
			sort.Sort(sort.Reverse(sort.Float64Slice(gains)))
			for i := range min(cut, len(gains)) {
				most += gains[i] / float64(cut)
			}
		}
		out[fmt.Sprintf("precision_at_%d", cut)] = precision / labelled
		out[fmt.Sprintf("ndcg_at_%d", cut)] = ndcg / labelled
		out[fmt.Sprintf("propensity_scored_precision_at_%d", cut)] = psp / most
	}
	var tp, fp, fn, macro, classes, exact float64
	for c := range k {
		var hit, extra, missed float64
		for _, e := range list {
			y, a := has(e.truth, c), has(e.answer, c)
			hit, extra, missed = hit+y*a, extra+(1-y)*a, missed+y*(1-a)
		}
		tp, fp, fn = tp+hit, fp+extra, fn+missed
		if hit+extra+missed > 0 {
			classes++
			macro += 2 * hit / (2*hit + extra + missed)
		}
	}
	for _, e := range list {
		fn += float64(e.unknown)
		if e.unknown == 0 && slices.Equal(e.truth, e.answer) {
			exact++
		}
	}
	out["micro_precision"], out["micro_recall"], out["micro_f1"] = tp/(tp+fp), tp/(tp+fn), 2*tp/(2*tp+fp+fn)
	out["macro_f1"], out["subset_accuracy"] = macro/classes, exact/float64(len(list))
	return out
}

// Each metric is that of its definition, for fewer classes than cuts, too, and whether the
// examples are counted by one counter or by two.
func TestMultilabelMetrics(t *testing.T) {
	for _, k := range []int{1, 2, 4, 12} {
		list := multiExamples(uint64(k), 200, k)
		count := make([]int32, k)
		for c := range count {
			count[c] = int32(c * c)
		}
		propensity := Propensities(count, 500)
		whole, err := NewMultilabel(k, propensity)
		if err != nil {
			t.Fatal(err)
		}
		first, _ := NewMultilabel(k, propensity)
		second, _ := NewMultilabel(k, propensity)
		for i, e := range list {
			part := first
			if i >= 77 {
				part = second
			}
			for _, m := range []*Multilabel{whole, part} {
				if err := m.Add(e.truth, e.unknown, e.answer, e.p); err != nil {
					t.Fatal(err)
				}
			}
		}
		text, err := json.Marshal(first) // as from another process
		if err != nil {
			t.Fatal(err)
		}
		if first, _ = NewMultilabel(k, propensity); json.Unmarshal(text, first) != nil || second.Merge(first) != nil {
			t.Fatalf("k = %d: %s is not read, or not merged", k, text)
		}
		if json.Unmarshal([]byte(`{"support":[]}`), first) == nil {
			t.Error("counts of no class were read")
		}
		want := byDefinition(list, k, propensity)
		for _, m := range MultilabelMetrics() {
			got := m.Of(whole.Report())
			if math.Abs(got-want[m.Key]) > 1e-6 {
				t.Errorf("k = %d: %s is %v, want %v", k, m.Key, got, want[m.Key])
			}
			if merged := m.Of(second.Report()); merged != got {
				t.Errorf("k = %d: %s is %v merged, %v at once", k, m.Key, merged, got)
			}
		}
	}
}

// The propensities are those of the paper's formula, and rare labels have lower ones.
func TestPropensities(t *testing.T) {
	got := Propensities([]int32{0, 1, 100, 1e6}, 1e6)
	c := (math.Log(1e6) - 1) * math.Pow(2.5, 0.55)
	for i, n := range []float64{0, 1, 100, 1e6} {
		if want := 1 / (1 + c*math.Exp(-0.55*math.Log(n+1.5))); math.Abs(got[i]-want) > 1e-12 || i > 0 && got[i] <= got[i-1] {
			t.Errorf("propensity of %v examples: %v, want %v, above %v", n, got[i], want, got[max(i-1, 0)])
		}
	}
	for _, p := range Propensities([]int32{0, 2}, 2) {
		if p != 1 {
			t.Errorf("of two examples: %v, want 1", p)
		}
	}
}

// Without examples or propensities a rate is not known, null in JSON.
func TestMultilabelUnknown(t *testing.T) {
	m, err := NewMultilabel(3, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(m.Report())
	if err != nil || !strings.Contains(string(text), `"precision_at_1":null`) || !strings.Contains(string(text), `"subset_accuracy":null`) {
		t.Errorf("%s %v", text, err)
	}
	if err := m.Add(nil, 0, nil, []float32{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	r := m.Report()
	if r.SubsetAccuracy != 1 || r.Precision[0] == r.Precision[0] || r.PSP[0] == r.PSP[0] || r.Examples != 1 || r.Labelled != 0 {
		t.Errorf("an example without labels, answered with none: %+v", r)
	}
	var back map[string]any
	if text, err = json.Marshal(r); err != nil || json.Unmarshal(text, &back) != nil || back["subset_accuracy"] != 1.0 {
		t.Errorf("%s: %v %v", text, back, err)
	}
}

func TestMultilabelRefuses(t *testing.T) {
	for _, k := range []int{0, -1} {
		if _, err := NewMultilabel(k, nil); err == nil {
			t.Errorf("a counter of %d classes", k)
		}
	}
	for _, p := range [][]float64{{1}, {1, 0}, {1, 2}, {1, math.NaN()}} {
		if _, err := NewMultilabel(2, p); err == nil {
			t.Errorf("propensities %v", p)
		}
	}
	m, _ := NewMultilabel(2, nil)
	p := []float32{0.1, 0.2}
	for name, e := range map[string]multiExample{
		"a class too many":       {truth: []int32{2}, p: p},
		"a negative class":       {answer: []int32{-1}, p: p},
		"a class twice":          {truth: []int32{1, 1}, p: p},
		"descending classes":     {answer: []int32{1, 0}, p: p},
		"a probability missing":  {p: p[:1]},
		"NaN":                    {p: []float32{0, float32(math.NaN())}},
		"fewer labels than none": {unknown: -1, p: p},
	} {
		if err := m.Add(e.truth, e.unknown, e.answer, e.p); err == nil || m.Report().Examples != 0 {
			t.Errorf("%s: counted, %v", name, err)
		}
	}
	other, _ := NewMultilabel(3, nil)
	if m.Merge(other) == nil {
		t.Error("merged with one of three classes")
	}
}

func ExampleMultilabel() {
	m, err := NewMultilabel(4, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	// Of labels 1 and 3 the first is answered, beside 0.
	if err := m.Add([]int32{1, 3}, 0, []int32{0, 1}, []float32{0.6, 0.9, 0.1, 0.2}); err != nil {
		fmt.Println(err)
		return
	}
	r := m.Report()
	fmt.Printf("precision at 1 and 3: %.2f, %.2f; micro F1 %.2f\n", r.Precision[0], r.Precision[1], r.MicroF1)
	// Output: precision at 1 and 3: 1.00, 0.67; micro F1 0.50
}

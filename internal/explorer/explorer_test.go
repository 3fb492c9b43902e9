package explorer

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/evaluate"
	"github.com/treeloss/treeloss/internal/report"
	"github.com/treeloss/treeloss/softmax"
)

// The examples that are kept are those that sorting all of them would choose.
func TestKeeper(t *testing.T) {
	labels := []string{"a", "b", "c", "d"}
	random := rand.New(rand.NewPCG(3, 3))
	q := newKeeper(labels)
	q.mostWrong, q.mostRight = 3, 2
	var all []evaluate.Row
	for i := range 400 {
		p := float32(random.IntN(40)) / 40 // with ties
		r := evaluate.Row{Place: fmt.Sprint("f:", i), Label: labels[random.IntN(4)], Predicted: labels[random.IntN(4)], Probability: p, LabelProbability: &p}
		r.Right = r.Label == r.Predicted
		all = append(all, r)
		q.add(r)
	}
	q.add(evaluate.Row{Label: "unknown", Predicted: "a"})
	for c, label := range labels {
		for _, right := range []bool{true, false} {
			rows := slices.DeleteFunc(slices.Clone(all), func(r evaluate.Row) bool { return r.Label != label || r.Right != right })
			slices.SortStableFunc(rows, func(a, b evaluate.Row) int {
				switch {
				case a.Probability > b.Probability:
					return -1
				case a.Probability < b.Probability:
					return 1
				}
				return 0
			})
			var want []string
			cell := map[string]int{}
			for _, r := range rows {
				if cell[r.Predicted]++; right || cell[r.Predicted] <= mostCell {
					want = append(want, r.Place)
				}
			}
			got, most := q.right[c], 2
			if !right {
				got, most = q.wrong[c], 3
			}
			want = want[:min(len(want), most)]
			var places []string
			for _, x := range got {
				places = append(places, x.Place)
			}
			if !slices.Equal(places, want) {
				t.Errorf("class %s, right %v: kept %v, want %v", label, right, places, want)
			}
		}
	}
}

// numbers reads a column of JSON.
func numbers(t *testing.T, v any) (out []int) {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(v.(string))
	if err != nil {
		t.Fatal(err)
	}
	for ; len(b) > 0; b = b[4:] {
		out = append(out, int(int32(binary.LittleEndian.Uint32(b))))
	}
	return out
}

// The first piece has the tree and the counts of a plain pass over the examples.
func TestStart(t *testing.T) {
	e, m, path := measuredSmall(t, 24)
	data, err := e.Piece(context.Background(), "start")
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Parent, Class any
		Names         []string
		Data          struct {
			Examples, Unknown         int
			Support, Right, Predicted any
		}
	}
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	k := len(m.About().Labels)
	support, right, predicted := make([]int, k), make([]int, k), make([]int, k)
	unknown := 0
	err = open(t, m, path).Each(context.Background(), func(int, int, dataset.Example, []float32) error { return nil }, func(block []dataset.Example) error {
		for _, x := range block {
			c := slices.Index(m.About().Labels, x.Label)
			if c < 0 {
				unknown++
				continue
			}
			p, err := classify.LinearModelOf(m).NewPredictor().Probabilities(x)
			if err != nil {
				return err
			}
			best := softmax.Top(p)
			support[c]++
			predicted[best]++
			if best == c {
				right[c]++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for what, pair := range map[string][2][]int{"support": {numbers(t, s.Data.Support), support}, "right": {numbers(t, s.Data.Right), right}, "predicted": {numbers(t, s.Data.Predicted), predicted}} {
		if !slices.Equal(pair[0], pair[1]) {
			t.Errorf("%s is %v, want %v", what, pair[0], pair[1])
		}
	}
	if s.Data.Unknown != unknown || s.Data.Examples != 6*k+1 {
		t.Errorf("%d examples and %d unknown, want %d and %d", s.Data.Examples, s.Data.Unknown, 6*k+1, unknown)
	}
	parent, class := numbers(t, s.Parent), numbers(t, s.Class)
	for v := range e.tree.Len() {
		if parent[v] != e.tree.Parent(v) || class[v] != e.tree.Class(v) || !strings.HasPrefix(e.tree.Name(v), strings.TrimSuffix(s.Names[v], "…")) {
			t.Fatalf("node %d is %d %d %q", v, parent[v], class[v], s.Names[v])
		}
	}
	for _, name := range s.Names {
		if len([]rune(name)) > mostName {
			t.Errorf("a name of %d letters", len([]rune(name)))
		}
	}
	// The cells off the diagonal and the right answers are all examples.
	var c struct{ True, Predicted, Count any }
	if data, err = e.Piece(context.Background(), "confusions"); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, n := range append(numbers(t, c.Count), right...) {
		total += n
	}
	if total != s.Data.Examples {
		t.Errorf("%d examples in the matrix, want %d", total, s.Data.Examples)
	}
}

// The baseline is the same model, so that nothing is gained; another one without a class is refused.
func TestCompare(t *testing.T) {
	e, m, path := measuredSmall(t, 8)
	if err := e.Compare(context.Background(), m, opener(t, m, path), "dir/plain.safetensors"); err != nil {
		t.Fatal(err)
	}
	if e.data.baseline != "plain.safetensors" {
		t.Errorf("the baseline is called %q", e.data.baseline)
	}
	for c, n := range e.data.baselineRight {
		if int(n) != e.data.matrix.Right[c] {
			t.Errorf("class %d: %d right by the baseline, %d by the model", c, n, e.data.matrix.Right[c])
		}
	}
	few := classify.Linear(small(t, labelsOf(7), nil))
	if err := e.Compare(context.Background(), few, opener(t, m, path), "few"); err == nil || !strings.Contains(err.Error(), "has no class") {
		t.Errorf("a baseline without a class: %v", err)
	}
	none, err := New(m, "none")
	if err != nil {
		t.Fatal(err)
	}
	if err := none.Compare(context.Background(), m, opener(t, m, path), "x"); err == nil {
		t.Error("a baseline without examples")
	}
}

// Unknown pieces are ErrPiece, whatever they are called.
func TestPieceNames(t *testing.T) {
	e, _, _ := measuredSmall(t, 8)
	for _, name := range []string{"start", "confusions", "classes-0", "classes-7", "pair-0-7"} {
		if _, err := e.Piece(context.Background(), name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"", "x", "start-1", "classes", "classes-", "classes-8", "classes--1", "classes-01", "classes-1-2", "pair-1", "pair-1-9", "pair-1-2-3", "classes-99999999999999999999", "../start"} {
		if _, err := e.Piece(context.Background(), name); !errors.Is(err, ErrPiece) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// The mass of a node is that of its classes, the hedged answer that of package decide, and
// the words add up to the difference of the scores.
func TestWhy(t *testing.T) {
	e, m, _ := measuredSmall(t, 24)
	model := classify.LinearModelOf(m)
	for _, text := range []string{"please word09 thing08", "word12 word13 thing14", "", "nothing of it"} {
		x := dataset.Example{Text: text, Weight: 1}
		p, err := model.NewPredictor().Probabilities(x)
		if err != nil {
			t.Fatal(err)
		}
		a, err := e.Why(context.Background(), Question{Example: x, Probabilities: p, Confidence: 0.6})
		if err != nil {
			t.Fatal(err)
		}
		drawn := map[int]bool{}
		for _, n := range a.Mass {
			drawn[n.Node] = true
			want := 0.0
			for _, c := range e.tree.ClassesBelow(n.Node) {
				want += float64(p[c])
			}
			if math.Abs(n.Probability-want) > 1e-4 {
				t.Errorf("%q: node %d has %v, want %v", text, n.Node, n.Probability, want)
			}
		}
		for c, q := range p {
			if v := e.tree.Node(c); q >= leastMass+1e-4 && !drawn[v] {
				t.Errorf("%q: class %d of %v is not drawn", text, c, q)
			}
		}
		d, err := decide.NewDecider(decide.Rule{Confidence: 0.6}, len(p), e.tree)
		if err != nil {
			t.Fatal(err)
		}
		h, err := d.Decide(p)
		if err != nil || a.Hedged == nil || a.Hedged.Node != h.Node || a.Hedged.Classes != h.Classes {
			t.Errorf("%q: hedged %+v, want %+v, %v", text, a.Hedged, h, err)
		}
		sum, whole := a.Bias+a.Encoder, ""
		for _, w := range a.Words {
			sum, whole = sum+w.Contribution, whole+w.Text
		}
		if whole != text || math.Abs(sum-a.Difference) > 1e-3 {
			t.Errorf("%q: words %q add up to %v, want %v", text, whole, sum, a.Difference)
		}
	}
	x := dataset.Example{Text: "word01", Weight: 1}
	p, err := model.NewPredictor().Probabilities(x)
	if err != nil {
		t.Fatal(err)
	}
	a, err := e.Why(context.Background(), Question{Example: x, Probabilities: p, Against: labelsOf(24)[20]})
	if err != nil || *a.Rival != 20 || a.Hedged != nil {
		t.Errorf("against class 20: %+v, %v", a, err)
	}
	if _, err := e.Why(context.Background(), Question{Example: x, Probabilities: p, Against: "no such"}); err == nil {
		t.Error("an unknown class")
	}
	if _, err := e.Why(context.Background(), Question{Example: x, Probabilities: p, Confidence: 2}); err == nil {
		t.Error("a confidence of 2")
	}
}

// A model of several labels an example is shown without confusions; its probabilities have no
// sum, and a group has the largest of them.
func TestSeveralLabels(t *testing.T) {
	e, m, path := measuredSmall(t, 8)
	e.about.Multilabel = new(softmax.Multilabel)
	p := []float32{0.9, 0.8, 0, 0, 0.001, 0, 0.3, 0}
	a, err := e.Why(context.Background(), Question{Example: dataset.Example{Text: "word00 word01", Weight: 1}, Probabilities: p, Confidence: 0.9})
	if err != nil {
		t.Fatal(err)
	}
	if a.Hedged != nil || a.Rival != nil || a.Words != nil || a.Classes[0].Class != 0 || a.Classes[1].Class != 1 || a.Classes[2].Class != 6 {
		t.Errorf("answer %+v", a)
	}
	for _, n := range a.Mass {
		want := float32(0)
		for _, c := range e.tree.ClassesBelow(n.Node) {
			want = max(want, p[c])
		}
		if math.Abs(n.Probability-float64(want)) > 1e-4 {
			t.Errorf("node %d has %v, want %v", n.Node, n.Probability, want)
		}
	}
	if s := e.start(1); s.Hedges {
		t.Error("a hedged answer makes sense")
	}
	if err := e.Measure(context.Background(), m, open(t, m, path), []string{path}); err == nil || !strings.Contains(err.Error(), "several labels") {
		t.Errorf("confusions: %v", err)
	}
	if _, err := e.Why(context.Background(), Question{Probabilities: p[1:]}); err == nil {
		t.Error("seven probabilities of eight classes")
	}
}

// Long texts have a bounded number of words, which still are the text and its sum.
func TestLongText(t *testing.T) {
	e, m, _ := measuredSmall(t, 24)
	x := dataset.Example{Text: strings.Repeat("please word01 of thing02 and words ", 1800), Weight: 1}
	p, err := classify.LinearModelOf(m).NewPredictor().Probabilities(x)
	if err != nil {
		t.Fatal(err)
	}
	a, err := e.Why(context.Background(), Question{Example: x, Probabilities: p})
	if err != nil {
		t.Fatal(err)
	}
	whole := ""
	for _, w := range a.Words {
		whole += w.Text
	}
	if whole != x.Text || len(a.Words) > 3*mostPieces {
		t.Errorf("%d words, %d letters of %d", len(a.Words), len(whole), len(x.Text))
	}
	x.Text += x.Text // from here on the n-grams of all words would take too much memory
	if a, err = e.Why(context.Background(), Question{Example: x, Probabilities: p}); err != nil || a.Words != nil || a.Rival == nil {
		t.Errorf("a text of %d bytes: %d words, rival %v, %v", len(x.Text), len(a.Words), a.Rival, err)
	}
}

// The same model and examples give the same bytes, and a second page in the folder replaces the first.
func TestSaveIsDeterministic(t *testing.T) {
	var pages [2]map[string][]byte
	for i := range pages {
		e, _, _ := measuredSmall(t, 40)
		dir := filepath.Join(t.TempDir(), "page")
		for range 2 {
			if err := e.Save(context.Background(), dir); err != nil {
				t.Fatal(err)
			}
		}
		pages[i] = map[string][]byte{}
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				name, _ := filepath.Rel(dir, path)
				pages[i][name], err = os.ReadFile(path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(pages[0]) != len(pages[1]) || len(pages[0]) != 4+1+len(Assets()) {
		t.Errorf("%d and %d files", len(pages[0]), len(pages[1]))
	}
	for name, data := range pages[0] {
		if !bytes.Equal(data, pages[1][name]) {
			t.Errorf("%s differs", name)
		}
		if strings.HasPrefix(name, "data") && bytes.Contains(data, []byte("</script")) {
			t.Errorf("%s has the end of a script in it", name)
		}
	}
}

// A page in the place of one of more classes leaves none of these behind.
func TestSaveReplacesAll(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "page")
	for _, k := range []int{100, 8} {
		e, _, _ := measuredSmall(t, k)
		if err := e.Save(context.Background(), dir); err != nil {
			t.Fatal(err)
		}
		if k == 100 {
			if err := os.WriteFile(filepath.Join(dir, "data", "mine.txt"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	list, err := filepath.Glob(filepath.Join(dir, "data", "*"))
	if err != nil || len(list) != 4 { // start, confusions, one file of classes and mine
		t.Errorf("the folder has %v, %v", list, err)
	}
}

// A model without a tree has the linkage of its weights; one whose weights cannot be joined the alphabet.
func TestTreeOf(t *testing.T) {
	labels := labelsOf(60)
	e, err := New(classify.Linear(small(t, labels, nil)), "m")
	if err != nil || e.Origin() != OfWeights || e.Tree().Classes() != 60 {
		t.Errorf("origin %v, %v", e.Origin(), err)
	}
	tree, err := alphabet(append(labels, "pseudo1", "pseudo9"))
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Check(); err != nil || tree.Height() != 2 || tree.Classes() != 62 {
		t.Errorf("alphabet: %v, %v", tree.Shape(), err)
	}
	var last string
	for v := range tree.Len() {
		if tree.Class(v) < 0 {
			if !madeUp(tree, v, OfNames) {
				t.Errorf("group %q counts as a name", tree.Name(v))
			}
			continue
		}
		if tree.Name(v) < last {
			t.Errorf("%q comes behind %q", tree.Name(v), last)
		}
		last = tree.Name(v)
	}
}

// The colours are those of the reports, and texts can be read on what they stand on:
// 4.5 to 1, and 3 to 1 for the edges of controls (WCAG 2.2, 1.4.3 and 1.4.11).
func TestColours(t *testing.T) {
	css, _, err := Asset("explorer.css")
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := (&report.Page{Title: "t"}).WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	inks := func(from []byte) (list [2]map[string]string) {
		for i, part := range bytes.SplitN(from, []byte("prefers-color-scheme: dark"), 3)[:2] {
			list[i] = map[string]string{}
			for _, m := range regexp.MustCompile(`--([a-z0-9]+): (#[0-9a-f]{6})`).FindAllSubmatch(part, -1) {
				list[i][string(m[1])] = string(m[2])
			}
		}
		return list
	}
	// In a report the rule for the dark comes behind further rules; its last part has the inks.
	from := page.Bytes()
	at := bytes.LastIndex(from, []byte("prefers-color-scheme: dark"))
	own := inks(css)
	theirs := [2]map[string]string{{}, {}}
	for i, part := range [][]byte{from[:at], from[at:]} {
		for _, m := range regexp.MustCompile(`--(i[a-z0-9]+): (#[0-9a-f]{6})`).FindAllSubmatch(part, -1) {
			theirs[i][string(m[1])] = string(m[2])
		}
	}
	for i, mode := range []string{"light", "dark"} {
		same := 0
		for name, colour := range own[i] {
			if want, ok := theirs[i][name]; ok && want != colour {
				t.Errorf("%s: --%s is %s, in reports %s", mode, name, colour, want)
			} else if ok {
				same++
			}
		}
		if same < 16 {
			t.Errorf("%s: %d colours of the reports", mode, same)
		}
		luminance := func(name string) float64 {
			n, err := strconv.ParseUint(own[i][name][1:], 16, 32)
			if err != nil {
				t.Fatal(name, err)
			}
			sum := 0.0
			for at, weight := range []float64{0.2126, 0.7152, 0.0722} {
				x := float64(n>>(16-8*at)&255) / 255
				if x <= 0.04045 {
					x /= 12.92
				} else {
					x = math.Pow((x+0.055)/1.055, 2.4)
				}
				sum += weight * x
			}
			return sum
		}
		for _, pair := range []struct {
			text, on string
			least    float64
		}{
			{"iw", "ip", 4.5}, {"ia", "ip", 4.5}, {"link", "ip", 4.5}, {"iw", "field", 4.5}, {"io", "ir4", 4.5}, {"io", "ir5", 4.5}, {"io", "im4", 4.5}, {"io", "im5", 4.5},
			{"iw", "chosen", 4.5}, {"ia", "chosen", 4.5}, {"iw", "im1", 4.5}, {"iw", "ir1", 4.5}, {"iw", "ir2", 4.5}, {"iw", "ir3", 4.5}, {"iw", "im2", 4.5}, {"iw", "im3", 4.5}, {"edge", "ip", 3}, {"i2", "ip", 3}, {"i3", "ip", 3},
		} {
			a, b := luminance(pair.text), luminance(pair.on)
			if c := (max(a, b) + 0.05) / (min(a, b) + 0.05); c < pair.least {
				t.Errorf("%s: %s on %s has a contrast of %.2f, want %v", mode, pair.text, pair.on, c, pair.least)
			}
		}
	}
}

// The scripts stay small.
func TestScriptsAreSmall(t *testing.T) {
	const most = 60_000
	total := 0
	for _, name := range Assets() {
		data, _, err := Asset(name)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(name) == ".js" {
			total += len(data)
		}
	}
	if total > most || total < most/4 {
		t.Errorf("%d bytes of scripts, want at most %d", total, most)
	}
}

// Who waits for the weights goes when its time is over.
func TestWaitsForWeights(t *testing.T) {
	e, _, _ := measuredSmall(t, 8)
	e.free <- struct{}{} // somebody has them
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := e.Piece(ctx, "classes-1"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was cancelled", err)
	}
	<-e.free
	if _, err := e.Piece(ctx, "classes-1"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that reading the weights was cancelled", err)
	}
}

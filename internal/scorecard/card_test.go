package scorecard

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/evaluate"
	"github.com/treeloss/treeloss/internal/pagetest"
	"github.com/treeloss/treeloss/internal/report"
	"github.com/treeloss/treeloss/labeltree"
)

const hostile = `<script>alert("1")</script>&'`

// fake is a classifier that is right for two of three examples, and else takes the next class.
type fake struct{ about classify.About }

func (f fake) About() classify.About                          { return f.about }
func (f fake) Open(classify.Input) (classify.Examples, error) { return nil, errors.New("not used") }
func (f fake) Close() error                                   { return nil }
func (f fake) Runners(int) ([]classify.Runner, error)         { return nil, errors.New("not used") }

// examples are n of k classes, in order.
type examples struct {
	labels []string
	n      int
	text   bool
}

func (e examples) Describe() string { return "examples" }
func (e examples) Workers() int     { return 2 }
func (e examples) BlockSize() int   { return e.n }
func (e examples) Close() error     { return nil }

func (e examples) Each(_ context.Context, visit classify.Visit, done func([]dataset.Example) error) error {
	rng := rand.New(rand.NewPCG(1, 2))
	k := len(e.labels)
	var block []dataset.Example
	for i := range e.n {
		class := i % k
		guess := class
		if rng.IntN(3) == 0 {
			guess = (class + 1) % k
		}
		p := make([]float32, k)
		sure := 0.4 + 0.6*rng.Float32()
		for c := range p {
			p[c] = (1 - sure) / float32(k)
		}
		p[guess] += sure
		x := dataset.Example{ID: fmt.Sprint("id", i), Place: dataset.Place{File: "test.csv", Line: i + 2}}
		if e.labels[class] != "" {
			x.Label = e.labels[class]
		}
		if e.text {
			x.Text = fmt.Sprintf("%s number %d %s", hostile, i, strings.Repeat("long ", 100))
		}
		if err := visit(i%2, i, x, p); err != nil {
			return err
		}
		block = append(block, x)
	}
	return done(block)
}

// card evaluates n examples of k classes, with a taxonomy of groups of ten if tree is set.
func card(t *testing.T, k, n int, tree, text, oos bool) *Card {
	t.Helper()
	about := classify.About{Kind: classify.LinearModel, Temperature: 1}
	parents := map[string]string{}
	for c := range k {
		name := fmt.Sprintf("class %04d %s", c, hostile)
		about.Labels = append(about.Labels, name)
		parents[name] = fmt.Sprintf("group %d %s", c/10, hostile)
		parents[parents[name]] = "everything"
	}
	opts := evaluate.Options{}
	if tree {
		var err error
		if about.Tree, err = labeltree.FromParents(parents, about.Labels); err != nil {
			t.Fatal(err)
		}
		opts.Confidences = Confidences()
	}
	c := &Card{Mistakes: new(Mistakes), About: about, Data: []string{"data/test.csv"}, Facts: []report.Fact{{Name: "Program", Value: "test"}}}
	opts.Rows = c.Mistakes.Add
	e, err := evaluate.New(fake{about}, opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Count(t.Context(), examples{about.Labels, n, text}); err != nil {
		t.Fatal(err)
	}
	if oos {
		if err := e.CountOutOfScope(t.Context(), examples{make([]string, k), 50, text}); err != nil {
			t.Fatal(err)
		}
	}
	if c.Result, err = e.Result(); err != nil {
		t.Fatal(err)
	}
	c.Evaluation, c.Result.Model = e, "models/m.safetensors"
	if oos {
		c.Result.OutOfScope.File = "oos.csv"
	}
	return c
}

func page(t *testing.T, c *Card) string {
	t.Helper()
	p, err := c.Page()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := p.WriteHTML(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Pages of few and of many classes have their parts, escape all text and do not change.
func TestPages(t *testing.T) {
	for _, tc := range []struct {
		k, n            int
		tree, text, oos bool
		want, not       []string
	}{
		{5, 60, false, true, false, []string{"60 examples, 5 classes", "The most frequent mistake", "are few"}, []string{"Severity", "Out of scope", "zoom.svg", "Hedged"}},
		{77, 900, true, true, true, []string{"Severity of mistakes", "Hedged answers", "AUROC", "zoom.svg"}, []string{"zoom-2.svg"}},
		{150, 600, true, false, false, []string{"fewer than 5 test examples", "id1", "zoom.svg", "group 3 ", "Caution"}, nil},
		{400, 900, true, true, false, []string{"by groups of classes", "400 classes in 40 groups", "zoom-3.svg"}, nil},
		{400, 900, false, true, false, []string{"by groups of classes"}, []string{"Severity"}},
	} {
		t.Run(fmt.Sprintf("k=%d tree=%v", tc.k, tc.tree), func(t *testing.T) {
			c := card(t, tc.k, tc.n, tc.tree, tc.text, tc.oos)
			text := page(t, c)
			if strings.Contains(text, "<script") || !strings.Contains(text, "&lt;script&gt;") {
				t.Error("a name or a text is not escaped")
			}
			for _, want := range append(tc.want, "test.csv:", "Most frequent mistakes", "confusions.csv", "linear model") {
				if !strings.Contains(text, want) {
					t.Errorf("the page lacks %q", want)
				}
			}
			for _, not := range tc.not {
				if strings.Contains(text, not) {
					t.Errorf("the page has %q", not)
				}
			}
			if again := page(t, card(t, tc.k, tc.n, tc.tree, tc.text, tc.oos)); again != text {
				t.Error("the same evaluation makes another page")
			}
		})
	}
}

// The numbers of the files are those of the result, and of the examples.
func TestNumbers(t *testing.T) {
	c := card(t, 12, 600, true, true, true)
	p, err := c.Page()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := p.Save(dir); err != nil {
		t.Fatal(err)
	}
	read := func(name string) [][]string {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return rows[1:]
	}
	number := func(text string) float64 {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Error(err)
		}
		return x
	}
	for _, row := range read("measures.csv") {
		if i, ok := c.Result.Intervals[row[0]]; ok && (number(row[1]) != i.Mean || number(row[3]) != i.Low || number(row[4]) != i.High) {
			t.Errorf("%q, want %+v", row, i)
		}
		if row[0] == "accuracy" && number(row[1]) != c.Result.Report.Accuracy {
			t.Errorf("accuracy %s, want %v", row[1], c.Result.Report.Accuracy)
		}
	}
	diagonal, all, mistakes := 0.0, 0.0, 0.0
	for i, row := range read("confusions.csv") {
		for j, cell := range row[1:] {
			all += number(cell)
			if i == j {
				diagonal += number(cell)
			}
		}
	}
	for _, row := range read("mistakes.csv") {
		mistakes += number(row[2])
	}
	if all != 600 || diagonal/all != c.Result.Report.Accuracy || all-diagonal != mistakes {
		t.Errorf("%v of %v are right, %v mistakes; want the accuracy %v", diagonal, all, mistakes, c.Result.Report.Accuracy)
	}
	for i, row := range read("classes.csv") {
		if x := c.Result.Worst()[i]; row[0] != x.Label || number(row[3]) != x.Precision || number(row[4]) != x.Recall || number(row[5]) != x.F1 {
			t.Errorf("classes.csv has %q, want %+v", row, x)
		}
	}
	cells := 0.0
	for _, row := range read("confusions-map.csv") {
		cells += number(row[2])
	}
	if cells != all {
		t.Errorf("the picture has %v examples, want %v", cells, all)
	}
	for i, row := range read("thresholds.csv") {
		if x := c.Result.Coverage[i]; number(row[0]) != x.Threshold || number(row[1]) != *x.Answered {
			t.Errorf("threshold %q, want %+v", row, x)
		}
	}
	right := 0
	for _, b := range c.Result.Calibration {
		right += b.Examples
	}
	bars := 0.0
	for _, row := range read("calibration.csv") {
		if row[0] == "examples" {
			bars += number(row[2])
		}
	}
	if int(bars) != right || right != 600 {
		t.Errorf("%v examples in bars, %d in bins, want 600", bars, right)
	}
}

// The mistakes that are kept are the surest on each class, and no long text is.
func TestMistakes(t *testing.T) {
	var m Mistakes
	label := float32(0.1)
	for _, p := range []float32{0.3, 0.9, 0.5, 0.7, 0.9} {
		m.Add(evaluate.Row{Label: "a", Predicted: "b", Probability: p, LabelProbability: &label, Text: strings.Repeat("é", 1000)})
	}
	m.Add(evaluate.Row{Label: "a", Right: true, Probability: 1, LabelProbability: &label})
	m.Add(evaluate.Row{Label: "never trained", Probability: 1})
	var kept []float32
	for _, r := range m.ofClass["a"] {
		kept = append(kept, r.Probability)
		if n := len([]rune(r.Text)); n != mostText {
			t.Errorf("a text of %d letters is kept", n)
		}
	}
	if !slices.Equal(kept, []float32{0.9, 0.9, 0.7}) || len(m.ofClass) != 1 {
		t.Errorf("kept %v of %d classes", kept, len(m.ofClass))
	}
}

// Groups hold each class once, in the order of the tree, and none has too many.
func TestGroups(t *testing.T) {
	c := card(t, 97, 200, true, false, false)
	m, err := c.Evaluation.Matrix()
	if err != nil {
		t.Fatal(err)
	}
	for _, tree := range []*labeltree.Tree{m.Tree, nil} {
		for _, most := range []int{1, 4, 10, 30, 97} {
			var all []int
			for _, run := range groups(tree, m.Labels, m.Order(), most) {
				if len(run.classes) == 0 || len(run.classes) > most || run.name == "" {
					t.Errorf("a group %q of %d classes, want 1 to %d", run.name, len(run.classes), most)
				}
				all = append(all, run.classes...)
			}
			if !slices.Equal(all, m.Order()) {
				t.Errorf("groups of %d: %d classes in another order", most, len(all))
			}
		}
	}
}

// Classes that are mistaken for each other come together, where there is no tree.
func TestArranged(t *testing.T) {
	c := card(t, 8, 400, false, false, false)
	m, err := c.Evaluation.Matrix()
	if err != nil {
		t.Fatal(err)
	}
	tree, order := arranged(m)
	if tree == nil || len(order) != 8 {
		t.Fatalf("%d classes, tree %v", len(order), tree)
	}
	part := mostMistaken(m, map[int]bool{})
	if len(part) != 8 {
		t.Errorf("%v are mistaken for each other, want all: each is taken for the next", part)
	}
	if part := mostMistaken(&evaluate.Matrix{Labels: []string{"a"}}, map[int]bool{}); part != nil {
		t.Errorf("%v without a mistake", part)
	}
}

// An evaluation of nothing, and one without a mistake, have a page.
func TestExtremes(t *testing.T) {
	about := classify.About{Kind: classify.LinearModel, Labels: []string{"a", "b"}, Temperature: 1}
	for _, n := range []int{0, 2} {
		c := &Card{Mistakes: new(Mistakes), About: about}
		var err error
		if c.Evaluation, err = evaluate.New(fake{about}, evaluate.Options{Rule: decide.Rule{}}); err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			if err := c.Evaluation.Count(t.Context(), certain{}); err != nil {
				t.Fatal(err)
			}
		}
		if c.Result, err = c.Evaluation.Result(); err != nil {
			t.Fatal(err)
		}
		if text := page(t, c); strings.Contains(text, "NaN") {
			t.Errorf("%d examples: the page holds a NaN", n)
		}
	}
}

// certain is two examples, both right.
type certain struct{ examples }

func (certain) BlockSize() int { return 2 }

func (certain) Each(_ context.Context, visit classify.Visit, done func([]dataset.Example) error) error {
	block := []dataset.Example{{Label: "a"}, {Label: "b"}}
	if err := errors.Join(visit(0, 0, block[0], []float32{1, 0}), visit(1, 1, block[1], []float32{0, 1})); err != nil {
		return err
	}
	return done(block)
}

// A real browser shows the page of many classes on a telephone, too.
func TestInBrowser(t *testing.T) {
	for _, k := range []int{77, 400} {
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			p, err := card(t, k, 900, true, true, true).Page()
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if _, err := p.Save(dir); err != nil {
				t.Fatal(err)
			}
			pagetest.Look(t, dir)
		})
	}
}

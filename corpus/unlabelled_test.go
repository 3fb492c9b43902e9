package corpus

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/softmax"
)

// Files of every form make rows without a class; a label column is not looked at, and
// repeats are left out.
func TestAppendUnlabelled(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	train := write("train.csv", "q,label\nwhere is my card,cat\nfee again,dog\nmy card is lost,cat\nanother fee,dog\n")
	numbers := write("train-n.csv", "a,b,label\n1,2,cat\n3,4,dog\n5,6,cat\n7,8,dog\n")
	for _, tc := range []struct {
		name, data, file, content string
		rows, repeats             int
		fail                      string
	}{
		{"same columns, with labels", train, "u.csv", "label,q\nbird,one card\n,two fees\nbird,one card\n", 2, 1, ""},
		{"no label column", train, "u.csv", "q\none card\ntwo fees\n", 2, 0, ""},
		{"another text column", train, "u.csv", "id,text\n1,one card\n2,two fees\n", 2, 0, ""},
		{"lines", train, "u.txt", "one card\ntwo fees\n", 2, 0, ""},
		{"jsonl", train, "u.jsonl", "{\"text\": \"one card\"}\n{\"text\": \"two fees\", \"label\": \"cat\"}\n", 2, 0, ""},
		{"fastText", train, "u.txt", "__label__cat one card\n__label__dog two fees\n", 2, 0, ""},
		{"a column that all share", train, "u.csv", "q\n\n\none card\n", 1, 0, ""},
		{"numbers for texts", train, "u.csv", "a,b\n1,2\n", 0, 0, "u.csv"},
		{"no file", train, "", "", 0, 0, "no-such"},
		{"numbers", numbers, "u.csv", "b,a\n1,2\n3,4\n1,2\n", 2, 1, ""},
		{"numbers, a column is missing", numbers, "u.csv", "a,c\n1,2\n", 0, 0, "b"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			opts := dataset.Options{}
			if tc.data == train {
				opts.Text = "q"
			}
			c, _, err := Read([]string{tc.data}, opts, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "no-such")
			if tc.file != "" {
				path = write(tc.file, tc.content)
			}
			before := c.Fingerprint()
			_, err = c.AppendUnlabelled(classify.Input{Paths: []string{path}}, 1)
			if tc.fail != "" {
				if err == nil || !strings.Contains(err.Error(), tc.fail) || strings.Contains(err.Error(), "\n") {
					t.Fatalf("error %v, want one line with %q", err, tc.fail)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if c.Fingerprint() != before {
				t.Error("the fingerprint of the labelled examples has changed")
			}
			d, err := c.Data(ctx, dataset.Range(0, 4), ClassFiles{})
			if err != nil {
				t.Fatal(err)
			}
			u := d.Unlabelled
			if len(u.Rows) != tc.rows || u.Repeats != tc.repeats || len(d.Classes.Labels) != 2 {
				t.Errorf("%+v of %d classes, want %d rows and %d repeats", u, len(d.Classes.Labels), tc.rows, tc.repeats)
			}
			for _, row := range u.Rows {
				if d.Class[row] != -1 || slices.Contains(d.Labelled(dataset.Range(0, len(d.Class))), row) {
					t.Errorf("row %d has class %d", row, d.Class[row])
				}
			}
		})
	}
}

// A million repeats of a few texts are a few texts; and of very many different ones a random
// sample is kept, which has about as many of the first half as of the second.
func TestUnlabelledSample(t *testing.T) {
	labelled := func() *Corpus {
		c := New(dataset.Text, nil)
		for _, label := range []string{"a", "b"} {
			if err := c.Add(dataset.Example{Text: "text " + label, Label: label, Weight: 1}); err != nil {
				t.Fatal(err)
			}
		}
		return c
	}
	many := func(n, different int) func(yield func(dataset.Example, error) bool) {
		return func(yield func(dataset.Example, error) bool) {
			for i := range n {
				if !yield(dataset.Example{Text: fmt.Sprint("text ", i%different)}, nil) {
					return
				}
			}
		}
	}
	n := 1_000_000
	if testing.Short() {
		n = 100_000
	}
	c := labelled()
	if err := c.AddUnlabelled(many(n, 3), 1); err != nil {
		t.Fatal(err)
	}
	if u := c.unlabelled; u.Read != n || u.Repeats != n-3 || len(u.Rows) != 3 {
		t.Errorf("%d read, %d repeats, %d rows", u.Read, u.Repeats, len(u.Rows))
	}
	c = labelled()
	c.Memory = 16 << 20 // a tenth has room for some thousand
	if err := c.AddUnlabelled(many(40_000, 40_000), 1); err != nil {
		t.Fatal(err)
	}
	kept := len(c.unlabelled.Rows)
	if kept < 1000 || kept > 20_000 {
		t.Fatalf("%d rows are kept", kept)
	}
	// Different texts beyond what has room are not all from one end of the file: the
	// number in the text is that of the example.
	s := sampler{room: math.Inf(1), most: 1000, seen: map[uint64]struct{}{}, random: rand.New(rand.NewPCG(1, 1))}
	for i := range 10_000 {
		e := dataset.Example{Text: fmt.Sprint(i)}
		s.add(e, keyOf(e))
	}
	early := 0
	for _, e := range s.kept {
		if len(e.Text) < 4 || len(e.Text) == 4 && e.Text < "5000" {
			early++
		}
	}
	if sd := math.Sqrt(1000) / 2; math.Abs(float64(early)-500) > 4*sd {
		t.Errorf("%d of 1000 are of the first half", early)
	}
	again := labelled()
	again.Memory = c.Memory
	if err := again.AddUnlabelled(many(40_000, 40_000), 1); err != nil || again.Table.Distinct() != c.Table.Distinct() {
		t.Error("the same seed keeps other rows")
	}
	failed := errors.New("broken")
	err := labelled().AddUnlabelled(func(yield func(dataset.Example, error) bool) { yield(dataset.Example{}, failed) }, 1)
	if !errors.Is(err, failed) {
		t.Errorf("error %v, want that of the source", err)
	}
}

// Soften gives soft labels to the rows that have none, weighed as labelled ones are.
func TestSoften(t *testing.T) {
	c := New(dataset.Text, nil)
	for i, label := range []string{"a", "b", "a"} {
		e := dataset.Example{Text: fmt.Sprint("text ", i), Label: label}
		e.Weight = float64(1 + i)
		if err := c.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.AddUnlabelled(func(yield func(dataset.Example, error) bool) {
		_ = yield(dataset.Example{Text: "text 4"}, nil) && yield(dataset.Example{Text: "Text 1"}, nil)
	}, 1); err != nil {
		t.Fatal(err)
	}
	d, err := c.Data(ctx, dataset.Range(0, 3), ClassFiles{})
	if err != nil {
		t.Fatal(err)
	}
	apart, same := d.Apart([]int{0, 1, 2})
	if len(apart) != 1 || same != 1 {
		t.Fatalf("%v apart, %d the same", apart, same)
	}
	d.ClassWeight = []float32{1, 3}
	if got := d.ClassTotals(slices.Concat([]int{0, 1, 2}, apart)); !slices.EqualFunc(got, []float32{4, 6}, near) {
		t.Errorf("the labelled examples of the classes weigh %v, want 1 + 3 and 6", got)
	}
	f, err := d.Fit(slices.Concat([]int{0, 1, 2}, apart), Inputs{Names: true})
	if err != nil {
		t.Fatal(err)
	}
	labels := &matrix.Sparse{Columns: 2}
	labels.AppendRow([]int32{0, 1}, []float32{0.6, 0.4})
	ex := d.Soften(f, 3, labels, []float32{0.5})
	// 0.6 · 1 + 0.4 · 3 = 1.8: the shares become 1/3 and 2/3, the weight 0.9.
	if want := []float32{1, 6, 3, 0.9, 1, 1}; !slices.EqualFunc(ex.Weight, want, near) {
		t.Errorf("weights %v, want %v", ex.Weight, want)
	}
	index, share := ex.Mix.Row(3)
	if !slices.Equal(index, []int32{0, 1}) || !slices.EqualFunc(share, []float32{1. / 3, 2. / 3}, near) || ex.Class[3] != 1 {
		t.Errorf("soft label %v %v, class %d", index, share, ex.Class[3])
	}
	if _, _, err := softmax.Fit(ctx, ex, 2, softmax.Options{}); err != nil {
		t.Error(err)
	}
}

func near(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-5 }

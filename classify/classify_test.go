package classify_test

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treeloss/treeloss"
	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/dataset"
)

// pets is a model of three classes.
func pets() (classify.Classifier, error) {
	var examples []treeloss.Example
	for _, row := range [][2]string{{"it purrs on the sofa", "cat"}, {"it barks at night", "dog"}, {"it sings in its cage", "bird"}} {
		for _, word := range []string{"old", "young", "small"} {
			examples = append(examples, treeloss.Example{Text: row[0] + " " + word, Label: row[1]})
		}
	}
	m, err := treeloss.Fit(context.Background(), examples, treeloss.Options{Sharing: classinfo.Spec{classinfo.None}, Names: "off"})
	if err != nil {
		return nil, err
	}
	return classify.Linear(m.Model), nil
}

func open(t *testing.T, in classify.Input) classify.Examples {
	t.Helper()
	c, err := pets()
	if err != nil {
		t.Fatal(err)
	}
	x, err := c.Open(in)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// The answers do not depend on blocks or threads, and come in order.
func TestEach(t *testing.T) {
	var lines strings.Builder
	for i := range 1200 {
		fmt.Fprintf(&lines, "%s number %d\n", []string{"it purrs", "it barks", "it sings"}[i%3], i)
	}
	path := filepath.Join(t.TempDir(), "pets.txt")
	if err := os.WriteFile(path, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var first []float32
	for _, in := range []classify.Input{
		{Paths: []string{path}, Threads: 1},
		{Paths: []string{path}, Threads: 3},
		{Paths: []string{"-"}, Stdin: strings.NewReader(lines.String()), Live: true},
	} {
		in.Options.Unlabelled = true
		x := open(t, in)
		block, all := make([][]float32, x.BlockSize()), []float32(nil)
		err := x.Each(t.Context(), func(_, at int, _ dataset.Example, p []float32) error {
			sum := 0.0
			for _, v := range p {
				sum += float64(v)
			}
			if math.Abs(sum-1) > 1e-5 {
				return fmt.Errorf("probabilities %v sum to %v", p, sum)
			}
			block[at] = append(block[at][:0], p...)
			return nil
		}, func(examples []dataset.Example) error {
			for at, e := range examples {
				if want := len(all)/3 + 1; e.Place.Line != want {
					t.Fatalf("line %d, want %d", e.Place.Line, want)
				}
				all = append(all, block[at]...)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = all
		}
		for i, v := range all {
			if v != first[i] || len(all) != 3*1200 {
				t.Fatalf("%d threads: probability %d of %d is %v, want %v of %d", in.Threads, i, len(all), v, first[i], len(first))
			}
		}
	}
}

// What comes before an error is done.
func TestEachStopsAtAnError(t *testing.T) {
	for _, threads := range []int{1, 3} {
		x := open(t, classify.Input{Paths: []string{"-"}, Stdin: strings.NewReader("a\nb\nc\nd\n"), Options: dataset.Options{Unlabelled: true}, Threads: threads})
		done := 0
		err := x.Each(t.Context(), func(_, at int, _ dataset.Example, _ []float32) error {
			if at >= 2 {
				return fmt.Errorf("line %d", at)
			}
			return nil
		}, func(block []dataset.Example) error { done += len(block); return nil })
		if err == nil || err.Error() != "line 2" || done != 2 {
			t.Errorf("%d threads: %v after %d, want an error at line 2", threads, err, done)
		}
	}
}

func ExampleLinear() {
	c, err := pets()
	if err != nil {
		fmt.Println(err)
		return
	}
	in := classify.Input{Paths: []string{"-"}, Stdin: strings.NewReader("text\nit purrs\nit sings\n"), Options: dataset.Options{Unlabelled: true, Text: "text"}, Threads: 1}
	x, err := c.Open(in)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer x.Close()
	labels := c.About().Labels
	err = x.Each(context.Background(), func(_, _ int, e dataset.Example, p []float32) error {
		best := 0
		for i, v := range p {
			if v > p[best] {
				best = i
			}
		}
		fmt.Printf("%s: %s\n", e.Text, labels[best])
		return nil
	}, func([]dataset.Example) error { return nil })
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// it purrs: cat
	// it sings: bird
}

// A live stream is answered as far as it has come: whoever sends a line and waits for
// its answer gets it, blank lines behind it or not, and lines that came together go
// together.
func TestEachOfALiveStream(t *testing.T) {
	in, out := io.Pipe()
	answered := make(chan int, 100)
	send := func(text string) {
		if _, err := io.WriteString(out, text); err != nil {
			t.Error(err)
		}
	}
	go func() {
		defer out.Close()
		for _, text := range []string{"it purrs\n", "it barks\n\n", "it si", "ngs\n"} {
			send(text)
			for n := strings.Count(text, "\n"); n > 0; {
				n -= <-answered
			}
		}
		send(strings.Repeat("it purrs\n", 700))
	}()
	x := open(t, classify.Input{Paths: []string{"-"}, Stdin: in, Live: true, Threads: 2, Options: dataset.Options{Format: dataset.Lines, Unlabelled: true}})
	var blocks []int
	err := x.Each(t.Context(), func(int, int, dataset.Example, []float32) error { return nil }, func(block []dataset.Example) error {
		if len(block) > 0 {
			blocks = append(blocks, len(block))
		}
		select {
		case answered <- len(block):
		default:
		}
		return nil
	})
	sum := 0
	for _, n := range blocks {
		sum += n
	}
	if err != nil || sum != 704 || len(blocks) > 12 {
		t.Errorf("%v: blocks of %v, want 704 lines in few", err, blocks)
	}
}

package tune

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/softmax"
)

// streamed reads texts of four classes, sorted by class, with a budget that is too small
// for them.
func streamed(t *testing.T) (*corpus.Data, []int) {
	t.Helper()
	var b strings.Builder
	b.WriteString("text,label\n")
	for i := range 9000 {
		c := i / 2250
		fmt.Fprintf(&b, "%s of number%d and %s,class %d\n", []string{"cats", "dogs", "birds", "fish"}[c], i, []string{"milk", "bones", "seeds", "water"}[(c+i%10/9)%4], c)
	}
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	c, _, err := corpus.Read([]string{path}, dataset.Options{}, corpus.Limits{Memory: 1 << 20, Scratch: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	rows := c.Rows()
	d, err := c.Data(context.Background(), rows, corpus.ClassFiles{})
	if err != nil {
		t.Fatal(err)
	}
	if d.Stream == nil {
		t.Fatal("9,000 texts fit in 1 MB")
	}
	return d, rows
}

// A stream is trained on by SGD, measured and calibrated on held-out rows, with the same
// weights whatever the number of threads.
func TestTrainStream(t *testing.T) {
	d, rows := streamed(t)
	var weights [][]float32
	for _, threads := range []int{1, 3} {
		var stages []softmax.Progress
		m, r, err := Plan{}.Train(context.Background(), d, rows, Options{Seed: 1, Threads: threads,
			Progress: func(_ string, p softmax.Progress) { stages = append(stages, p) }}, softmax.Training{})
		if err != nil {
			t.Fatal(err)
		}
		weights = append(weights, m.Layer.Weight)
		if len(r.Candidates) != 1 || r.Candidates[0].Accuracy < 0.99 || r.HeldOut != d.Stream.Held {
			t.Errorf("%v on %d held-out rows, want nearly all right of %d", r.Candidates, r.HeldOut, d.Stream.Held)
		}
		if a := m.Training; a.Examples != d.Stream.Rows() || a.Trainer != "sgd" || a.Fit.Steps != maxStreamEpochs || !strings.Contains(a.Choice, "stream") {
			t.Errorf("%+v", a)
		}
		if c, err := Calibrate(context.Background(), d, rows, r, Options{}); err != nil || c.Rows != d.Stream.Held {
			t.Errorf("calibration %+v, %v", c, err)
		}
		if last := stages[len(stages)-1]; last.Fraction != 1 || last.Rows < 9*d.Stream.Rows() || !slices.IsSortedFunc(stages, func(a, b softmax.Progress) int { return a.Rows - b.Rows }) {
			t.Errorf("progress ends with %+v", last)
		}
	}
	if !slices.Equal(weights[0], weights[1]) {
		t.Error("other weights with three threads")
	}
}

// What needs all examples in memory says so, and what would do instead.
func TestStreamNeedsMemory(t *testing.T) {
	d, rows := streamed(t)
	for name, tc := range map[string]struct {
		plan Plan
		opts Options
	}{
		"Options.Loss":    {Plan{Loss: SquaredHinge}, Options{}},
		"Options.Trainer": {Plan{}, Options{Trainer: softmax.Converge{}}},
	} {
		_, _, err := tc.plan.Train(context.Background(), d, rows, tc.opts, softmax.Training{})
		if !errors.Is(err, corpus.ErrMemory) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "Options.Memory") {
			t.Errorf("%s: %v", name, err)
		}
	}
	adam, _, err := Plan{}.Train(context.Background(), d, rows, Options{Trainer: softmax.AdamW{Epochs: 1}}, softmax.Training{})
	if err != nil || adam.Training.Trainer != "adamw" {
		t.Errorf("AdamW: %v", err)
	}
	for n, want := range map[int]int{1e7: 1, 4e6: 3, 1e6: 10, 1000: 10, 1e9: 1} {
		if got := streamEpochs(n); got != want {
			t.Errorf("%d epochs of %d examples, want %d", got, n, want)
		}
	}
}

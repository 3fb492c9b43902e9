package extreme

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/softmax"
)

// Rows come back from a file as they were written, in any order, and a file that was
// changed is an error.
func TestRowFile(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	const columns = 70_000
	want := &matrix.Sparse{Columns: columns, Start: []int{0}}
	f, err := newRowFile(t.TempDir(), columns)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	for range 200 {
		var index []int32
		var value []float32
		for range random.IntN(30) {
			index, value = append(index, int32(random.IntN(columns))), append(value, float32(random.NormFloat64()))
		}
		slices.Sort(index)
		index = slices.Compact(index)
		want.AppendRow(index, value[:len(index)])
		if err := f.write(index, value[:len(index)]); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.done(); err != nil {
		t.Fatal(err)
	}
	order := random.Perm(200)
	got := &matrix.Sparse{Columns: columns, Start: []int{0}}
	var buffer []byte
	for _, i := range order {
		if buffer, err = f.read(got, i, buffer); err != nil {
			t.Fatal(err)
		}
	}
	if picked := want.Select(order).(*matrix.Sparse); got.Check() != nil || !slices.Equal(got.Index, picked.Index) || !slices.Equal(got.Value, picked.Value) || !slices.Equal(got.Start, picked.Start) {
		t.Errorf("rows come back otherwise (%v)", got.Check())
	}
	f.columns = 10
	if _, err := f.read(got, order[0], nil); !errors.Is(err, errRows) {
		t.Errorf("columns beyond the last: %v", err)
	}
	if _, err := newRowFile(filepath.Join(t.TempDir(), "none"), 1); !errors.Is(err, errRows) {
		t.Errorf("no folder: %v", err)
	}
}

// streamed reads texts from a file within a budget that they do not fit.
func streamed(t *testing.T, list []dataset.Example) (*corpus.Data, []int) {
	t.Helper()
	var b strings.Builder
	b.WriteString("text,label\n")
	for _, e := range list {
		fmt.Fprintf(&b, "%s,%s\n", e.Text, e.Label)
	}
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _, err := corpus.Read([]string{path}, dataset.Options{}, corpus.Limits{Memory: 1 << 20, Scratch: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	rows := c.Rows()
	d, err := c.Data(t.Context(), rows, corpus.ClassFiles{})
	if err != nil || d.Stream == nil {
		t.Fatal("all rows fit, or none: ", err)
	}
	return d, rows
}

// A stream is trained on from a file, all of its rows, with the same bytes at any number
// of threads and after an interruption, and about as well as in memory.
func TestTrainStream(t *testing.T) {
	list := texts(60, 150, 1)
	d, rows := streamed(t, list)
	o := small()
	o.Scratch = t.TempDir()
	save := func(name string, o Options) (*Model, []byte) {
		t.Helper()
		m, err := Train(t.Context(), d, rows, o, softmax.Training{})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), name)
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return m, b
	}
	o.Threads = 1
	m, want := save("one", o)
	if m.Training.Examples != d.Stream.Rows() || m.Report.HeldOut != min(d.Stream.Held, mostHeld) {
		t.Errorf("%d examples, %d of them held out; want %d and %d", m.Training.Examples, m.Report.HeldOut, d.Stream.Rows(), d.Stream.Held)
	}
	o.Threads, o.Checkpoint = 3, filepath.Join(t.TempDir(), "checkpoint")
	if _, b := save("three", o); !bytes.Equal(b, want) {
		t.Error("three goroutines make another model than one")
	}
	whole, err := os.ReadFile(o.Checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(o.Checkpoint, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	o.Resume = true
	if _, b := save("resumed", o); !bytes.Equal(b, want) {
		t.Error("resumed: another model")
	}
	if left, err := os.ReadDir(o.Scratch); err != nil || len(left) > 0 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
	inMemory, all := dataOf(t, list)
	n, err := Train(t.Context(), inMemory, all, small(), softmax.Training{})
	if err != nil {
		t.Fatal(err)
	}
	test := texts(60, 10, 2)
	if a, b := accuracy(t, m, test, 0), accuracy(t, n, test, 0); a < b-0.05 {
		t.Errorf("accuracy %.3f, in memory %.3f", a, b)
	}
}

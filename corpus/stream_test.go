package corpus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/softmax"
)

// streamRows is the number of rows of the files below: more than a budget of 1 MB has
// room for.
const streamRows = 3*checkedRows + 77

// streamFile is a file of texts, each with a number of its own, sorted by class; every
// fifth row of mixed ones is of two classes.
func streamFile(mixed bool) []byte {
	var b bytes.Buffer
	for i := range streamRows {
		label := fmt.Sprintf(`"label":"class %d"`, i*5/streamRows)
		if mixed {
			label = fmt.Sprintf(`"labels":{"class %d":1}`, i*5/streamRows)
		}
		if mixed && i%5 == 0 {
			label = fmt.Sprintf(`"labels":{"class %d":3,"class 0":1}`, 1+i%4)
		}
		fmt.Fprintf(&b, `{"text":"words of row%d and class%d",%s,"weight":%d}`+"\n", i, i*5/streamRows, label, 1+i%2)
	}
	return b.Bytes()
}

// readStream reads a file, or a stream of the same bytes, within limits.
func readStream(t *testing.T, data []byte, file bool, limits Limits) (*Corpus, error) {
	t.Helper()
	opts := dataset.Options{Weight: "weight"}
	if !file {
		r, err := dataset.NewReader(bytes.NewReader(data), "stdin.jsonl", opts)
		if err != nil {
			t.Fatal(err)
		}
		return ReadFrom(r, limits)
	}
	path := filepath.Join(t.TempDir(), "rows.jsonl")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	c, _, err := Read([]string{path}, opts, limits)
	return c, err
}

// epochOf returns the rows of an epoch in words, in their order.
func epochOf(t *testing.T, s softmax.Stream, epoch int) []string {
	t.Helper()
	var rows []string
	blocks := 0
	for ex, err := range s.Epoch(context.Background(), epoch) {
		if err != nil {
			t.Fatal(err)
		}
		blocks++
		for i := range ex.Class {
			index, value := ex.X.(*matrix.Sparse).Row(i)
			row := fmt.Sprint(ex.Class[i], ex.Weight[i], index, value)
			if ex.Mix != nil {
				index, share := ex.Mix.Row(i)
				row += fmt.Sprint(index, share)
			}
			rows = append(rows, row)
		}
	}
	if blocks != s.Blocks || len(rows) != s.Rows {
		t.Errorf("%d blocks of %d rows, want %d of %d", blocks, len(rows), s.Blocks, s.Rows)
	}
	return rows
}

// Every example that is not held out comes once in an epoch, as the features it has in
// memory, from a file as from a stream, with any number of threads; in another order in
// each epoch.
func TestStreamHasAllRows(t *testing.T) {
	for _, mixed := range []bool{false, true} {
		data := streamFile(mixed)
		whole, err := readStream(t, data, true, Limits{})
		if err != nil || whole.Stream != nil {
			t.Fatal(err)
		}
		var first []string
		for _, file := range []bool{true, false} {
			told := 0
			c, err := readStream(t, data, file, Limits{Memory: 1 << 20, Scratch: t.TempDir(), Seed: 3, Progress: func(rows int, _ int64) { told = rows }})
			if err != nil || c.Stream == nil {
				t.Fatal(c, err)
			}
			if told != streamRows || c.Fingerprint() != whole.Fingerprint() {
				t.Errorf("file %v: told of %d rows, fingerprint %s; want %d and %s", file, told, c.Fingerprint(), streamRows, whole.Fingerprint())
			}
			if c.Stream.Held < 10 || c.Table.Rows() < 2*c.Stream.Held || c.Table.Rows() > streamRows/2 {
				t.Errorf("a sample of %d rows, %d of them held out", c.Table.Rows(), c.Stream.Held)
			}
			rows := c.Rows()
			d, err := c.Data(context.Background(), rows, ClassFiles{})
			if err != nil {
				t.Fatal(err)
			}
			d.ClassWeight = []float32{1, 2, 1, 1, 0.5}
			f, err := d.Fit(rows, Inputs{})
			if err != nil {
				t.Fatal(err)
			}
			one, two := epochOf(t, d.Epochs(f, 7, 1), 0), epochOf(t, d.Epochs(f, 7, 3), 0)
			if !slices.Equal(one, two) {
				t.Error("another order with three threads")
			}
			if first == nil {
				first = one
			} else if !slices.Equal(first, one) {
				t.Error("a stream gives other rows than a file")
			}
			if slices.Equal(one, epochOf(t, d.Epochs(f, 7, 1), 1)) {
				t.Error("the second epoch has the order of the first")
			}
			// All rows of the file, as the features and targets of rows in memory.
			all := whole.Rows()
			full, err := whole.Data(context.Background(), all, ClassFiles{})
			if err != nil {
				t.Fatal(err)
			}
			full.ClassWeight = d.ClassWeight
			x, err := f.Features.Matrix(whole.Table, all)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := d.ClassTotals(rows), full.ClassTotals(all); !slices.EqualFunc(got, want, near) {
				t.Errorf("mixed %v: the examples of the classes weigh %v, in memory %v", mixed, got, want)
			}
			want := map[string]int{}
			weight, mix := full.weights(all), full.mixes(all, true)
			for i, row := range all {
				index, value := x.(*matrix.Sparse).Row(i)
				words := fmt.Sprint(full.Class[row], weight[i], index, value)
				if mix != nil {
					index, share := mix.Row(i)
					words += fmt.Sprint(index, share)
				}
				want[words]++
			}
			for _, row := range one {
				if want[row]--; want[row] < 0 {
					t.Fatalf("mixed %v: row %s, which is not in the file, or more often", mixed, row)
				}
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			whole, _ = readStream(t, data, true, Limits{})
		}
	}
}

// Parts are random: each block has about as many rows of each class, although the file
// is sorted by class.
func TestStreamIsShuffled(t *testing.T) {
	c, err := readStream(t, streamFile(false), true, Limits{Memory: 1 << 20, Scratch: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	all := c.Rows()
	d, err := c.Data(context.Background(), all, ClassFiles{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := d.Fit(all, Inputs{})
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]int, 5)
	n := 0
	for ex := range d.Epochs(f, 1, 2).Epoch(context.Background(), 0) {
		for _, y := range ex.Class {
			counts[y]++
		}
		if n += len(ex.Class); n > 1000 {
			break
		}
	}
	if least := slices.Min(counts); least < n/8 {
		t.Errorf("the first %d rows have %v of the classes", n, counts)
	}
	if rows := d.Stream.ClassRows(5); rows[0]+rows[1]+rows[2]+rows[3]+rows[4] != streamRows {
		t.Errorf("%v rows of the classes, want %d in all", rows, streamRows)
	}
}

// Without a folder for the file the examples are refused, and where the folder cannot
// be written to the error says what the file is for.
func TestStreamRefused(t *testing.T) {
	data := streamFile(false)
	if _, err := readStream(t, data, true, Limits{Memory: 1 << 20}); !errors.Is(err, ErrMemory) {
		t.Errorf("%v, want ErrMemory", err)
	}
	long := bytes.ReplaceAll(data, []byte("words of"), []byte("words "+strings.Repeat("and words ", 300)+" of"))
	if _, err := readStream(t, long, false, Limits{Memory: 1 << 20, Scratch: filepath.Join(t.TempDir(), "none")}); err == nil || !strings.Contains(err.Error(), "memory does not hold") {
		t.Errorf("no folder for the file: %v", err)
	}
	bad := append(slices.Clone(data), []byte(`{"text":"a","label":""}`+"\n")...)
	if _, err := readStream(t, bad, true, Limits{Memory: 1 << 20, Scratch: t.TempDir()}); err == nil || !strings.Contains(err.Error(), fmt.Sprint(streamRows+1)) {
		t.Errorf("a bad last line: %v, want its number", err)
	}
}

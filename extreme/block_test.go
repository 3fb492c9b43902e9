package extreme

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/dataset"
)

var _ classify.BlockPredictor = (*Predictor)(nil)

// Many records together have the probabilities that each has alone, to the last bit.
func TestBlock(t *testing.T) {
	m := trained(t, small())
	for _, beam := range []int{1, 2, 100} {
		one, many := m.NewPredictor(beam), m.NewPredictor(beam)
		for _, list := range [][]dataset.Example{texts(60, 3, 9), nil, {{Text: ""}, {Text: "no word of these"}}, texts(60, 1, 4)} {
			next := 0
			n, err := many.Block(list, func(at int, p []float32) error {
				want, err := one.Probabilities(list[at])
				if at != next || err != nil || !slices.Equal(p, want) {
					t.Fatalf("beam %d: record %d differs (%v)", beam, at, err)
				}
				next++
				return nil
			})
			if n != len(list) || next != n || err != nil {
				t.Fatalf("beam %d: %d of %d records, %v", beam, n, len(list), err)
			}
		}
	}
}

// What is before a record that cannot be used, or that visit fails at, is done.
func TestBlockStops(t *testing.T) {
	m := trained(t, small())
	list := texts(60, 1, 9)
	list[7] = dataset.Example{Values: []float64{1}}
	p := m.NewPredictor(0)
	seen := 0
	count := func(int, []float32) error { seen++; return nil }
	if n, err := p.Block(list, count); n != 7 || seen != 7 || err == nil {
		t.Errorf("%d records, %d seen, %v", n, seen, err)
	}
	stop := errors.New("stop")
	if n, err := p.Block(list, func(at int, _ []float32) error {
		if at == 3 {
			return stop
		}
		return nil
	}); n != 3 || !errors.Is(err, stop) {
		t.Errorf("%d records, %v", n, err)
	}

	// A damaged leaf: the records before the first that comes to it.
	path := filepath.Join(t.TempDir(), "m")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	back, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	list = texts(60, 1, 9)
	leaf := len(m.Partition.Nodes) - 1
	want := 0
	for search := newSearch(m.Partition, m.nodes, nil, 2); want < len(list); want++ {
		index, value, err := p.rower.Row(list[want])
		if err != nil {
			t.Fatal(err)
		}
		search.down(m.Partition.Levels()-1, index, value)
		if slices.ContainsFunc(search.now, func(s step) bool { return int(s.node) == leaf }) {
			break
		}
	}
	back.lazy.sums = slices.Clone(back.lazy.sums) // the file is mapped, and not to be written
	back.lazy.sums[leaf]++
	if n, err := back.NewPredictor(2).Block(list, count); n != want || want == len(list) || !errors.Is(err, ErrModelFile) {
		t.Errorf("damaged leaf: %d records, want %d, %v", n, want, err)
	}
}

package feature

import (
	"testing"

	"github.com/treeloss/treeloss/record"
)

// Rows that hold the same have the same key, of any kind, and others have others: a number
// moved to the next column, another sign, another count of a word.
func TestKey(t *testing.T) {
	for _, tc := range []struct {
		kind       record.Kind
		same, twin record.Example
		others     []record.Example
	}{
		{record.Text, record.Example{Text: "a cat, a dog"}, record.Example{Text: "A cat, a DOG"}, []record.Example{{Text: "a cat"}, {Text: "a cat, a cat, a dog"}, {Text: ""}}},
		{record.Numbers, record.Example{Values: []float64{1, 0, 2}}, record.Example{Values: []float64{1, 0, 2}}, []record.Example{{Values: []float64{0, 1, 2}}, {Values: []float64{1, 0, -2}}}},
		{record.Sparse, record.Example{Index: []int32{1, 4}, Values: []float64{1, 2}}, record.Example{Index: []int32{1, 4}, Values: []float64{1, 2}},
			[]record.Example{{Index: []int32{1, 5}, Values: []float64{1, 2}}, {Index: []int32{1}, Values: []float64{1}}}},
	} {
		table := NewTable(tc.kind, nil)
		for _, e := range append([]record.Example{tc.same, tc.twin}, tc.others...) {
			if err := table.Add(e); err != nil {
				t.Fatal(err)
			}
		}
		if table.Key(0) != table.Key(1) {
			t.Errorf("%v: the same rows have different keys", tc.kind)
		}
		for i := range tc.others {
			if table.Key(0) == table.Key(2+i) {
				t.Errorf("%v: %v has the key of %v", tc.kind, tc.others[i], tc.same)
			}
		}
	}
}

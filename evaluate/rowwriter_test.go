package evaluate_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"testing"

	"github.com/treeloss/treeloss/evaluate"
)

// The heads of the CSV are the keys of the JSON lines, and a probability is read again
// as the same number.
func TestRowWriter(t *testing.T) {
	p := float32(0.1)
	rows := []evaluate.Row{
		{Place: "a.csv:2", ID: "7", Text: "a,\"b\"\n<c>", Label: "x", Predicted: "x", Right: true, Probability: p, LabelProbability: &p},
		{Place: "a.csv:3", Label: "new", Predicted: "x", Probability: 1.0 / 3},
	}
	var table, lines bytes.Buffer
	for out, w := range map[*bytes.Buffer]*evaluate.RowWriter{&table: evaluate.NewRowWriter(&table, false), &lines: evaluate.NewRowWriter(&lines, true)} {
		for _, r := range rows {
			w.Write(r)
		}
		w.Flush()
		if out.Len() == 0 {
			t.Fatal("nothing written")
		}
	}
	cells, err := csv.NewReader(&table).ReadAll()
	if err != nil || len(cells) != 3 {
		t.Fatalf("%d lines of CSV: %v", len(cells), err)
	}
	if got, want := cells[1], []string{"a.csv:2", "7", rows[0].Text, "x", "x", "1", "0.1", "0.1"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := cells[2], []string{"a.csv:3", "", "", "new", "x", "0", "0.33333334", ""}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for i, line := range bytes.Split(bytes.TrimSpace(lines.Bytes()), []byte("\n")) {
		keys := map[string]any{}
		if err := json.Unmarshal(line, &keys); err != nil {
			t.Fatal(err)
		}
		for _, head := range cells[0] {
			if _, ok := keys[head]; !ok {
				t.Errorf("line %d has no %q", i+1, head)
			}
		}
		if len(keys) != len(cells[0]) || keys["text"] != rows[i].Text {
			t.Errorf("line %d: %v", i+1, keys)
		}
	}
}

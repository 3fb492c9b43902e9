package evaluate

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"
)

// RowWriter writes rows as CSV, with a line of heads, or as JSON lines; the keys of
// these are the heads. An error of the writer below is left to that one to tell.
type RowWriter struct {
	table *csv.Writer   // nil: JSON lines
	lines *json.Encoder // nil: CSV
}

// NewRowWriter begins CSV on w, or JSON lines.
func NewRowWriter(w io.Writer, jsonLines bool) *RowWriter {
	if jsonLines {
		lines := json.NewEncoder(w)
		lines.SetEscapeHTML(false)
		return &RowWriter{lines: lines}
	}
	table := csv.NewWriter(w)
	_ = table.Write([]string{"place", "id", "text", "label", "predicted", "right", "probability", "label_probability"})
	return &RowWriter{table: table}
}

// Write adds a row. As CSV right is 1 or 0, and a probability that is not known empty.
func (w *RowWriter) Write(r Row) {
	if w.lines != nil {
		_ = w.lines.Encode(r)
		return
	}
	right, ofLabel := "0", ""
	if r.Right {
		right = "1"
	}
	if r.LabelProbability != nil {
		ofLabel = probabilityCell(*r.LabelProbability)
	}
	_ = w.table.Write([]string{r.Place, r.ID, r.Text, r.Label, r.Predicted, right, probabilityCell(r.Probability), ofLabel})
}

// Flush writes what is left.
func (w *RowWriter) Flush() {
	if w.table != nil {
		w.table.Flush()
	}
}

// probabilityCell has as many digits as it takes to read the same number again.
func probabilityCell(p float32) string { return strconv.FormatFloat(float64(p), 'g', -1, 32) }

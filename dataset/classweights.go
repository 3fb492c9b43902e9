package dataset

import (
	"bytes"
	"io"
	"strings"

	"github.com/treeloss/treeloss/internal/input"
)

// ReadClassWeights reads the weight of each class from CSV, rows label,weight,
// or with tabs if the first line has one and no comma; plain or packed with
// gzip or zstd. A first row whose label is one of the usual column names, such
// as label or class, and whose weight is no number, is a header. Labels are
// taken without outer white space. A weight is finite and 0 or more, and not
// all are 0; they are returned as they stand, in whatever unit. name is the
// file's name, for errors.
//
// Whatever is refused is an *Error that names file and line: a row that is not
// two cells, an empty label, a label for the second time, a weight that is none.
// That each class of a data set has its weight is for the caller to see.
func ReadClassWeights(r io.Reader, name string) (map[string]float64, error) {
	in, err := input.New(r, name, input.Options{Want: "rows label,weight"})
	if err != nil {
		return nil, err
	}
	defer in.Close()
	rec := &records{lines: in.Lines(Options{}.maxRecord()), comma: ',', quotes: true, limit: 2}
	if first := in.FirstLine(); bytes.IndexByte(first, '\t') >= 0 && bytes.IndexByte(first, ',') < 0 {
		rec.comma = '\t'
	}
	weights := make(map[string]float64)
	var most float64
	for first := true; ; first = false {
		if err := rec.read(); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		if n := rec.count(); n != 2 {
			return nil, input.Refuse(name, rec.line, 0, "%s, want two: label,weight; quote a label that holds the separator", input.Plural(n, "cell"))
		}
		label := string(bytes.TrimSpace(rec.field(0)))
		weight, err := parseNumber(rec.field(1))
		_, known := weights[label]
		line, column := rec.at(1)
		switch {
		case err == errNotNumber && first && (isOneOf(labelNames, strings.ToLower(label)) || strings.EqualFold(label, "name")):
			continue
		case label == "":
			return nil, input.Refuse(name, rec.line, 0, "the label is empty; fill it in or remove the row")
		case err != nil:
			return nil, input.Refuse(name, line, column, "the weight of %s, %s, %s; write a number, 0 or more", input.Clip(label), input.Clip(bytes.TrimSpace(rec.field(1))), err)
		case weight < 0:
			return nil, input.Refuse(name, line, column, "the weight of %s is %g, want 0 or more", input.Clip(label), weight)
		case known:
			return nil, input.Refuse(name, rec.line, 0, "class %s has a weight already; keep one row", input.Clip(label))
		}
		weights[label] = weight
		most = max(most, weight)
	}
	switch {
	case len(weights) == 0:
		return nil, input.Refuse(name, 0, 0, "no rows, want label,weight for each class")
	case most == 0:
		return nil, input.Refuse(name, 0, 0, "every weight is 0; give a class one above 0")
	}
	return weights, nil
}

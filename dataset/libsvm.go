package dataset

import (
	"bytes"
	"math"
	"strconv"

	"github.com/treeloss/treeloss/internal/input"
)

// libsvm reads lines such as "label 1:0.5 7:2 # comment". Feature numbers
// begin at 1 (at 0 with Options.ZeroBased) and ascend. The label is kept as it
// is written: "+1" and "1" are two classes. Query numbers (qid:3) are refused,
// because data to be ranked has no classes.
type libsvm struct {
	lines  *input.Lines
	opts   Options
	labels interner
	parts
}

// newLIBSVM reads the format of LIBSVM and SVMlight (Chang and Lin 2011), which
// scikit-learn calls svmlight.
func newLIBSVM(in *input.Stream, opts Options) (source, error) {
	s := &libsvm{lines: in.Lines(opts.maxRecord()), opts: opts}
	s.kind = Sparse
	s.about = "LIBSVM lines, feature numbers from 1"
	if opts.ZeroBased {
		s.about = "LIBSVM lines, feature numbers from 0"
	}
	return s, opts.withoutColumns(in.Name, LIBSVM, Sparse)
}

// next implements source.
func (s *libsvm) next(ex *Example) error {
	line, err := s.lines.Filled(func(line []byte) bool { return len(withoutComment(line)) == 0 })
	if err != nil {
		return err
	}
	line = withoutComment(line)
	ex.Place.Line, ex.Weight, ex.Label = s.lines.Number, 1, ""
	ex.Index, ex.Values = ex.Index[:0], ex.Values[:0]
	first := true
	for i := 0; ; first = false {
		for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
			i++
		}
		if i == len(line) {
			return nil
		}
		end := len(line)
		if n := bytes.IndexAny(line[i:], " \t"); n >= 0 {
			end = i + n
		}
		word := line[i:end]
		var err error
		switch labelled := bytes.IndexByte(word, ':') < 0; {
		case first && labelled:
			err = s.takeLabel(ex, word, i+1)
		case first && !s.opts.Unlabelled:
			err = s.lines.Refuse(i+1, "%s stands where the label is wanted; begin each line with one", input.Clip(word))
		default:
			err = s.takePair(ex, word, i+1)
		}
		if err != nil {
			return err
		}
		i = end
	}
}

// extent implements source.
func (s *libsvm) extent() extent { return s.lines }

// withoutComment returns a line up to its comment, without white space at its end.
func withoutComment(line []byte) []byte {
	line, _, _ = bytes.Cut(line, []byte("#"))
	return bytes.TrimRight(line, " \t\r")
}

// takeLabel sets the label from the first word of a line, of labels with commas
// between them the first. column, from 1, is where the word begins.
func (s *libsvm) takeLabel(ex *Example, word []byte, column int) error {
	one, _, several := bytes.Cut(word, []byte(","))
	if several && !s.opts.FirstLabel && !s.opts.Unlabelled {
		return s.lines.Refuse(column, "several labels, %s, and a model has one class for a line; Options.FirstLabel takes the first of each line", input.Clip(word))
	}
	if one = bytes.TrimSpace(one); len(one) == 0 && !s.opts.Unlabelled {
		return s.lines.Refuse(column, "the label is empty; begin each line with one")
	}
	ex.Label = s.labels.get(one)
	return nil
}

// takePair appends the entry that a word such as 7:0.5 is. Numbers ascend, so that a
// line is a sparse row as it stands and a number that occurs twice is found without a
// set.
func (s *libsvm) takePair(ex *Example, word []byte, column int) error {
	name, value, found := bytes.Cut(word, []byte(":"))
	if !found || len(name) == 0 {
		return s.lines.Refuse(column, "%s, want index:value", input.Clip(word))
	}
	if string(name) == "qid" {
		return s.lines.Refuse(column, "%s: data to be ranked has no classes; remove the qid entries if the labels are classes", input.Clip(word))
	}
	base := int64(1)
	if s.opts.ZeroBased {
		base = 0
	}
	index, err := strconv.ParseInt(string(name), 10, 64)
	switch {
	case err != nil || name[0] == '+' || name[0] == '-' || index-base >= math.MaxInt32:
		return s.lines.Refuse(column, "feature number %s, want an integer from %d to %d", input.Clip(name), base, math.MaxInt32-1+base)
	case index < base:
		return s.lines.Refuse(column, "feature number 0, want 1 or more; if the file counts from 0, write it anew counting from 1 (scikit-learn: zero_based=False)")
	}
	index -= base
	if n := len(ex.Index); n > 0 && index == int64(ex.Index[n-1]) {
		return s.lines.Refuse(column, "feature %d occurs twice; add up its values", index+base)
	} else if n > 0 && index < int64(ex.Index[n-1]) {
		return s.lines.Refuse(column, "feature %d after %d; sort the features of a line", index+base, int64(ex.Index[n-1])+base)
	}
	v, err := parseNumber(value)
	if err != nil {
		return s.lines.Refuse(column+len(name)+1, "feature %d: %s %s", index+base, input.Clip(value), err)
	}
	ex.Index, ex.Values = append(ex.Index, int32(index)), append(ex.Values, v)
	return nil
}

package dataset

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
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
	xmc    *xmcHeader // of a file of the Extreme Classification Repository; nil: none
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
	if err := opts.withoutColumns(in.Name, LIBSVM, Sparse); err != nil {
		return nil, err
	}
	return s, s.header(in.FirstLine())
}

// header reads the first line if it is that of the Extreme Classification Repository: three
// integers, which in a plain LIBSVM file would be a label and two pairs without a value.
func (s *libsvm) header(line []byte) error {
	h := parseXMC(line)
	if h == nil {
		return nil
	}
	name := s.lines.Name()
	switch {
	case h.examples < 1 || h.features < 1 || h.features > math.MaxInt32 || h.labels < 1:
		return input.Refuse(name, 1, 0, "%s as the numbers of examples, features and labels, want each to be at least 1 and features at most %d", input.Clip(bytes.TrimSpace(line)), math.MaxInt32)
	case s.opts.single():
		return refuseSeveral(input.Refuse(name, 1, 0, "a file of the Extreme Classification Repository, with any number of labels a line"), "line")
	}
	s.xmc, s.opts.ZeroBased = h, true
	s.about = fmt.Sprintf("lines of the Extreme Classification Repository, %s of %s and %s", input.Plural(int(h.examples), "example"), input.Plural(int(h.features), "feature"), input.Plural(int(h.labels), "label"))
	_, err := s.lines.Read()
	return err
}

// next implements source.
func (s *libsvm) next(ex *Example) error {
	line, err := s.lines.Filled(func(line []byte) bool { return len(withoutComment(line)) == 0 })
	if err == io.EOF && s.xmc != nil {
		err = cmp.Or(s.xmc.end(s), err)
	}
	if err != nil {
		return err
	}
	if s.xmc != nil {
		s.xmc.seen++
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
		case first && !s.opts.Unlabelled && !s.opts.Several():
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
	switch {
	case s.opts.Several():
		return s.takeLabels(ex, word, column)
	case several && s.opts.single():
		return refuseSeveral(s.lines.Refuse(column, "several labels, %s", input.Clip(word)), "line")
	}
	if one = bytes.TrimSpace(one); len(one) == 0 && !s.opts.Unlabelled {
		return s.lines.Refuse(column, "the label is empty; begin each line with one")
	}
	ex.Label = s.labels.get(one)
	return nil
}

// takeLabels adds the labels of the first word of a line.
func (s *libsvm) takeLabels(ex *Example, word []byte, column int) error {
	rest := word
	for more := true; more; {
		at := column + len(word) - len(rest)
		var one []byte
		one, rest, more = bytes.Cut(rest, []byte(","))
		one = bytes.TrimSpace(one)
		switch {
		case len(one) == 0:
			return s.lines.Refuse(at, "an empty label in %s; write its name, or no comma", input.Clip(word))
		case s.xmc != nil && !s.xmc.hasLabel(one):
			return s.lines.Refuse(at, "label %s, want a number from 0 to %d, as the first line says; mend it or the line", input.Clip(one), s.xmc.labels-1)
		case !addLabel(ex, s.labels.get(one)):
			return s.lines.Refuse(at, "%s", tooMany())
		}
	}
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
	if s.xmc != nil && index >= s.xmc.features {
		return s.lines.Refuse(column, "feature number %s, want a number from 0 to %d, as the first line says; mend it or the line", input.Clip(name), s.xmc.features-1)
	}
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

package dataset

import (
	"bytes"

	"github.com/treeloss/treeloss/internal/input"
)

// labelPrefix is how fastText marks a label unless told otherwise.
const labelPrefix = "__label__"

// fastText reads lines of words among which labels begin with a prefix,
// before or after the text. With Options.Unlabelled a line needs none, and a
// blank line is an example with an empty text, so that answers stand on the
// lines of their questions; else blank lines are passed over.
type fastText struct {
	lines  *input.Lines
	opts   Options
	prefix []byte
	labels interner
	text   []byte // a text from which labels were taken out
	parts
}

// newFastText reads the text format of fastText (github.com/facebookresearch/fastText,
// docs/supervised-tutorial.md).
func newFastText(in *input.Stream, opts Options) (source, error) {
	f := &fastText{lines: in.Lines(opts.maxRecord()), opts: opts, prefix: opts.labelPrefix()}
	f.about = "fastText lines, labels begin with " + string(f.prefix)
	if opts.Several() {
		f.about += ", any number of them a line"
	}
	if opts.Unlabelled {
		f.about = "lines of text"
	}
	return f, opts.withoutColumns(in.Name, FastText, Text)
}

// next implements source.
func (f *fastText) next(ex *Example) error {
	line, err := f.lines.Filled(func(line []byte) bool { return !f.opts.Unlabelled && input.Blank(line) })
	if err != nil {
		return err
	}
	ex.Place.Line, ex.Weight, ex.Label = f.lines.Number, 1, ""
	if !bytes.Contains(line, f.prefix) {
		ex.Text = string(bytes.TrimSpace(line))
		if !f.opts.Unlabelled && !f.opts.Several() {
			return f.lines.Refuse(0, "no label, want a word such as %sgreeting; name the file .csv, .tsv or .jsonl if it is one, or say so with Options.Format; Options.LabelPrefix is how labels begin, and Options.Multilabel is for lines with several or none", f.prefix)
		}
		return nil
	}
	f.text = f.text[:0]
	for from := 0; from < len(line); {
		at := f.nextLabel(line, from)
		f.text = append(f.text, line[from:at]...)
		if at == len(line) {
			break
		}
		end := at + len(f.prefix)
		for end < len(line) && !isBlank(line[end]) {
			end++
		}
		if err := f.take(ex, line[at+len(f.prefix):end], at+1); err != nil {
			return err
		}
		// A label leaves with the white space after it, so that the words
		// around it keep their own.
		for end < len(line) && isBlank(line[end]) {
			end++
		}
		from = end
	}
	if ex.Label == "" && !f.opts.Unlabelled && !f.opts.Several() {
		return f.lines.Refuse(0, "no label, want a word that begins with %s", f.prefix)
	}
	ex.Text = string(bytes.TrimSpace(f.text))
	return nil
}

// extent implements source.
func (f *fastText) extent() extent { return f.lines }

// nextLabel returns where the next word that begins with the prefix stands, from
// a place on that begins a word; len(line) if there is none.
func (f *fastText) nextLabel(line []byte, from int) int {
	for i := from; ; i += len(f.prefix) {
		n := bytes.Index(line[i:], f.prefix)
		if n < 0 {
			return len(line)
		}
		if i += n; i == from || isBlank(line[i-1]) {
			return i
		}
	}
}

// take sets the label, which was found at the given column, in bytes from 1. The same label
// twice is one.
func (f *fastText) take(ex *Example, name []byte, column int) error {
	name = bytes.TrimSpace(name)
	switch strict := !f.opts.Unlabelled; {
	case len(name) == 0 && strict:
		return f.lines.Refuse(column, "the label is empty; write its name after %s", f.prefix)
	case f.opts.Several():
		if len(name) > 0 && !addLabel(ex, f.labels.get(name)) {
			return f.lines.Refuse(column, "%s", tooMany())
		}
	case ex.Label == "":
		ex.Label = f.labels.get(name)
	case ex.Label != string(name) && f.opts.single():
		return refuseSeveral(f.lines.Refuse(column, "a second label, %s beside %s", input.Clip(name), input.Clip(ex.Label)), "line")
	}
	return nil
}

// isBlank reports what fastText holds for the end of a word (Dictionary::readWord), ASCII
// white space and the byte 0; Unicode's other spaces are letters to it.
func isBlank(c byte) bool {
	return c == ' ' || c >= '\t' && c <= '\r' || c == 0
}

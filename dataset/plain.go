package dataset

import (
	"strings"
	"unicode/utf8"

	"github.com/treeloss/treeloss/internal/input"
)

// plain takes every line of a text for an example: the first, whatever it looks like,
// and blank ones, so that answers stand on the lines of their questions.
type plain struct {
	lines *input.Lines
	opts  Options
	parts
}

// newPlain reads lines of text. They have no labels.
func newPlain(in *input.Stream, opts Options) (source, error) {
	if !opts.Unlabelled {
		return nil, input.Refuse(in.Name, 0, 0, "plain lines have no labels; name the format that has them with Options.Format")
	}
	p := &plain{lines: in.Lines(opts.maxRecord()), opts: opts}
	p.lines.AnyBytes = true
	p.about = "plain lines of text"
	return p, opts.withoutColumns(in.Name, Lines, Text)
}

// next implements source.
func (p *plain) next(ex *Example) error {
	line, err := p.lines.Filled(func([]byte) bool { return false })
	if err != nil {
		return err
	}
	ex.Place.Line, ex.Weight, ex.Label, ex.Text = p.lines.Number, 1, "", string(line)
	if !utf8.Valid(line) {
		ex.Text = strings.ToValidUTF8(ex.Text, "\uFFFD")
		if p.opts.Replaced != nil {
			p.opts.Replaced(ex.Place)
		}
	}
	return nil
}

// extent implements source.
func (p *plain) extent() extent { return p.lines }

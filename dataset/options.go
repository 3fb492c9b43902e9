package dataset

import (
	"cmp"
	"strings"
	"unicode"

	"github.com/treeloss/treeloss/internal/input"
	"github.com/treeloss/treeloss/internal/option"
)

// Options says how to read. The zero value reads labelled examples and finds
// format and columns itself, as the package comment tells.
type Options struct {
	Format Format // Auto: from the file's name, else from its first line

	// Column names of CSV, TSV and Parquet, keys of JSONL; "" finds label and text by the
	// usual names, and means no weight. An exact match goes before one that
	// differs in case. The other formats have no such names: they ignore Label,
	// fastText ignores Text, and everything else is refused.
	Label, Text, Weight string

	// Text may name several columns, with commas between: "title,body". Each is a text of
	// its own, Example.Text the first, Example.Fields the others.

	// Categories names columns whose values are names, such as a brand, to be used beside
	// a text; Columns with Text, or with Categories, are numbers beside it. A value that is
	// missing is no error there. They are in Example.Fields and Example.Values.
	Categories []string

	ID string // column whose values Example.ID has, as text; "" means none

	// Columns names the numeric columns, in the order in which Values has them.
	// An entry is a name or a pattern of path.Match such as "margin*", which
	// stands for the matching columns in file order, without label and weight.
	// It may be the one JSONL key, or Parquet column, that holds a list of numbers.
	Columns []string

	// Encoding is that of text which is neither UTF-8 nor has a byte-order mark, such as
	// windows-1252, iso-8859-15 or utf-16le; "" means UTF-8. UTF-16 with a mark is found
	// by it. NumPy and Parquet hold no such text and are refused with it.
	Encoding string

	// Skip is called with the error of each row that cannot be used, which is then left
	// out: one without a label, with another number of columns than the header, with
	// broken UTF-8, or with a value that is no number. nil makes the first such error
	// end the reading; its Error.Row tells that Skip would help. What cannot be read on
	// after, such as a quote that is never closed, is an error all the same. A row that is
	// read again, as the first rows of a file are, is told again.
	Skip func(*Error)

	// Replaced is called with each line of Format Lines whose broken UTF-8 was replaced
	// by U+FFFD; nil: not.
	Replaced func(Place)

	LabelPrefix string // fastText: how a label begins; "" means __label__. A file whose first line begins so is of fastText

	// Multilabel reads examples that have any number of labels each, none included, into
	// Example.Labels: a JSONL list, the several labels of a line of fastText or LIBSVM, a
	// cell whose labels LabelSeparator separates. false refuses a second label with an
	// error that wraps ErrSeveralLabels.
	Multilabel     bool
	LabelSeparator string // CSV, TSV, Parquet, texts of JSONL: what stands between the labels of a cell, such as ; implies Multilabel

	Labels     string // .npy: file with the labels, .npy or text with one a line
	Unlabelled bool   // a missing or empty label is fine, Example.Label stays ""; implies FirstLabel
	FirstLabel bool   // of several labels on a fastText or LIBSVM line, or in a JSONL list, take the first; false refuses the line
	NoQuotes   bool   // CSV, TSV: a double quote is a character like any other
	ZeroBased  bool   // LIBSVM: feature numbers begin at 0; false: at 1
	Shard      Shard  // the part of the files to read; zero: all
	MaxRecord  int    // longest record in bytes, 0 means 64 MiB; a quote never closed ends there; a line up to 64 KiB is always read; Parquet: largest page

	later bool // a further file of OpenAll: names come from the first, kinds are compared
}

// check refuses an encoding that is not known, a label prefix with white space, and
// labels that are to be separated and to be one.
func (o Options) check() error {
	_, known := input.EncodingOf(o.Encoding)
	return cmp.Or(o.Shard.check(), option.Check("Encoding", o.Encoding, known, "a name such as windows-1252, iso-8859-15 or utf-16le"),
		option.Check("LabelSeparator", o.LabelSeparator, o.LabelSeparator == "" || o.LabelSeparator != "\"" && !strings.ContainsAny(o.LabelSeparator, "\r\n"), "what stands between the labels of a cell, such as ; or |"),
		option.Exclude("FirstLabel", o.FirstLabel, "Multilabel", o.Several(), "an example has one label or several"),
		option.Check("LabelPrefix", o.LabelPrefix, !strings.ContainsFunc(o.LabelPrefix, unicode.IsSpace), "what labels begin with, without white space, such as "+labelPrefix))
}

// labelPrefix returns how a label begins in a file of fastText.
func (o Options) labelPrefix() []byte { return []byte(cmp.Or(o.LabelPrefix, labelPrefix)) }

// skip tells whether err is of one row only and that row is to be left out.
func (o Options) skip(err error) bool {
	e := input.MarkRow(err)
	if e == nil || o.Skip == nil {
		return false
	}
	o.Skip(e)
	return true
}

// noneLeft is the end of a message about a file without examples.
func (o Options) noneLeft() string {
	if o.Skip != nil {
		return " that can be used"
	}
	return ""
}

// reading says what a file of examples holds.
func (o Options) reading() input.Options {
	return input.Options{
		Want: "a file of examples", Forms: formats + "; folders of pictures go with a network", Encoding: o.Encoding, AnyText: o.Format == Lines,
		Mend: "save the file as UTF-8, or say what it is, such as Options.Encoding windows-1252",
	}
}

// maxRecord returns the longest record in bytes.
func (o Options) maxRecord() int { return cmp.Or(max(o.MaxRecord, 0), 64<<20) }

// withoutColumns refuses the options that a format without named columns
// cannot obey: leaving them aside would silently train on something else.
func (o Options) withoutColumns(file string, format Format, kind Kind) error {
	var option string
	switch {
	case o.later:
		return nil
	case o.Weight != "":
		option = "Options.Weight"
	case o.ID != "":
		option = "Options.ID"
	case len(o.Columns) > 0:
		option = "Options.Columns"
	case len(o.Categories) > 0:
		option = "Options.Categories"
	case o.Text != "" && kind != Text:
		option = "Options.Text"
	case o.LabelSeparator != "":
		option = "Options.LabelSeparator"
	default:
		return nil
	}
	return input.Refuse(file, 0, 0, "%s files have no named columns; leave out %s or bring the data as CSV, TSV, JSONL or Parquet", format, option)
}

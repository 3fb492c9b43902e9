package dataset

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/treeloss/treeloss/internal/option"
)

// Format is a file format.
type Format int

// The formats. Each but Parquet may also be packed with gzip or zstd.
const (
	Auto     Format = iota
	CSV             // RFC 4180 with a header line, separated by commas, semicolons or tabs
	TSV             // the same, separated by tabs
	JSONL           // one JSON object a line
	FastText        // __label__name and words; with Options.Unlabelled any lines of text
	LIBSVM          // label index:value ...
	NPY             // NumPy array of rows x columns, labels in a file beside it
	Parquet         // columns of text, numbers or lists of numbers; a file, not a pipe
	Lines           // plain text, one example a line, whatever it looks like; for Options.Unlabelled only
)

// formats lists what can be read, for messages.
const formats = "CSV (.csv), TSV (.tsv), JSON lines (.jsonl), fastText (.ft, .txt), LIBSVM (.svm) and NumPy (.npy), each also as .gz or .zst, and Parquet (.parquet)"

// formatNames has the usual name of each format, then the endings of its files.
var formatNames = [...][]string{
	Auto: {"auto"}, CSV: {"CSV", ".csv"}, TSV: {"TSV", ".tsv", ".tab"}, JSONL: {"JSONL", ".jsonl", ".ndjson"},
	FastText: {"fastText", ".txt", ".ft", ".fasttext"}, LIBSVM: {"LIBSVM", ".svm", ".libsvm", ".svmlight"},
	NPY: {"npy", ".npy"}, Lines: {"lines"}, Parquet: {"Parquet", ".parquet", ".pq", ".parq"},
}

// String returns the format's usual name.
func (f Format) String() string {
	if f < 0 || int(f) >= len(formatNames) {
		return "unknown format"
	}
	return formatNames[f][0]
}

// ParseFormat reads a format's name in any case; "" and "auto" are Auto. Another name is an
// *option.Error.
func ParseFormat(name string) (Format, error) {
	for f, names := range formatNames {
		if name == "" || strings.EqualFold(name, names[0]) {
			return Format(f), nil
		}
	}
	return Auto, option.Check("Format", name, false, "csv, tsv, jsonl, fasttext, libsvm, npy, parquet or lines")
}

// MarshalText returns the format's name in small letters.
func (f Format) MarshalText() ([]byte, error) { return []byte(strings.ToLower(f.String())), nil }

// UnmarshalText is ParseFormat.
func (f *Format) UnmarshalText(text []byte) (err error) {
	*f, err = ParseFormat(string(text))
	return err
}

// FormatOfName returns the format that the name's ending stands for, after
// .gz or .zst, or Auto.
func FormatOfName(name string) Format {
	name = strings.ToLower(name)
	ending := filepath.Ext(strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst"))
	for f, names := range formatNames {
		if slices.Contains(names[1:], ending) {
			return Format(f)
		}
	}
	return Auto
}

// sniff guesses the format from the first line of text. Lines to predict may
// be plain sentences, commas and all, so with Unlabelled a table is one that
// has a text column by its usual name, or a column that the options name.
func sniff(line []byte, opts Options) Format {
	line = bytes.Trim(line, "\r\n ")
	words := bytes.Fields(line)
	switch {
	case bytes.HasPrefix(line, opts.labelPrefix()):
		return FastText
	case bytes.HasPrefix(line, []byte("{")), bytes.HasPrefix(line, []byte("[")) && !opts.Unlabelled:
		return JSONL // which tells a JSON array what it wants
	case looksSparse(words):
		return LIBSVM
	}
	if _, named := namedSeparator(line); named {
		return CSV
	}
	format, comma := CSV, separator(line, true)
	if bytes.IndexByte(line, '\t') >= 0 {
		format, comma = TSV, '\t'
	}
	names := strings.Split(string(line), string(comma))
	known := len(opts.Columns)+len(opts.Categories) > 0
	named := append(strings.Split(strings.ToLower(opts.Text), ","), strings.ToLower(opts.Text))
	for _, name := range names {
		name = strings.ToLower(strings.Trim(name, `"`))
		known = known || isOneOf(textNames, name) || name != "" && (slices.Contains(named, name) || name == strings.ToLower(opts.Label))
	}
	switch {
	case known, len(names) > 1 && !opts.Unlabelled:
		return format
	case opts.Unlabelled:
		return FastText
	}
	return Auto
}

// looksSparse reports whether the words, but perhaps the first, are
// index:value pairs, and there is at least one; what follows a # is a comment.
func looksSparse(words [][]byte) bool {
	pairs := 0
	for i, word := range words {
		if word[0] == '#' {
			break
		}
		index, value, found := bytes.Cut(word, []byte(":"))
		_, err := parseNumber(value)
		switch {
		case found && isDigits(index) && err == nil:
			pairs++
		case i > 0:
			return false
		}
	}
	return pairs > 0
}

// isOneOf tells whether a name is in a list of names with spaces between.
func isOneOf(list, name string) bool { return slices.Contains(strings.Fields(list), name) }

// isDigits tells whether b is one or more digits.
func isDigits(b []byte) bool { return len(b) > 0 && len(bytes.Trim(b, "0123456789")) == 0 }

package dataset

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
)

// Format is a file format.
type Format int

// The formats. Each but Parquet may also be packed with gzip or zstd.
const (
	Auto     Format = iota
	CSV             // RFC 4180 with a header line
	TSV             // the same, separated by tabs
	JSONL           // one JSON object a line
	FastText        // __label__name and words; with Options.Unlabelled any lines of text
	LIBSVM          // label index:value ...
	NPY             // NumPy array of rows x columns, labels in a file beside it
	Parquet         // columns of text, numbers or lists of numbers; a file, not a pipe
)

// formats lists what can be read, for messages.
const formats = "CSV (.csv), TSV (.tsv), JSON lines (.jsonl), fastText (.ft, .txt), LIBSVM (.svm) and NumPy (.npy), each also as .gz or .zst, and Parquet (.parquet)"

// String returns the format's usual name.
func (f Format) String() string {
	switch f {
	case Auto:
		return "auto"
	case CSV:
		return "CSV"
	case TSV:
		return "TSV"
	case JSONL:
		return "JSONL"
	case FastText:
		return "fastText"
	case LIBSVM:
		return "LIBSVM"
	case NPY:
		return "npy"
	case Parquet:
		return "Parquet"
	}
	return "unknown format"
}

// ParseFormat reads a format's name in any case; "" and "auto" are Auto.
func ParseFormat(name string) (Format, error) {
	if name == "" {
		return Auto, nil
	}
	for f := Auto; f <= Parquet; f++ {
		if strings.EqualFold(name, f.String()) {
			return f, nil
		}
	}
	return Auto, fmt.Errorf("dataset: format %q, want csv, tsv, jsonl, fasttext, libsvm, npy or parquet", name)
}

// formatOfName returns the format that the name's ending stands for, after
// .gz or .zst, or Auto.
func formatOfName(name string) Format {
	name = strings.ToLower(name)
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	switch filepath.Ext(name) {
	case ".csv":
		return CSV
	case ".tsv", ".tab":
		return TSV
	case ".jsonl", ".ndjson":
		return JSONL
	case ".txt", ".ft", ".fasttext":
		return FastText
	case ".svm", ".libsvm", ".svmlight":
		return LIBSVM
	case ".npy":
		return NPY
	case ".parquet", ".pq", ".parq":
		return Parquet
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
	case bytes.HasPrefix(line, []byte(labelPrefix)):
		return FastText
	case bytes.HasPrefix(line, []byte("{")), bytes.HasPrefix(line, []byte("[")) && !opts.Unlabelled:
		return JSONL // which tells a JSON array what it wants
	case looksSparse(words):
		return LIBSVM
	}
	format, comma := CSV, ","
	if bytes.IndexByte(line, '\t') >= 0 {
		format, comma = TSV, "\t"
	}
	names := strings.Split(string(line), comma)
	known := len(opts.Columns) > 0
	for _, name := range names {
		name = strings.ToLower(strings.Trim(name, `"`))
		known = known || isOneOf(textNames, name) || name != "" && (name == strings.ToLower(opts.Text) || name == strings.ToLower(opts.Label))
	}
	switch {
	case known, len(names) > 1 && !opts.Unlabelled:
		return format
	case opts.Unlabelled && len(line) > 0:
		return FastText
	}
	return Auto
}

// looksSparse reports whether the words, but perhaps the first, are
// index:value pairs, and there is at least one.
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

func isOneOf(list, name string) bool {
	for word := range strings.FieldsSeq(list) {
		if word == name {
			return true
		}
	}
	return false
}

func isDigits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}

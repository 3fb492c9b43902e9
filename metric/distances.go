package metric

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxLine is the longest line of a list of distances, in bytes.
const maxLine = 1 << 20

// ListError says what is wrong with a list of distances, and where.
type ListError struct {
	File    string // as the caller named it
	Line    int    // from 1; 0 if the list as a whole is meant
	Message string // what stood there, what was wanted, what to do
}

// Error returns "file:line: message", or "file: message".
func (e *ListError) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Message
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Message)
}

// ReadDistances returns the space of the labels at ready distances, given as
// lines of two names and a number:
//
//	n01440764 n01443537 4
//
// Names that hold spaces need tabs between the three, or commas in a list whose
// first line has exactly two and no tab; there are no quotes. Blank lines, a
// byte-order mark, CRLF and a first line whose third field is no number, which
// is a header, do no harm. Each pair stands in the list once, in either order,
// or more often with the same number, within 1e-9 of the larger. A label needs
// no distance to itself; where there is one it must be 0. Pairs with other names
// are left aside, but their lines must have the form as well.
//
// It reads line by line and keeps 8 bytes for each of the k(k-1)/2 pairs, in the
// order of the labels, which must be distinct and not empty. A list packed with
// gzip, zstd or xz must be unpacked on the way in. name is the file's name, for
// errors. A *ListError names the line of what is no distance (NaN, infinite,
// negative), no pair and number, too long a line, not UTF-8, or contradicts an
// earlier line; it names labels that do not occur, and pairs that are missing.
// The triangle inequality is not looked at: see CheckTriangle.
func ReadDistances(r io.Reader, name string, labels []string) (Space, error) {
	k := len(labels)
	index := make(map[string]int, k)
	for i, label := range labels {
		if j, twice := index[label]; twice {
			return nil, fmt.Errorf("metric: labels %d and %d are both %q, want each once", j, i, label)
		}
		if label == "" {
			return nil, fmt.Errorf("metric: label %d is empty, want a name", i)
		}
		index[label] = i
	}
	l := &list{name: name, labels: labels, index: index, upper: make([]float64, k*max(k-1, 0)/2), met: make([]bool, k)}
	for i := range l.upper {
		l.upper[i] = math.NaN() // not met yet
	}
	in := bufio.NewReaderSize(r, 1<<16)
	if err := l.start(in); err != nil {
		return nil, err
	}
	for {
		line, err := l.read(in)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = l.take(line)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := l.complete(); err != nil {
		return nil, err
	}
	return &table{k: k, upper: l.upper}, nil
}

// list is a list of distances as it is read.
type list struct {
	name      string
	labels    []string
	index     map[string]int
	upper     []float64
	met       []bool // labels that occur
	number    int    // of the line, from 1
	separator byte   // 0 for any white space
	begun     bool   // the first line that is not blank is read
	long      []byte // a line that is longer than the buffer
}

func (l *list) fail(format string, args ...any) error {
	return &ListError{File: l.name, Line: l.number, Message: fmt.Sprintf(format, args...)}
}

// start refuses what is packed and passes over a byte-order mark.
func (l *list) start(in *bufio.Reader) error {
	start, _ := in.Peek(6) // less is no error here: the list may be short
	for _, packed := range []struct{ magic, what, how string }{
		{"\xfd7zXZ\x00", "xz", "xz -dk"},
		{"\x1f\x8b", "gzip", "gzip -dk"},
		{"\x28\xb5\x2f\xfd", "zstd", "zstd -d"},
		{"BZh", "bzip2", "bzip2 -dk"},
	} {
		if bytes.HasPrefix(start, []byte(packed.magic)) {
			return l.fail("is packed with %s; unpack it first: %s %s", packed.what, packed.how, l.name)
		}
	}
	if bytes.HasPrefix(start, []byte("\ufeff")) {
		_, err := in.Discard(len("\ufeff"))
		return err
	}
	return nil
}

// read returns the next line without its end, valid until the next call.
func (l *list) read(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		l.long = append(l.long[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = in.ReadSlice('\n')
			if l.long = append(l.long, line...); len(l.long) > maxLine {
				l.number++
				return nil, l.fail("a line of more than %d bytes; want lines of two names and a number", maxLine)
			}
		}
		line = l.long
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s:%d: %w", l.name, l.number+1, err)
	}
	if len(line) == 0 {
		return nil, io.EOF
	}
	l.number++
	if !utf8.Valid(line) {
		return nil, l.fail("text is not UTF-8; convert the file")
	}
	return bytes.TrimRight(line, "\r\n"), nil
}

// take keeps the distance of a line if both names are labels.
func (l *list) take(line []byte) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	first := !l.begun
	if first {
		l.begun = true
		switch {
		case bytes.IndexByte(line, '\t') >= 0:
			l.separator = '\t'
		case bytes.Count(line, []byte(",")) == 2:
			l.separator = ','
		}
	}
	a, b, number, ok := l.split(line)
	if !ok {
		return l.fail("%.80q, want two names and a distance; put tabs between them if names hold spaces", line)
	}
	d, err := strconv.ParseFloat(string(number), 64)
	if errors.Is(err, strconv.ErrSyntax) && first {
		return nil // a header
	}
	if err != nil || !(d >= 0) || math.IsInf(d, 1) {
		return l.fail("the distance of %q and %q is %.40q, want a finite number, 0 or more", a, b, number)
	}
	i, knownA := l.index[string(a)]
	j, knownB := l.index[string(b)]
	if knownA {
		l.met[i] = true
	}
	if knownB {
		l.met[j] = true
	}
	switch {
	case !knownA || !knownB:
		return nil
	case i == j && d != 0:
		return l.fail("the distance of %q to itself is %v, want 0", a, d)
	case i == j:
		return nil
	}
	place := Condensed(len(l.labels), i, j)
	if old := l.upper[place]; math.Abs(old-d) > symmetryTolerance*max(old, d) { // false for NaN
		return l.fail("the distance of %q and %q is %v, but %v on a line before; keep one", a, b, d, old)
	} else if math.IsNaN(old) {
		l.upper[place] = d + 0 // no -0
	}
	return nil
}

// split takes a line apart, without making a slice of it.
func (l *list) split(line []byte) (a, b, number []byte, ok bool) {
	if l.separator != 0 {
		var more bool
		a, line, _ = bytes.Cut(line, []byte{l.separator})
		b, number, ok = bytes.Cut(line, []byte{l.separator})
		_, _, more = bytes.Cut(number, []byte{l.separator})
		a, b, number = bytes.TrimSpace(a), bytes.TrimSpace(b), bytes.TrimSpace(number)
		return a, b, number, ok && !more && len(a) > 0 && len(b) > 0 && len(number) > 0
	}
	a, line = word(line)
	b, line = word(line)
	number, line = word(line)
	return a, b, number, len(number) > 0 && len(bytes.TrimSpace(line)) == 0
}

// word returns the next run of characters that are no spaces, and what follows.
func word(line []byte) (word, rest []byte) {
	line = bytes.TrimLeft(line, " ")
	if n := bytes.IndexByte(line, ' '); n >= 0 {
		return line[:n], line[n:]
	}
	return line, nil
}

// complete names labels that do not occur, else pairs that are missing.
func (l *list) complete() error {
	l.number = 0 // the list as a whole
	if len(l.labels) < 2 {
		return nil
	}
	var absent []string
	for i, label := range l.labels {
		if !l.met[i] {
			absent = append(absent, strconv.Quote(label))
		}
	}
	if n := len(absent); n > 0 {
		return l.fail("%d of the %d labels do not occur: %s; add their distances or leave these classes out", n, len(l.labels), some(absent, n))
	}
	var missing []string
	n, place := 0, 0
	for i, a := range l.labels {
		for _, b := range l.labels[i+1:] {
			if math.IsNaN(l.upper[place]) {
				if n++; n <= maxNamed {
					missing = append(missing, fmt.Sprintf("%q and %q", a, b))
				}
			}
			place++
		}
	}
	if n > 0 {
		return l.fail("%d of the %d pairs of labels have no distance: %s; add them", n, len(l.upper), some(missing, n))
	}
	return nil
}

// maxNamed is how many labels or pairs a message names.
const maxNamed = 5

// some joins the first few names of n.
func some(names []string, n int) string {
	text := strings.Join(names[:min(len(names), maxNamed)], ", ")
	if n > maxNamed {
		text += fmt.Sprintf(" and %d more", n-maxNamed)
	}
	return text
}

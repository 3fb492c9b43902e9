package metric

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/treeloss/treeloss/internal/input"
)

// maxLine is the longest line of a list of distances, in bytes.
const maxLine = 1 << 20

// ListError says what is wrong with a list of distances, and where.
type ListError = input.Error

// ReadDistances returns the space of the labels at precomputed distances, given as
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
// order of the labels, which must be distinct and not empty. A list may be packed
// with gzip or zstd. name is the file's name, for
// errors. A *ListError names the line of what is no distance (NaN, infinite,
// negative), no pair and number, too long a line, not UTF-8, or contradicts an
// earlier line; it names labels that do not occur, and pairs that are missing.
// The triangle inequality is not looked at: see CheckTriangle. With fewer than
// two labels there are no pairs and r is not read.
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
	if k < 2 {
		return &table{k: k}, nil
	}
	l := &list{name: name, labels: labels, index: index, upper: make([]float64, k*(k-1)/2), met: make([]bool, k)}
	for i := range l.upper {
		l.upper[i] = math.NaN() // not met yet
	}
	in, err := input.New(r, name, input.Options{Want: "a list of distances"})
	if err != nil {
		return nil, err
	}
	defer in.Close()
	for lines := in.Lines(maxLine); ; {
		line, err := lines.Read()
		l.number = lines.Number
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
}

// fail refuses the present line, or the whole list where there is none.
func (l *list) fail(format string, args ...any) error {
	return input.Refuse(l.name, l.number, 0, format, args...)
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
	var absent []string
	for i, label := range l.labels {
		if !l.met[i] {
			absent = append(absent, strconv.Quote(label))
		}
	}
	if n := len(absent); n > 0 {
		return l.fail("%d of the %d labels do not occur: %s; add their distances or leave these classes out", n, len(l.labels), input.Some(absent, maxNamed, n))
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
		return l.fail("%d of the %d pairs of labels have no distance: %s; add them", n, len(l.upper), input.Some(missing, maxNamed, n))
	}
	return nil
}

// maxNamed is how many labels or pairs a message names.
const maxNamed = 5

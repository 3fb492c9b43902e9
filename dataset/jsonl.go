package dataset

import (
	"bytes"
	"fmt"
	"io"

	"github.com/treeloss/treeloss/internal/input"
)

// jsonl reads one JSON object a line. Keys may come in any order; keys that
// play no part are checked for form and passed over.
type jsonl struct {
	lines  *input.Lines
	scan   scanner
	opts   Options
	cols   []column
	choice                // places in cols
	part   map[string]int // key to its place in cols, of keys that play a part
	wanted []int          // places in cols of the keys that an object must have
	slot   []int          // place in cols to place in Values, -1
	seen   []bool         // by place in cols
	values []float64
	labels interner
	mix    []Share // memory of Example.Mix
	first  []byte  // the first line, read to choose the keys; then nil
	parts
}

func newJSONL(in *input.Stream, opts Options) (source, error) {
	j := &jsonl{lines: in.Lines(opts.maxRecord()), opts: opts, part: make(map[string]int)}
	line, err := j.line()
	if err == io.EOF {
		return nil, input.Refuse(in.Name, 0, 0, "only blank lines, want a JSON object on each")
	} else if err != nil {
		return nil, err
	}
	if err := j.survey(line); err != nil {
		return nil, err
	}
	if j.choice, err = newChooser(j.cols, opts, "key").choose(); err != nil {
		return nil, input.Refuse(in.Name, j.lines.Number, 0, "%s", err)
	}
	j.parts = describe(j.cols, j.choice, "key")
	j.slot, j.seen = make([]int, len(j.cols)), make([]bool, len(j.cols))
	for i := range j.slot {
		j.slot[i] = -1
	}
	for n, i := range j.numbers {
		j.slot[i] = n
	}
	for i, col := range j.cols {
		if i == j.label || i == j.text || i == j.weight || j.slot[i] >= 0 {
			j.part[col.name] = i
			if i != j.label || !opts.Unlabelled {
				j.wanted = append(j.wanted, i)
			}
		}
	}
	if j.list {
		if err := j.measure(line); err != nil {
			return nil, err
		}
	} else {
		j.values = make([]float64, len(j.numbers))
	}
	j.first = line
	return j, nil
}

// line returns the next line that is not blank.
func (j *jsonl) line() ([]byte, error) {
	line, err := j.lines.Read()
	for err == nil && len(bytes.TrimSpace(line)) == 0 {
		line, err = j.lines.Read()
	}
	return line, err
}

// survey lists the keys of the first object.
func (j *jsonl) survey(line []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(line), []byte("[")) {
		return j.lines.Refuse(1, "a JSON array, want one object a line; with jq: jq -c '.[]'")
	}
	return j.object(line, func(key []byte) error {
		if len(j.cols) == maxColumns {
			return j.scan.fail("more than %d keys", maxColumns)
		}
		j.cols = append(j.cols, column{string(key), j.glance()})
		return nil
	})
}

// glance passes over a value and tells what it holds.
func (j *jsonl) glance() holding {
	holds := j.scan.holds()
	if j.scan.peek() != '{' {
		j.scan.skip()
		return holds
	}
	_ = j.scan.object(func([]byte) error {
		if at := j.scan.holds(); at != number {
			holds = list // of anything but numbers: no distribution
		} else if holds == other {
			holds = soft
		}
		j.scan.skip()
		return nil
	})
	if holds == list {
		return other
	}
	return holds
}

// measure finds the length that the array of features has in the first object.
func (j *jsonl) measure(line []byte) error {
	name := j.cols[j.numbers[0]].name
	j.columns, j.width = nil, 0
	err := j.object(line, func(key []byte) error {
		if string(key) != name {
			j.scan.skip()
			return nil
		}
		return j.scan.array(func() error {
			j.width++
			j.scan.skip()
			return nil
		})
	})
	if err == nil && j.width == 0 {
		return j.lines.Refuse(0, "key %q: an empty array, want numbers", name)
	}
	j.about = fmt.Sprintf("%s, %s in key %q", labelPart(j.parts, "key"), input.Plural(j.width, "number"), name)
	return err
}

// object reads a line that is one object and nothing else.
func (j *jsonl) object(line []byte, value func(key []byte) error) error {
	if err := j.scan.start(j.lines.Name(), j.lines.Number, line); err != nil {
		return err
	}
	return j.scan.object(value)
}

// next implements source.
func (j *jsonl) next(ex *Example) (err error) {
	line := j.first
	if j.first = nil; line == nil {
		if line, err = j.line(); err != nil {
			return err
		}
	}
	clear(j.seen)
	ex.Place.Line = j.lines.Number
	ex.Weight, ex.Label, ex.Text, ex.Values, ex.Mix = 1, "", "", ex.Values[:0], nil
	err = j.object(line, func(key []byte) error {
		i, ok := j.part[string(key)]
		if !ok {
			j.scan.skip()
			return nil
		}
		if j.seen[i] {
			return j.scan.fail("key %q occurs twice; keep one", j.cols[i].name)
		}
		j.seen[i] = true
		return j.take(i, ex)
	})
	if err != nil {
		return err
	}
	for _, i := range j.wanted {
		if !j.seen[i] {
			return j.lines.Refuse(len(line), "key %q is missing; add it or remove the line", j.cols[i].name)
		}
	}
	ex.Values = append(ex.Values, j.values...)
	return nil
}

package dataset

import (
	"bytes"
	"fmt"

	"github.com/treeloss/treeloss/internal/input"
)

// take reads the value of key i into its place.
func (j *jsonl) take(i int, ex *Example) error {
	switch i {
	case j.label:
		return j.takeLabel(ex)
	case j.text:
		if j.scan.holds() != words {
			return j.refuse(i, "%s, want a text in quotes", j.value())
		}
		ex.Text = string(j.scan.str())
		return nil
	case j.weight:
		at := j.scan.i
		v, err := j.float(i, "Options.Weight")
		if err == nil && v < 0 {
			j.scan.i = at
			err = j.refuse(i, "weight %g, want 0 or more", v)
		}
		ex.Weight = v
		return err
	}
	if !j.list {
		v, err := j.float(i, "Options.Columns")
		j.values[j.slot[i]] = v
		return err
	}
	if j.scan.holds() != list {
		return j.refuse(i, "%s, want an array of %s", j.value(), input.Plural(j.width, "number"))
	}
	at := j.scan.i
	j.values = j.values[:0]
	n := 0
	err := j.scan.array(func() error {
		v, err := j.float(i, "Options.Columns")
		if n++; n <= j.width {
			j.values = append(j.values, v)
		}
		return err
	})
	if err == nil && n != j.width {
		j.scan.i = at
		return j.refuse(i, "%s in the array, want %d as in the first", input.Plural(n, "number"), j.width)
	}
	return err
}

func (j *jsonl) takeLabel(ex *Example) error {
	at := j.scan.i
	var b []byte
	switch j.scan.holds() {
	case words:
		b = j.scan.str()
	case number, truth:
		b = j.scan.token()
	case list:
		return j.refuse(j.label, "an array, want one label; keep one of them or name another key with Options.Label")
	default:
		switch {
		case j.scan.peek() == '{':
			return j.takeMix(ex)
		case j.opts.Unlabelled:
			j.scan.skip()
			return nil
		}
		return j.refuse(j.label, "%s, want a label: a string, a number, a bool or soft labels", j.value())
	}
	ex.Label = j.labels.get(bytes.TrimSpace(b))
	if ex.Label == "" && !j.opts.Unlabelled {
		j.scan.i = at
		return j.refuse(j.label, "the label is empty; fill it in or remove the line")
	}
	return nil
}

// float reads a number of key i.
func (j *jsonl) float(i int, option string) (float64, error) {
	j.scan.peek()
	at := j.scan.i
	if h := j.scan.holds(); h != number {
		return 0, j.refuse(i, "%s, want a number; name keys with numbers with %s", j.value(), option)
	}
	b := j.scan.token()
	v, err := parseNumber(b)
	if err != nil {
		j.scan.i = at
		return 0, j.refuse(i, "%s", numberProblem(b, err, option))
	}
	return v, nil
}

// value describes the value at which the scanner stands.
func (j *jsonl) value() string {
	rest := j.scan.b[j.scan.i:]
	switch j.scan.holds() {
	case words:
		return "a string"
	case list:
		return "an array"
	case truth:
		return "a bool"
	case number:
		return "a number"
	}
	if bytes.HasPrefix(rest, []byte("{")) {
		return "an object"
	}
	if end := bytes.IndexAny(rest, ",]} \t"); end >= 0 {
		rest = rest[:end]
	}
	return input.Clip(rest)
}

func (j *jsonl) refuse(i int, format string, args ...any) error {
	return j.scan.fail("key %q: %s", j.cols[i].name, fmt.Sprintf(format, args...))
}

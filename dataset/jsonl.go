package dataset

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/treeloss/treeloss/internal/input"
)

// jsonl is one JSON object of a file with one a line. Keys may come in any order;
// of keys that play no part only the form is checked. What it says is wrong, it
// says at the byte where the scanner stands.
type jsonl struct {
	lines  *input.Lines
	scan   scanner
	opts   Options
	cols   []column
	part   map[string]int // key to its place in cols, of keys that play a part
	rival  string         // the other of the keys label and labels, where one was chosen by its name
	wanted []int          // places in cols of the keys that an object must have
	at     []int          // where the value of each column begins; 0: not there
	labels interner
	mix    []Share // memory of Example.Mix
}

// newJSONL takes the keys of the first object for the columns of the file (JSON as in
// RFC 8259, one object a line as in jsonlines.org).
func newJSONL(in *input.Stream, opts Options) (source, error) {
	j := &jsonl{lines: in.Lines(opts.maxRecord()), opts: opts, part: make(map[string]int)}
	err := j.first()
	for opts.skip(err) {
		err = j.first()
	}
	if err == io.EOF {
		return nil, input.Refuse(in.Name, 0, 0, "only blank lines, want a JSON object on each")
	} else if err != nil {
		return nil, err
	}
	return newRows(j, in, j.cols, j.lines.Number, opts, "key", "array", true)
}

// first takes the columns from the next line.
func (j *jsonl) first() error {
	line, err := j.next()
	if err != nil {
		return err
	}
	if bytes.HasPrefix(bytes.TrimSpace(line), []byte("[")) {
		return input.Last(j.lines.Refuse(1, "a JSON array, want one object a line; with jq: jq -c '.[]'"))
	}
	j.cols = j.cols[:0]
	return j.object(line, func(key []byte) error {
		if len(j.cols) == maxColumns {
			return j.scan.fail("more than %d keys", maxColumns)
		}
		j.cols = append(j.cols, column{string(key), j.survey()})
		return nil
	})
}

// next returns the next line that is not blank.
func (j *jsonl) next() ([]byte, error) { return j.lines.Filled(input.Blank) }

// object calls value with each key of a line that is one object and nothing else.
func (j *jsonl) object(line []byte, value func(key []byte) error) error {
	if err := j.scan.start(j.lines.Name(), j.lines.Number, line); err != nil {
		return err
	}
	return j.scan.object(value)
}

// survey passes over a value and tells what it holds: an object is soft labels if all of its
// values are numbers, and there is one.
func (j *jsonl) survey() holding {
	holds := j.scan.holds()
	if j.scan.peek() != '{' {
		j.scan.skip()
		return holds
	}
	values, numbers := 0, 0
	_ = j.scan.object(func([]byte) error {
		values++
		if j.scan.holds() == number {
			numbers++
		}
		j.scan.skip()
		return nil
	})
	if values > 0 && numbers == values {
		return soft
	}
	return other
}

// use implements cells. With Options.Unlabelled the label may be missing from any
// line.
func (j *jsonl) use(c choice) error {
	j.at = make([]int, len(j.cols))
	for _, i := range slices.Concat([]int{c.label, c.weight, c.id}, c.texts, c.categories, c.numbers) {
		if i >= 0 {
			j.part[j.cols[i].name] = i
			optional := c.several() && i != c.label && i != c.weight && i != c.id
			if !optional && (i != c.label || !j.opts.Unlabelled) { // of several labels there may be none, but the key says so
				j.wanted = append(j.wanted, i)
			}
		}
	}
	if c.label >= 0 && j.opts.Label == "" {
		j.rival = map[string]string{"label": "labels", "labels": "label"}[j.cols[c.label].name]
	}
	slices.Sort(j.wanted)
	return j.find(j.scan.b)
}

// read implements cells.
func (j *jsonl) read() error {
	line, err := j.next()
	if err != nil {
		return err
	}
	return j.find(line)
}

// find finds the values that play a part in a line.
func (j *jsonl) find(line []byte) error {
	clear(j.at)
	err := j.object(line, func(key []byte) error {
		if i, ok := j.part[string(key)]; ok {
			if j.at[i] > 0 {
				return j.scan.fail("key %q occurs twice; keep one", j.cols[i].name)
			}
			j.at[i] = j.scan.i
		} else if j.rival != "" && string(key) == j.rival {
			return j.scan.fail("both a key \"label\" and a key \"labels\"; keep one, or say which with Options.Label")
		}
		j.scan.skip()
		return nil
	})
	if err != nil {
		return err
	}
	for _, i := range j.wanted {
		if j.at[i] == 0 {
			return j.lines.Refuse(len(line), "key %q is missing; add it or remove the line", j.cols[i].name)
		}
	}
	return nil
}

// extent implements cells.
func (j *jsonl) extent() extent { return j.lines }

// line implements cells.
func (j *jsonl) line() int { return j.lines.Number }

// text implements cells: a string, and nothing that would have to be turned into one.
func (j *jsonl) text(i int) (string, error) {
	if j.scan.i = j.at[i]; j.scan.holds() != words {
		return "", j.fail(i, "%s, want a text in quotes", j.scan.describe())
	}
	return string(j.scan.str()), nil
}

// missing implements cells: no such key, or null.
func (j *jsonl) missing(i int) bool {
	j.scan.i = j.at[i]
	return j.scan.i == 0 || j.scan.peek() == 'n'
}

// number implements cells.
func (j *jsonl) number(i int, option string) (float64, error) {
	j.scan.i = j.at[i]
	return j.float(i, option)
}

// float reads a number of key i where the scanner stands.
func (j *jsonl) float(i int, option string) (float64, error) {
	if j.scan.holds() != number {
		return 0, j.fail(i, "%s, want a number; name keys with numbers with %s", j.scan.describe(), option)
	}
	at := j.scan.i
	b := j.scan.token()
	v, err := parseNumber(b)
	if err != nil {
		j.scan.i = at
		err = j.fail(i, "%s", numberProblem(b, err, option))
	}
	return v, err
}

// numbers implements cells. An array is read to its end even if it is longer than
// width, so that the error can say how long it is.
func (j *jsonl) numbers(dst []float64, c choice, width int) ([]float64, error) {
	if !c.list {
		return oneByOne(j, dst, c.numbers)
	}
	i := c.numbers[0]
	if j.scan.i = j.at[i]; j.scan.holds() != list {
		return dst, j.fail(i, "%s, want an array of %s", j.scan.describe(), input.Plural(width, "number"))
	}
	err := j.scan.array(func() error {
		v, err := j.float(i, "Options.Columns")
		dst = append(dst, v)
		return err
	})
	return dst, err
}

// label implements cells. A number, true or false becomes the text that stands there,
// so that 1 and 1.0 are two classes, as they are in CSV.
func (j *jsonl) label(ex *Example, i int) error {
	if j.scan.i = j.at[i]; j.scan.i == 0 {
		return nil // missing, and may be
	}
	switch holds := j.scan.holds(); {
	case holds == words:
		ex.Label = j.labels.get(bytes.TrimSpace(j.scan.str()))
	case holds == number, holds == truth:
		ex.Label = j.labels.get(j.scan.token())
	case holds == list && j.opts.single():
		return refuseSeveral(j.fail(i, "an array, perhaps of several labels"), "list")
	case holds == list:
		return j.list(ex, i)
	case j.scan.peek() == '{' && j.opts.Several():
		return j.fail(i, "an object, want a list of labels; soft labels are of one class in doubt, not of several")
	case j.scan.peek() == '{':
		return j.distribution(ex, i)
	case j.opts.Unlabelled, j.opts.Several():
	case j.scan.peek() == 'n':
		return j.fail(i, "null, want a label; fill it in or remove the line")
	default:
		return j.fail(i, "%s, want a label: a string, a number, a bool or soft labels", j.scan.describe())
	}
	return nil
}

// list reads a target such as ["small", "grey"], of which only the first counts where one
// label is wanted.
func (j *jsonl) list(ex *Example, i int) error {
	n := 0
	return j.scan.array(func() error {
		var label string
		switch holds := j.scan.holds(); {
		case holds == words:
			label = j.labels.get(bytes.TrimSpace(j.scan.str()))
		case holds == number, holds == truth:
			label = j.labels.get(j.scan.token())
		case j.opts.Unlabelled:
			j.scan.skip()
		default:
			return j.fail(i, "%s in the list of labels, want a string, a number or a bool", j.scan.describe())
		}
		n++
		switch {
		case label == "" && !j.opts.Unlabelled:
			return j.fail(i, "label %d of the list is empty; fill it in or remove it", n)
		case !j.opts.Several():
			ex.Label = cmp.Or(ex.Label, label)
		case label != "" && !addLabel(ex, label):
			return j.fail(i, "%s", tooMany())
		}
		return nil
	})
}

// fail returns an error of key i at the place of the scanner.
func (j *jsonl) fail(i int, format string, args ...any) error {
	return j.scan.fail("key %q: %s", j.cols[i].name, fmt.Sprintf(format, args...))
}

// refuse implements cells: an error where the value of the key begins.
func (j *jsonl) refuse(i int, format string, args ...any) error {
	j.scan.i = j.at[i]
	return j.fail(i, format, args...)
}

// roundedShare is by how much a share written to two digits may be off, and
// mostRounded by how much their sum may be.
const (
	roundedShare = 0.005
	mostRounded  = 0.05
)

// distribution reads a target such as {"cat": 0.75, "dog": 0.25}, or counts of
// votes, such as {"cat": 3, "dog": 1}. Shares that are not all whole numbers sum
// to 1, but for rounding.
func (j *jsonl) distribution(ex *Example, i int) error {
	j.mix = j.mix[:0]
	var most, sum float64
	votes := true
	err := j.scan.object(func(key []byte) error {
		label := j.labels.get(bytes.TrimSpace(key))
		if label == "" {
			return j.fail(i, "the name of a class is empty; fill it in or remove it")
		}
		if j.scan.holds() != number {
			return j.fail(i, "%s as the value of %s, want a number", j.scan.describe(), input.Clip(label))
		}
		start := j.scan.i
		b := j.scan.token()
		v, err := parseNumber(b)
		if err != nil || v < 0 {
			j.scan.i = start
			return j.fail(i, "a value of %s for %s, want a finite number, 0 or more", input.Clip(b), input.Clip(label))
		}
		most, sum = max(most, v), sum+v
		votes = votes && v == math.Trunc(v)
		j.mix = append(j.mix, Share{Label: label, Share: v})
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(j.mix, func(a, b Share) int { return cmp.Compare(a.Label, b.Label) })
	for n := 1; n < len(j.mix); n++ {
		if j.mix[n].Label == j.mix[n-1].Label {
			return j.refuse(i, "class %s has two values; keep one", input.Clip(j.mix[n].Label))
		}
	}
	if most == 0 {
		if len(j.mix) == 0 && j.opts.Unlabelled {
			return nil
		}
		return j.refuse(i, "no class has a value above 0, want a label or soft labels; fill it in or remove the line")
	}
	if off := math.Abs(sum - 1); !votes && off > min(roundedShare*float64(len(j.mix)), mostRounded)+1e-9 {
		return j.refuse(i, "the soft labels sum to %.4g, want 1, or whole numbers that count votes", sum)
	}
	ex.Mix, ex.Label = normalise(j.mix, most)
	return nil
}

// normalise scales the shares, of which the largest is most, to the sum 1,
// drops those that are 0, and returns the first label of the largest. It
// divides by the largest first, since the sum of finite numbers may not be one.
func normalise(mix []Share, most float64) ([]Share, string) {
	var sum, top float64
	for i := range mix {
		mix[i].Share /= most
		sum += mix[i].Share
	}
	label := ""
	kept := mix[:0]
	for _, s := range mix {
		if s.Share /= sum; s.Share == 0 || math.IsNaN(s.Share) {
			continue
		}
		if s.Share > top {
			top, label = s.Share, s.Label
		}
		kept = append(kept, s)
	}
	return kept, label
}

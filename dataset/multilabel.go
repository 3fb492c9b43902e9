package dataset

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/treeloss/treeloss/internal/input"
)

// ErrSeveralLabels says that an example has several labels where one was wanted. It is
// about the file, not about a row that is damaged: Options.Skip is not asked.
var ErrSeveralLabels = errors.New("several labels")

// mostLabels bounds the labels of one example, so that one line cannot take up many times
// its own size. The examples of the Extreme Classification Repository have some thousands.
const mostLabels = 100_000

// Several tells whether an example may have any number of labels.
func (o Options) Several() bool { return o.Multilabel || o.LabelSeparator != "" }

// single tells whether a second label of an example is an error.
func (o Options) single() bool { return !o.Several() && !o.FirstLabel && !o.Unlabelled }

// refuseSeveral makes the error of a file with several labels of the one that says where they
// are. what is what it calls an example.
func refuseSeveral(err error, what string) error {
	if e, ok := errors.AsType[*Error](err); ok {
		e.Message += ", where one is wanted: train with Options.Multilabel, or take the first of each " + what + " with Options.FirstLabel"
		e.Err = ErrSeveralLabels
	}
	return err
}

// addLabel appends one of several labels; false if there are too many.
func addLabel(ex *Example, label string) bool {
	if len(ex.Labels) == mostLabels {
		return false
	}
	ex.Labels = append(ex.Labels, label)
	return true
}

// tooMany is what is wrong where addLabel returns false.
func tooMany() string {
	return "more than " + strconv.Itoa(mostLabels) + " labels; leave some out, or remove the row"
}

// addSplit appends the labels of a text, what stands between the separators without outer
// white space; what is empty is none. It returns false if there are too many.
// Without a separator the text is one label.
func addSplit(ex *Example, text, separator string) bool {
	for more := true; more; {
		one := text
		if more = false; separator != "" {
			one, text, more = strings.Cut(text, separator)
		}
		if one = strings.TrimSpace(one); one != "" && !addLabel(ex, one) {
			return false
		}
	}
	return true
}

// sortLabels brings the labels of an example into order, each once, and sets Label. One that
// is given twice counts once: what is read is a set.
func sortLabels(ex *Example) {
	if ex.Labels == nil {
		ex.Labels = []string{}
	}
	slices.Sort(ex.Labels)
	ex.Labels = slices.Compact(ex.Labels)
	if ex.Label = ""; len(ex.Labels) > 0 {
		ex.Label = ex.Labels[0]
	}
}

// A file of the Extreme Classification Repository (manikvarma.org/downloads/XC) is LIBSVM
// whose first line has the numbers of examples, features and labels; a line then has its
// labels with commas between them, or none, and features from 0 on. Labels are numbers, too.
type xmcHeader struct {
	examples, features, labels int64 // as the header says: nothing is allocated by them
	seen                       int64 // examples so far
}

// parseXMC returns the header that a line is, nil if it is none.
func parseXMC(line []byte) *xmcHeader {
	words := bytes.Fields(line)
	if len(words) != 3 {
		return nil
	}
	var n [3]int64
	for i, word := range words {
		v, err := strconv.ParseInt(string(word), 10, 64)
		if err != nil || !isDigits(word) {
			return nil
		}
		n[i] = v
	}
	return &xmcHeader{examples: n[0], features: n[1], labels: n[2]}
}

// hasLabel tells whether a label is one that the header promises.
func (h *xmcHeader) hasLabel(label []byte) bool {
	n, err := strconv.ParseInt(string(label), 10, 64)
	return err == nil && isDigits(label) && n < h.labels
}

// end refuses a file with another number of examples than its header says.
func (h *xmcHeader) end(s *libsvm) error {
	if h.seen != h.examples {
		return input.Last(input.Refuse(s.lines.Name(), 1, 0, "the first line says %s, there are %d; is the file whole?", input.Plural(int(h.examples), "example"), h.seen))
	}
	return nil
}

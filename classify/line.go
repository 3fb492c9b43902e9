package classify

import (
	"bufio"
	"strconv"
	"strings"

	"github.com/treeloss/treeloss/internal/input"
)

// pathSeparator stands between the nodes of a path.
const pathSeparator = " > "

// Line is an answer as predict writes it on a line of its own. As JSON it has the keys of both.
type Line struct {
	ID   string  `json:"id,omitempty"`
	Text *string `json:"text,omitempty"`
	File string  `json:"file,omitempty"`
	Answer
	Probabilities []float32 `json:"probabilities,omitempty"` // of all classes, where they are asked for

	// ByTop writes the likeliest classes of a model of several labels, Answer.Top, whether they
	// reach their threshold or not.
	ByTop bool `json:"-"`
}

// list returns the classes of a line.
func (x Line) list() []Answer {
	switch {
	case x.Labels != nil && !x.ByTop:
		return x.Labels
	case x.Top != nil:
		return x.Top
	}
	return []Answer{x.Answer}
}

// WriteTSV writes label and probability of each class on one line, behind them
// the path of a hedged answer. A rejected answer has an empty label and ends
// with its probability.
func (x Line) WriteTSV(out *bufio.Writer) error {
	all := x.list()
	if x.Rejected {
		all = []Answer{x.Answer}
	}
	var line []byte
	for i, c := range all {
		if i > 0 {
			line = append(line, '\t')
		}
		line = append(append(line, input.Escape(c.Label)...), '\t')
		line = strconv.AppendFloat(line, c.Probability, 'g', 6, 64)
	}
	if x.Path != nil {
		line = append(append(line, '\t'), input.Escape(strings.Join(x.Path, pathSeparator))...)
	}
	_, err := out.Write(append(line, '\n'))
	return err
}

// WriteFastText writes prefix, label and probability of each class on one line. A
// rejected answer is a blank line, as of fastText below its threshold.
func (x Line) WriteFastText(out *bufio.Writer, prefix string) error {
	all := x.list()
	if x.Rejected {
		all = nil
	}
	var line []byte
	for i, c := range all {
		if i > 0 {
			line = append(line, ' ')
		}
		line = append(append(line, prefix...), strings.Join(strings.Fields(c.Label), "_")...)
		line = strconv.AppendFloat(append(line, ' '), c.Probability, 'g', 6, 64)
	}
	_, err := out.Write(append(line, '\n'))
	return err
}

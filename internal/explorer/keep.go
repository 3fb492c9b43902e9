package explorer

import (
	"cmp"
	"path/filepath"
	"slices"

	"github.com/treeloss/treeloss/evaluate"
)

// Bounds of what is kept of the examples: each is some hundred bytes, 1.5 kB at most.
const (
	mostKept  = 100_000 // examples of all classes, about
	mostWrong = 24      // mistakes on a class
	mostRight = 3       // right answers of a class
	mostCell  = 2       // mistakes on a class that were predicted as the same other class
	mostText  = 280     // letters of a text
	mostName  = 200     // letters of a name
)

// shownExample is an example as the page has it.
type shownExample struct {
	Text        string  `json:"text,omitempty"`
	ID          string  `json:"id,omitempty"`
	Place       string  `json:"place"`
	Predicted   int     `json:"predicted"`
	Probability float32 `json:"p"`     // of the predicted class
	OfLabel     float32 `json:"ptrue"` // of the true class
}

// keeper keeps a few examples of each class by a fixed rule: of right and of wrong answers those that
// the model was surest of, of equals the first. Of mistakes on a class at most mostCell
// are of one predicted class, so that a frequent confusion does not push the others out.
// The result depends on the examples and their order alone.
type keeper struct {
	class        map[string]int
	right, wrong [][]shownExample // of each class, the surest first
	mostWrong    int
	mostRight    int
}

// newKeeper returns an empty keeper. With more than some thousand classes each may keep less,
// so that all of them together keep about mostKept, 150 MB at most.
func newKeeper(labels []string) *keeper {
	k := len(labels)
	room := mostKept / max(k, 1)
	q := &keeper{class: make(map[string]int, k), right: make([][]shownExample, k), wrong: make([][]shownExample, k),
		mostWrong: min(max(room, 1), mostWrong), mostRight: min(max(room/4, 1), mostRight)}
	for c, label := range labels {
		q.class[label] = c
	}
	return q
}

// add looks at a row of an evaluation.
func (q *keeper) add(r evaluate.Row) {
	class, known := q.class[r.Label]
	if !known {
		return
	}
	x := shownExample{Predicted: q.class[r.Predicted], Probability: r.Probability}
	if r.LabelProbability != nil {
		x.OfLabel = *r.LabelProbability
	}
	list, most := &q.right[class], q.mostRight
	if !r.Right {
		list, most = &q.wrong[class], q.mostWrong
	}
	// Never equal, so that the place is behind all that are as sure.
	at, _ := slices.BinarySearchFunc(*list, x, func(a, b shownExample) int { return cmp.Or(cmp.Compare(b.Probability, a.Probability), -1) })
	if at >= most {
		return
	}
	// A cell that is full gives up its least sure mistake, or refuses a less sure one.
	if !r.Right {
		same, last := 0, -1 // of its cell, and the least sure of these
		for i, other := range *list {
			if other.Predicted == x.Predicted {
				same, last = same+1, i
			}
		}
		if same >= mostCell {
			if last < at {
				return
			}
			*list = slices.Delete(*list, last, last+1)
		}
	}
	// Texts are cut only now, when the row is kept.
	x.Text, x.ID, x.Place = short(r.Text, mostText), short(r.ID, mostName), short(filepath.Base(r.Place), mostName) // no folders of this machine
	*list = slices.Insert(*list, at, x)
	*list = (*list)[:min(len(*list), most)]
}

// short cuts a text to so many letters (code points), the last of which is an ellipsis then.
func short(text string, most int) string {
	if len(text) <= most {
		return text
	}
	n := 0
	for at := range text {
		if n++; n == most {
			return text[:at] + "…"
		}
	}
	return text
}

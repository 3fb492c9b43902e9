package explorer

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/internal/explain"
	"github.com/treeloss/treeloss/score"
)

// column is a number of each node or class. In JSON it is the base64 of its numbers as
// 4 bytes each, little-endian: a third of the size of decimals, and read without parsing.
type column []int32

// MarshalJSON writes base64.
func (c column) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, 4*len(c))
	for _, x := range c {
		b = binary.LittleEndian.AppendUint32(b, uint32(x))
	}
	return []byte(`"` + base64.StdEncoding.EncodeToString(b) + `"`), nil
}

// start is the first piece: what the first picture needs.
type start struct {
	Model    string   `json:"model"`
	Kind     string   `json:"kind"`     // what the model is
	Examples string   `json:"examples"` // what it looks at
	Columns  []string `json:"columns,omitempty"`
	Tree     Origin   `json:"tree"`
	Hedges   bool     `json:"hedges"`  // whether a hedged answer over the tree makes sense
	Weights  bool     `json:"weights"` // whether single classes have weights to show

	Parent column   `json:"parent"` // of each node, in preorder; -1 of the root
	Class  column   `json:"class"`  // on each node; -1: none
	Names  []string `json:"names"`  // of each node; "" for a made-up one
	Chunk  int      `json:"chunk"`  // classes of a piece classes-N

	Data *startData `json:"data,omitempty"`
}

// startData is what examples say; counts are by class.
type startData struct {
	Files     []string `json:"files"`
	Examples  int      `json:"examples"`
	Unknown   int      `json:"unknown"`
	Support   column   `json:"support"`   // examples of each class
	Right     column   `json:"right"`     // of these, predicted as it
	Predicted column   `json:"predicted"` // examples predicted as it
	Baseline  string   `json:"baseline,omitempty"`
	Base      column   `json:"base,omitempty"` // right answers of the baseline
}

// start returns the first piece. chunk is the number of classes in one piece of details.
func (e *Explorer) start(chunk int) *start {
	t := e.tree
	s := &start{Model: e.name, Kind: string(e.about.Kind), Examples: e.about.Like.Kind.String(), Tree: e.origin,
		Hedges: e.origin != OfNames && e.about.Multilabel == nil, Weights: e.model != nil, Chunk: chunk}
	for _, name := range e.about.Like.Columns {
		s.Columns = append(s.Columns, short(name, mostName))
	}
	if e.about.Kind == classify.PictureNetwork {
		s.Examples = "pictures"
	}
	// Nodes are in preorder, so that the page finds the nodes below one, and the classes, as
	// ranges, and sums over them as differences of running sums.
	for v := range t.Len() {
		s.Parent, s.Class = append(s.Parent, int32(t.Parent(v))), append(s.Class, int32(t.Class(v)))
		name := ""
		if !madeUp(t, v, e.origin) {
			name = short(t.Name(v), mostName)
		}
		s.Names = append(s.Names, name)
	}
	if d := e.data; d != nil {
		s.Data = &startData{Files: d.files, Examples: d.examples, Unknown: d.unknown, Predicted: d.predicted, Baseline: d.baseline, Base: d.baselineRight}
		for c := range d.matrix.Support {
			s.Data.Support, s.Data.Right = append(s.Data.Support, int32(d.matrix.Support[c])), append(s.Data.Right, int32(d.matrix.Right[c]))
		}
	}
	return s
}

// mostCells bounds the cells of the confusion matrix on the page: 8 MB.
const mostCells = 500_000

// confusions are the cells of the matrix off its diagonal that are not 0, by true class.
type confusions struct {
	True      column `json:"true"`
	Predicted column `json:"predicted"`
	Count     column `json:"count"`
	Left      int    `json:"left"` // mistakes in cells that are not here, the rarest
}

// confusions returns the cells, the mostCells most frequent ones where there are more, in the
// order of their rows.
func (e *Explorer) confusions() *confusions {
	out := &confusions{True: column{}, Predicted: column{}, Count: column{}}
	if e.data == nil {
		return out
	}
	cells := slices.Clone(e.data.matrix.Mistakes) // the most frequent first
	// What is left out are the rarest cells, of which a map of so many classes shows least.
	for _, x := range cells[min(len(cells), mostCells):] {
		out.Left += x.Count
	}
	cells = cells[:min(len(cells), mostCells)]
	slices.SortFunc(cells, func(a, b score.Confusion) int { return cmp.Or(a.True-b.True, a.Predicted-b.Predicted) })
	for _, x := range cells {
		out.True, out.Predicted, out.Count = append(out.True, int32(x.True)), append(out.Predicted, int32(x.Predicted)), append(out.Count, int32(x.Count))
	}
	return out
}

// near is a class and its cosine, of the weights or of the n-grams of the names.
type near struct {
	Class  int     `json:"class"`
	Cosine float64 `json:"cosine"`
}

// classDetails is what is known about one class.
type classDetails struct {
	Right     []shownExample `json:"right"`
	Wrong     []shownExample `json:"wrong"`
	ByWeights []near         `json:"weights,omitempty"`
	ByName    []near         `json:"names,omitempty"`
	Features  *features      `json:"features,omitempty"` // over the mean of all classes
	Pairs     []pairDetails  `json:"pairs,omitempty"`    // in files only: over the classes that it is confused with
}

// features are names of features and weights, the strongest first.
type features struct {
	For     []weight `json:"for"`
	Against []weight `json:"against"`
}

type weight struct {
	Feature string  `json:"feature"`
	Weight  float64 `json:"weight"`
}

// chunk is the piece of some classes.
type chunk struct {
	Classes []classDetails `json:"classes"`
}

// pairDetails is why one class and not another.
type pairDetails struct {
	Other    int       `json:"other"`
	Features *features `json:"features,omitempty"`
}

// Numbers of features that are shown on each side.
const (
	classFeatures = 12
	pairFeatures  = 10
	pairsKept     = 4 // of a class, in files
)

// details returns what is known about some classes. Nearest classes by weights take
// 2 d k multiplications each; far tells to leave them out. pairs tells to compare each
// class with those that it is confused with most.
func (e *Explorer) details(ctx context.Context, classes []int, far, pairs bool) ([]classDetails, error) {
	out := make([]classDetails, len(classes))
	var compared [][2]int
	var of []int // which class each is of
	for i, class := range classes {
		out[i].Right, out[i].Wrong = []shownExample{}, []shownExample{}
		if e.data != nil {
			out[i].Right, out[i].Wrong = append(out[i].Right, e.data.kept.right[class]...), append(out[i].Wrong, e.data.kept.wrong[class]...)
		}
		compared, of = append(compared, [2]int{class, -1}), append(of, i)
	}
	if pairs && e.data != nil {
		// Mistakes come the most frequent first, so the first pairs of a class are those that it
		// is confused with most, in either direction.
		place := make(map[int]int, len(classes))
		for i, class := range classes {
			place[class] = i
		}
		count := make([]int, len(classes))
		for _, x := range e.data.matrix.Mistakes {
			for _, p := range [2][2]int{{x.True, x.Predicted}, {x.Predicted, x.True}} {
				i, ok := place[p[0]]
				if ok && count[i] < pairsKept && !slices.Contains(compared, p) {
					compared, of, count[i] = append(compared, p), append(of, i), count[i]+1
				}
			}
		}
	}
	if e.model == nil { // networks and trees of softmaxes: examples only
		return out, nil
	}
	// All classes and pairs in one pass over the weights: reading these is what takes time.
	return out, e.explain(ctx, func(x *explain.Explainer) error {
		strongest, err := x.Strongest(ctx, compared, classFeatures)
		if err != nil {
			return err
		}
		for n, w := range strongest {
			d := &out[of[n]]
			if compared[n][1] < 0 {
				d.Features = featuresOf(w, classFeatures)
			} else {
				d.Pairs = append(d.Pairs, pairDetails{compared[n][1], featuresOf(w, pairFeatures)})
			}
		}
		if !far {
			nearest, err := x.Nearest(ctx, classes)
			if err != nil {
				return err
			}
			for i := range nearest {
				out[i].ByWeights = e.near(nearest[i])
			}
		}
		for i, class := range classes {
			out[i].ByName = e.near(x.NearestByName(class))
		}
		return nil
	})
}

// near numbers classes.
func (e *Explorer) near(list []explain.Neighbour) (out []near) {
	for _, n := range list {
		out = append(out, near{e.class[n.Label], round(n.Cosine, 3)})
	}
	return out
}

// featuresOf takes the strongest features of each side, at most so many.
func featuresOf(w explain.Weights, most int) *features {
	list := func(from []explain.Weight) []weight {
		out := []weight{}
		for _, x := range from[:min(len(from), most)] {
			out = append(out, weight{short(x.Feature, mostName), round(x.Weight, 3)})
		}
		return out
	}
	return &features{list(w.For), list(w.Against)}
}

// ErrPiece says that there is no such piece.
var ErrPiece = errors.New("no such piece")

// Piece returns the JSON of a piece: start, confusions, classes-N for what is known about
// class N, or pair-A-B for what tells class A from class B. Another name is ErrPiece. start
// takes some 100 bytes a class; classes and pairs take a pass over the weights.
func (e *Explorer) Piece(ctx context.Context, name string) ([]byte, error) {
	kind, rest, _ := strings.Cut(name, "-")
	// Names are taken apart strictly, without signs or leading zeros: one piece has one name,
	// and nothing of a name ever becomes a path.
	var numbers []int
	if rest != "" {
		for _, digits := range strings.Split(rest, "-") {
			n, err := strconv.Atoi(digits)
			if err != nil || n < 0 || n >= len(e.about.Labels) || strconv.Itoa(n) != digits {
				return nil, fmt.Errorf("%w: %.40q", ErrPiece, name)
			}
			numbers = append(numbers, n)
		}
	}
	switch {
	case name == "start":
		return json.Marshal(e.start(1))
	case name == "confusions":
		return json.Marshal(e.confusions())
	case kind == "classes" && len(numbers) == 1:
		list, err := e.details(ctx, numbers, false, false)
		if err != nil {
			return nil, err
		}
		return json.Marshal(chunk{list})
	case kind == "pair" && len(numbers) == 2 && e.model != nil:
		p := pairDetails{Other: numbers[1]}
		err := e.explain(ctx, func(x *explain.Explainer) error {
			list, err := x.Strongest(ctx, [][2]int{{numbers[0], numbers[1]}}, pairFeatures)
			if err == nil {
				p.Features = featuresOf(list[0], pairFeatures)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		return json.Marshal(p)
	}
	return nil, fmt.Errorf("%w: %.40q", ErrPiece, name)
}

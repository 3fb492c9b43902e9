package main

import (
	"bufio"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/softmax"
)

// answerer decides about one example after the other. Each goroutine needs one
// of its own.
type answerer struct {
	model     *softmax.Model
	predictor *softmax.Predictor
	decision  decisionFlags
	tree      *decide.Tree // nil: none
	top       int
	costs     []float64
}

func newAnswerer(m *softmax.Model, f decisionFlags, tree *decide.Tree, top int) *answerer {
	return &answerer{model: m, predictor: m.NewPredictor(), decision: f, tree: tree, top: top, costs: make([]float64, len(m.Labels))}
}

// reply is the answer to one example.
type reply struct {
	classes  []softmax.Prediction // the answer first, --top of them
	costs    []float64            // of these, with --decode cost
	rejected bool
	path     []string // of a hedged answer; then classes is one, named by its node
	open     int      // classes that a hedged answer leaves open
	file     string   // of the picture; "" without one of its own
}

func (w *answerer) answer(e dataset.Example) (reply, error) {
	r, err := w.rank(e)
	if err == nil && w.decision.rejects {
		r.rejected = below(float32(r.classes[0].Probability), w.decision.reject)
	}
	return r, err
}

// rank answers without regard to --reject.
func (w *answerer) rank(e dataset.Example) (reply, error) {
	if w.decision.needsTree() == "" {
		classes, err := w.predictor.Predict(e, w.top)
		return reply{classes: classes}, err
	}
	p, err := w.predictor.Probabilities(e)
	if err != nil {
		return reply{}, err
	}
	if w.decision.hedges {
		return w.hedge(p)
	}
	order, err := costRank(w.tree, w.costs, p, w.top)
	var r reply
	for _, c := range order {
		r.classes = append(r.classes, softmax.Prediction{Class: c, Label: w.model.Labels[c], Probability: float64(p[c])})
		r.costs = append(r.costs, w.costs[c])
	}
	return r, err
}

func (w *answerer) hedge(p []float32) (reply, error) {
	h, err := decide.Hedge(w.tree, p, w.decision.confidence)
	if err != nil {
		return reply{}, err
	}
	name := w.tree.LabelTree().Name(h.Node)
	return reply{
		classes: []softmax.Prediction{{Class: h.Class, Label: name, Probability: h.Probability}},
		path:    w.tree.Path(h),
		open:    h.Classes,
	}, nil
}

// pathSeparator stands between the nodes of a path.
const pathSeparator = " > "

// writeTSV writes label and probability of each class on one line, behind them
// the path of a hedged answer. A rejected answer has an empty label and ends
// with its probability.
func (r reply) writeTSV(out *bufio.Writer) error {
	var line []byte
	for i, c := range r.classes {
		if i > 0 {
			line = append(line, '\t')
		}
		if !r.rejected {
			line = append(line, escape(c.Label)...)
		}
		line = append(line, '\t')
		line = strconv.AppendFloat(line, c.Probability, 'g', 6, 64)
		if r.rejected {
			break
		}
	}
	if r.path != nil {
		line = append(line, '\t')
		line = append(line, escape(strings.Join(r.path, pathSeparator))...)
	}
	_, err := out.Write(append(line, '\n'))
	return err
}

// answer is one line of JSON.
type answer struct {
	File        string   `json:"file,omitempty"`
	Label       string   `json:"label"` // "" if rejected
	Probability float64  `json:"probability"`
	Cost        *float64 `json:"expected_cost,omitempty"`
	Rejected    bool     `json:"rejected,omitempty"`
	Path        []string `json:"path,omitempty"`    // from the root
	Classes     int      `json:"classes,omitempty"` // that a hedged answer leaves open
	Top         []answer `json:"top,omitempty"`
}

func (r reply) writeJSONL(out *bufio.Writer) error {
	all := make([]answer, len(r.classes))
	for i, c := range r.classes {
		all[i] = answer{Label: c.Label, Probability: c.Probability}
		if r.costs != nil {
			all[i].Cost = &r.costs[i]
		}
	}
	line := all[0]
	line.File, line.Path, line.Classes = r.file, r.path, r.open
	if r.rejected {
		line.Label, line.Rejected = "", true
	}
	if len(all) > 1 {
		line.Top = all
	}
	return encode(out, line)
}

// encode writes one line of JSON, with < and > as they are.
func encode(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

package main

import (
	"fmt"

	"github.com/treeloss/treeloss/decide"
)

// hedgedAnswers is how answers of --confidence did.
type hedgedAnswers struct {
	Confidence float64              `json:"confidence"`
	Answers    decide.HedgingReport `json:"answers"`
}

// selected is how answers did that --reject let through.
type selected struct {
	Threshold float64  `json:"threshold"`
	Answered  *float64 `json:"answered"` // share of the examples
	Accuracy  *float64 `json:"accuracy"` // of these
}

// decisions adds to the result what --confidence, --reject and --oos ask for.
func (e *evaluation) decisions(out *evaluated) error {
	if e.decision.hedges {
		for _, h := range e.hedgings[1:] {
			if err := e.hedgings[0].Merge(h); err != nil {
				return err
			}
		}
		out.Hedged = &hedgedAnswers{e.decision.confidence, e.hedgings[0].Report()}
	}
	if e.decision.rejects {
		out.Selected = e.selected()
	}
	if e.oos == "" {
		return nil
	}
	var err error
	out.OutOfScope, err = e.outOfScope()
	return err
}

// selected counts all examples, those of labels never trained among them unless
// they are skipped.
func (e *evaluation) selected() *selected {
	answered, right := 0.0, 0.0
	for _, x := range e.sure {
		if below(x.confidence, e.decision.reject) {
			continue
		}
		answered++
		if x.right {
			right++
		}
	}
	return &selected{
		Threshold: e.decision.reject,
		Answered:  number(answered / float64(len(e.sure))),
		Accuracy:  number(right / answered),
	}
}

// printSeverity prints how bad the mistakes are, the accuracy always beside it.
func (r *evaluated) printSeverity(a *app) {
	if r.HierarchicalDistance1 == nil || r.Accuracy == nil {
		return
	}
	severity := "no mistakes"
	if r.MistakeSeverity != nil {
		severity = fmt.Sprintf("mistake severity %.3f", *r.MistakeSeverity)
	}
	of := "tree of the model"
	if r.Tree == treeOfOption {
		of = "tree of --taxonomy"
	}
	fmt.Fprintf(a.out, "%s at accuracy %s; hierarchical distance at 1, 5, 20: %.3f, %.3f, %.3f (%s)\n",
		severity, points(*r.Accuracy), *r.HierarchicalDistance1, *r.HierarchicalDistance5, *r.HierarchicalDistance20, of)
}

// printDecisions prints how the answers of --confidence and --reject did.
func (r *evaluated) printDecisions(a *app) {
	if h := r.Hedged; h != nil {
		x := h.Answers
		fmt.Fprintln(a.out)
		t := newTable(a.out, fmt.Sprintf("hedged answers of confidence %g", h.Confidence), "points")
		t.row("right", points(x.Accuracy))
		t.row("coverage: a single class", points(x.ClassShare))
		t.row("right of these", points(x.ClassAccuracy))
		t.row("the root, which says nothing", points(x.RootShare))
		t.row("information, of what the class would say", points(x.InformationShare))
		t.flush()
	}
	if s := r.Selected; s != nil && s.Answered != nil {
		fmt.Fprintf(a.out, "\nrejected below %g: %s %% of the examples are answered", s.Threshold, points(*s.Answered))
		if s.Accuracy != nil {
			fmt.Fprintf(a.out, ", %s %% of these rightly", points(*s.Accuracy))
		}
		fmt.Fprintln(a.out)
	}
	if r.OutOfScope != nil {
		r.OutOfScope.print(a, r.Selected != nil)
	}
}

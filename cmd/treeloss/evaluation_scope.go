package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/score"
)

// outOfScope is how well the model told what belongs to none of its classes.
type outOfScope struct {
	File  string         `json:"file"`
	AUROC score.Interval `json:"auroc"`
	At    decisions      `json:"at"`   // the threshold of --reject, or defaultReject
	Best  decisions      `json:"best"` // the threshold that is best for these very examples
}

// decisions are what a threshold does with examples in and out of scope. The
// "right" of the Detection asks whether there was an answer, right_decisions
// also whether it was the right one.
type decisions struct {
	score.Detection
	RightDecisions float64 `json:"right_decisions"`
}

// defaultReject is the threshold below which an answer is more likely wrong than
// right: Chow's rule where a wrong answer costs twice what none does.
const defaultReject = 0.5

// readOutOfScope runs the model on examples of none of its classes. The columns
// are those of the other examples; a label may be missing.
func (e *evaluation) readOutOfScope(ctx context.Context, a *app, like dataFlags, path string, threads int) error {
	like.data, like.labels = []string{path}, ""
	like.label = cmp.Or(like.label, e.model.Training.Options["label"])
	r, err := like.openFor(a, e.model, true)
	if err != nil {
		return fmt.Errorf("--oos: %w", err)
	}
	defer r.Close()
	a.logf("out of scope: %s", r.Describe())
	e.oos = path
	return inBlocks(ctx, r, threads, blockSize,
		func(worker, at int, x dataset.Example) error {
			if _, known := e.class[x.Label]; known {
				return fmt.Errorf("%v: label %q is a class of the model; --oos wants examples of none, take the row out", x.Place, x.Label)
			}
			p, err := e.predictors[worker].Probabilities(x)
			if err != nil {
				return err
			}
			class, err := e.decide(worker, p)
			if err != nil {
				return err
			}
			e.block[at].confidence = p[class]
			return nil
		},
		func(block []dataset.Example) error {
			for i := range block {
				e.outside = append(e.outside, float64(e.block[i].confidence))
			}
			return nil
		})
}

// outOfScope compares the examples in scope, those whose label was trained,
// with the others.
func (e *evaluation) outOfScope() (*outOfScope, error) {
	var inside, right []float64
	for _, x := range e.sure {
		if !x.known {
			continue
		}
		inside = append(inside, float64(x.confidence))
		if x.right {
			right = append(right, float64(x.confidence))
		}
	}
	auroc, err := score.AUROCInterval(inside, e.outside)
	if err != nil {
		return nil, fmt.Errorf("--oos %s: %w", e.oos, err)
	}
	out := &outOfScope{File: e.oos, AUROC: auroc}
	threshold := defaultReject
	if e.decision.rejects {
		threshold = e.decision.reject
	}
	// Compared in the precision of the model, as below does.
	if out.At, err = decisionsAt(inside, right, e.outside, float64(float32(threshold))); err != nil {
		return nil, err
	}
	out.At.Threshold = threshold
	// A wrong answer in scope is no right decision at any threshold, so the best
	// one is that for the examples which would be answered rightly.
	best := 1.0
	if len(right) > 0 {
		d, err := score.BestDetection(right, e.outside)
		if err != nil {
			return nil, err
		}
		best = d.Threshold
	}
	out.Best, err = decisionsAt(inside, right, e.outside, best)
	return out, err
}

// decisionsAt returns what a threshold does; right are the confidences in scope
// whose answer is right.
func decisionsAt(inside, right, outside []float64, threshold float64) (decisions, error) {
	d, err := score.DetectionAt(inside, outside, threshold)
	if err != nil {
		return decisions{}, err
	}
	good := 0
	for _, p := range right {
		if p >= threshold {
			good++
		}
	}
	for _, p := range outside {
		if p < threshold {
			good++
		}
	}
	return decisions{d, float64(good) / float64(len(inside)+len(outside))}, nil
}

// print prints both thresholds; given tells whether the first was --reject.
func (o *outOfScope) print(a *app, given bool) {
	fmt.Fprintf(a.out, "\nout of scope: AUROC %s points", difference(o.AUROC.Mean, o.AUROC.SE)[1:])
	fmt.Fprintf(a.out, ", %d examples in scope, %d out of it\n", o.At.InScope, o.At.OutOfScope)
	t := newTable(a.out, "threshold", "right decisions", "right detections", "answered in scope", "rejected out of scope")
	row := func(name string, d decisions) {
		t.row(fmt.Sprintf("%.4g (%s)", d.Threshold, name), points(d.RightDecisions), points(d.Right), points(d.Answered), points(d.Rejected))
	}
	name := "default"
	if given {
		name = "--reject"
	}
	row(name, o.At)
	row("best for these, flatters", o.Best)
	t.flush()
}

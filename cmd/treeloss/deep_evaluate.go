package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/treeloss/treeloss/deep/backend"
	"github.com/treeloss/treeloss/deep/network"
	"github.com/treeloss/treeloss/deep/train"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/score"
	"github.com/treeloss/treeloss/tune"
)

// runNetwork measures a network on pictures.
func (f *evaluateFlags) runNetwork(ctx context.Context, a *app) error {
	if f.oos != "" || f.decision.hedges || f.decision.rejects || f.decision.decode == decodeCost {
		return usagef("--oos, --confidence, --reject and --decode cost are not for networks: write the features with treeloss embed and train on these")
	}
	if err := unheeded(f.flags, f.model, picturesKind, "label", "text", "features", "format", "threads"); err != nil {
		return err
	}
	m, err := network.Load(f.model)
	if err != nil {
		return err
	}
	_, set, others, err := picturesFor(a, m, f.data.data, f.classNames, f.data.labels, true)
	if err != nil {
		return err
	}
	if others > 0 && f.unknown == unknownError {
		return fmt.Errorf("%s: %d pictures of classes that were never trained; --unknown-labels skip leaves them out", f.data.first(), others)
	}
	return f.measureDeep(ctx, a, deepExamples{classes: m.Classes, tree: m.Tree, vectors: m.Vectors, set: set, evaluator: m.Evaluator, others: others})
}

// deepExamples are labelled examples and what classifies them.
type deepExamples struct {
	classes   []string
	tree      *labeltree.Tree // of the model; nil: none
	vectors   *matrix.Dense   // of the classes; nil: none
	files     []string        // of pictures that have files of their own; else nil
	set       train.Data
	evaluator func(b backend.Backend, batch int) (*train.Evaluator, error)
	others    int // examples of classes that were never trained
}

// measureDeep runs the examples through the network and prints how good it is.
func (f *evaluateFlags) measureDeep(ctx context.Context, a *app, x deepExamples) error {
	tree, from := x.tree, treeOfModel
	if f.decision.taxonomy != "" {
		var err error
		if tree, err = tune.ReadTaxonomy(f.decision.taxonomy, x.classes); err != nil {
			return err
		}
		from = treeOfOption
	}
	if tree == nil {
		from = ""
	}
	similarity, by, err := similarityOf(x.classes, x.vectors)
	if err != nil {
		return err
	}
	counter, err := score.NewCounter(len(x.classes), score.Options{Tree: tree, Similarity: similarity})
	if err != nil {
		return err
	}
	b, err := backend.Open(f.backend, func(line string) { a.logf("warning: %s", line) })
	if err != nil {
		return err
	}
	defer b.Finalize()
	start := time.Now()
	e, err := x.evaluator(b, deepBatch)
	if err != nil {
		return err
	}
	defer e.Close()
	p := make([]float64, len(x.classes))
	err = e.Each(ctx, x.set, func(i int, logits []float32) error {
		softmaxOf(p, logits)
		return counter.AddFloat64(x.set.Label(i), p)
	})
	if err != nil {
		return err
	}
	if f.unknown == unknownWrong { // examples of classes never trained are wrong
		softmaxOf(p, make([]float32, len(p)))
		for range x.others {
			if err := counter.AddFloat64(score.Unknown, p); err != nil {
				return err
			}
		}
	}
	result := deepResult(counter, x.classes, x.others)
	result.Model, result.Tree, result.SimilarityOf, result.Seconds = f.model, from, by, time.Since(start).Seconds()
	if a.json {
		return a.printJSON(result)
	}
	result.print(a, f.perClass)
	return nil
}

// softmaxOf sets p to the probabilities of logits.
func softmaxOf(p []float64, logits []float32) {
	top := float32(math.Inf(-1))
	for _, v := range logits {
		top = max(top, v)
	}
	var sum float64
	for c, v := range logits {
		p[c] = math.Exp(float64(v - top))
		sum += p[c]
	}
	for c := range p {
		p[c] /= sum
	}
}

func deepResult(counter *score.Counter, classes []string, others int) *evaluated {
	r := counter.Report()
	out := &evaluated{
		Temperature: 1, Decode: decodeLikely,
		Accuracy: number(r.Accuracy), Top5Accuracy: number(r.Top5Accuracy), MacroF1: number(r.MacroF1), WeightedF1: number(r.WeightedF1),
		SimilarityAccuracy: number(r.SimilarityAccuracy), LogLoss: number(r.LogLoss), CalibrationError: number(r.CalibrationError),
		MistakeSeverity: number(r.MistakeSeverity), HierarchicalDistance1: number(r.HierarchicalDistance1),
		HierarchicalDistance5: number(r.HierarchicalDistance5), HierarchicalDistance20: number(r.HierarchicalDistance20),
		HierarchicalPrecision: number(r.HierarchicalPrecision), HierarchicalRecall: number(r.HierarchicalRecall), HierarchicalF1: number(r.HierarchicalF1),
		Examples: r.Examples, Classes: len(classes), UnknownLabels: others,
		Unknown: []stranger{}, PerClass: []classRow{}, Confusions: []confusion{}, Calibration: counter.Calibration(),
	}
	for _, c := range counter.Classes() {
		out.PerClass = append(out.PerClass, classRow{classes[c.Class], c.Support, c.Predicted, c.Precision, c.Recall, c.F1})
	}
	for _, c := range counter.Confusions(mostConfusions) {
		out.Confusions = append(out.Confusions, confusion{classes[c.True], classes[c.Predicted], c.Count})
	}
	return out
}

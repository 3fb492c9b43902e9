package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/treeloss/treeloss/deep/backend"
	"github.com/treeloss/treeloss/deep/network"
	"github.com/treeloss/treeloss/score"
	"github.com/treeloss/treeloss/tune"
)

// runNetwork measures a network on pictures.
func (f *evaluateFlags) runNetwork(ctx context.Context, a *app) error {
	if f.oos != "" || f.decision.hedges || f.decision.rejects || f.decision.decode == decodeCost {
		return usagef("--oos, --confidence, --reject and --decode cost are not for networks: write the features with treeloss embed and train on these")
	}
	m, err := network.Load(f.model)
	if err != nil {
		return err
	}
	data, set, others, err := picturesFor(a, m, f.data.data, f.classNames, true)
	if err != nil {
		return err
	}
	if others > 0 && f.unknown == unknownError {
		return fmt.Errorf("%s: %d pictures of classes that were never trained; --unknown-labels skip leaves them out", f.data.first(), others)
	}
	tree, from := m.Tree, "model"
	if f.decision.taxonomy != "" {
		if tree, err = tune.ReadTaxonomy(f.decision.taxonomy, m.Classes); err != nil {
			return err
		}
		from = f.decision.taxonomy
	}
	if tree == nil {
		from = ""
	}
	similarity, by, err := similarityOf(m.Classes, nil)
	if err != nil {
		return err
	}
	counter, err := score.NewCounter(len(m.Classes), score.Options{Tree: tree, Similarity: similarity})
	if err != nil {
		return err
	}
	b, err := backend.Open(f.backend, func(line string) { a.logf("warning: %s", line) })
	if err != nil {
		return err
	}
	defer b.Finalize()
	start := time.Now()
	e, err := m.Evaluator(b, deepBatch)
	if err != nil {
		return err
	}
	defer e.Close()
	p := make([]float64, len(m.Classes))
	err = e.Each(ctx, set, func(i int, logits []float32) error {
		softmaxOf(p, logits)
		return counter.AddFloat64(data.label(i), p)
	})
	if err != nil {
		return err
	}
	if f.unknown == unknownWrong { // examples of classes never trained are wrong
		softmaxOf(p, make([]float32, len(p)))
		for range others {
			if err := counter.AddFloat64(score.Unknown, p); err != nil {
				return err
			}
		}
	}
	result := networkResult(counter, m, others)
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

func networkResult(counter *score.Counter, m *network.Model, others int) *evaluated {
	r := counter.Report()
	out := &evaluated{
		Temperature: 1, Decode: decodeLikely,
		Accuracy: number(r.Accuracy), Top5Accuracy: number(r.Top5Accuracy), MacroF1: number(r.MacroF1), WeightedF1: number(r.WeightedF1),
		SimilarityAccuracy: number(r.SimilarityAccuracy), LogLoss: number(r.LogLoss), CalibrationError: number(r.CalibrationError),
		MistakeSeverity: number(r.MistakeSeverity), HierarchicalDistance1: number(r.HierarchicalDistance1),
		HierarchicalDistance5: number(r.HierarchicalDistance5), HierarchicalDistance20: number(r.HierarchicalDistance20),
		HierarchicalPrecision: number(r.HierarchicalPrecision), HierarchicalRecall: number(r.HierarchicalRecall), HierarchicalF1: number(r.HierarchicalF1),
		Examples: r.Examples, Classes: len(m.Classes), UnknownLabels: others,
		Unknown: []stranger{}, PerClass: []classRow{}, Confusions: []confusion{}, Calibration: counter.Calibration(),
	}
	for _, c := range counter.Classes() {
		out.PerClass = append(out.PerClass, classRow{m.Classes[c.Class], c.Support, c.Predicted, c.Precision, c.Recall, c.F1})
	}
	for _, c := range counter.Confusions(mostConfusions) {
		out.Confusions = append(out.Confusions, confusion{m.Classes[c.True], m.Classes[c.Predicted], c.Count})
	}
	return out
}

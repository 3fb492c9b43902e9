package evaluate

import (
	"math"
	"slices"

	"github.com/treeloss/treeloss/score"
)

// losses sums the log losses of examples and their squares, in nats; exactly, so that the
// sums are the same however the examples are cut into blocks and parts.
type losses struct {
	N            int
	Sum, Squares score.ExactSum
}

// add counts the log loss of one example.
func (l *losses) add(loss float64) {
	l.N++
	l.Sum.Add(loss)
	l.Squares.Add(loss * loss)
}

// merge adds the losses of other examples.
func (l *losses) merge(other losses) {
	l.N += other.N
	l.Sum.Merge(other.Sum)
	l.Squares.Merge(other.Squares)
}

// logLoss is -log p of the truth, or the cross entropy against its shares, in nats.
func logLoss(truth int, mix score.Mix, p []float32) float64 {
	of := func(class int32) float64 {
		return -math.Log(max(float64(p[class]), math.SmallestNonzeroFloat32))
	}
	if len(mix.Class) == 0 {
		return max(of(int32(truth)), 0)
	}
	sum := 0.0
	for n, class := range mix.Class {
		sum += float64(mix.Share[n]) * of(class)
	}
	return max(sum, 0)
}

// intervals returns 95 % intervals over the choice of test examples, by the keys of
// score.Metrics. Those of rates are Wilson's. The others are 1.96 standard errors to
// each side: of means as usual, and of macro F1, which is no mean, by the derivative of
// F1 for one more example (the delta method), so that
//
//	SE^2 = sum over examples of d^2,  d = (1/K) sum of dF1_c,
//	dF1_c = (2 [hit of c] - F1_c ([true is c] + [predicted is c])) / (support_c + predicted_c)
//
// with K classes that occur. The calibration error is treated as a mean of
// s (right - confidence), s = 1 or -1 the side on which its bin is.
func (e *Evaluation) intervals(all *score.Counter, r score.Report) map[string]score.Interval {
	out := map[string]score.Interval{}
	n := r.Examples
	if n == 0 {
		return out
	}
	for key, rate := range map[string]float64{"accuracy": r.Accuracy, "top5_accuracy": r.Top5Accuracy} {
		if i, err := score.RateInterval(int(math.Round(rate*float64(n))), n); err == nil {
			i.Mean = rate // to the last bit
			out[key] = i
		}
	}
	put := func(key string, mean, se float64) {
		if !math.IsNaN(mean) && !math.IsNaN(se) && n > 1 {
			out[key] = score.NormalInterval(mean, se)
		}
	}
	confusions := all.Confusions(-1)
	put("macro_f1", r.MacroF1, macroError(all.Classes(), confusions))
	if l := e.losses; l.N > 1 {
		put("log_loss", r.LogLoss, errorOfMean(l.Squares.Value(), l.Sum.Value()/float64(l.N), l.N))
	}
	put("calibration_error", r.CalibrationError, e.calibrationSE(all.Calibration()))
	if s := e.counted.Similarity; s != nil {
		squares := r.Accuracy * float64(n) // of cosines, 1 for a right answer
		for _, c := range confusions {
			cosine := s.Cosine(c.True, c.Predicted)
			squares += float64(c.Count) * cosine * cosine
		}
		put("similarity_accuracy", r.SimilarityAccuracy, errorOfMean(squares, r.SimilarityAccuracy, n))
	}
	if t := e.about.Tree; t != nil {
		height, wrong, squares := score.Heights(t), 0, 0.0
		for _, c := range confusions {
			h := height[t.LCA(t.Node(c.True), t.Node(c.Predicted))]
			wrong, squares = wrong+c.Count, squares+float64(c.Count)*h*h
		}
		put("mistake_severity", r.MistakeSeverity, errorOfMean(squares, r.MistakeSeverity, wrong))
		put("hierarchical_distance_1", r.HierarchicalDistance1, errorOfMean(squares, r.HierarchicalDistance1, n-r.Unknown))
	}
	return out
}

// errorOfMean is the standard error of the mean of n numbers whose squares have this sum;
// NaN for fewer than two.
func errorOfMean(squares, mean float64, n int) float64 {
	if n < 2 {
		return math.NaN()
	}
	return math.Sqrt(max(squares/float64(n)-mean*mean, 0) / float64(n-1))
}

// macroError is the standard error of macro F1; see intervals.
func macroError(classes []score.Class, confusions []score.Confusion) float64 {
	occurring := 0.0
	right, unknown := make([]int, len(classes)), make([]int, len(classes)) // unknown: predictions for labels never trained
	for i, c := range classes {
		if c.Support+c.Predicted > 0 {
			occurring++
		}
		right[i], unknown[i] = c.Support, c.Predicted
	}
	for _, c := range confusions {
		right[c.True] -= c.Count
		unknown[c.Predicted] -= c.Count
	}
	loss := func(i int) float64 {
		return classes[i].F1 / float64(max(1, classes[i].Support+classes[i].Predicted))
	}
	squares := 0.0
	for i, c := range classes {
		gain := 2/float64(max(1, c.Support+c.Predicted)) - 2*loss(i)
		squares += float64(right[i])*gain*gain + float64(unknown[i]-right[i])*loss(i)*loss(i)
	}
	for _, c := range confusions {
		d := loss(c.True) + loss(c.Predicted)
		squares += float64(c.Count) * d * d
	}
	return math.Sqrt(squares) / max(1, occurring)
}

// calibrationSE is the standard error of the calibration error; see intervals.
func (e *Evaluation) calibrationSE(bins []score.Bin) float64 {
	sum, squares := 0.0, 0.0
	for _, x := range e.sure {
		bin := bins[min(int(float64(x.confidence)*float64(len(bins))), len(bins)-1)]
		gap := -float64(x.confidence)
		if x.right {
			gap++
		}
		if bin.Accuracy < bin.Confidence {
			gap = -gap
		}
		sum, squares = sum+gap, squares+gap*gap
	}
	return errorOfMean(squares, sum/float64(max(1, len(e.sure))), len(e.sure))
}

// thresholds are those of Result.Coverage.
var thresholds = []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99}

// Coverage returns what thresholds do: the share of the examples whose answer is at least so
// probable, and the accuracy of these answers.
func (e *Evaluation) Coverage(thresholds []float64) []Selected {
	list := make([]Selected, 0, len(thresholds))
	for _, t := range thresholds {
		list = append(list, *e.selected(t))
	}
	return list
}

// Confidences returns up to n confidences of answers, from the lowest to the highest, that cut
// the examples into parts of one size: thresholds for Coverage.
func (e *Evaluation) Confidences(n int) []float64 {
	all := make([]float32, len(e.sure))
	for i, x := range e.sure {
		all[i] = x.confidence
	}
	slices.Sort(all)
	var list []float64
	for i := range n {
		if at := i * len(all) / n; at < len(all) {
			list = append(list, float64(all[at]))
		}
	}
	return slices.Compact(list)
}

// Scope returns what thresholds do with examples in and out of scope.
func (e *Evaluation) Scope(thresholds []float64) ([]Decisions, error) {
	inside, right := e.inScope()
	var list []Decisions
	for _, t := range thresholds {
		d, err := decisionsAt(inside, right, e.outside, t)
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, nil
}

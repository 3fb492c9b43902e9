package score

import "math"

// Report holds the totals of a test set. Rates are fractions from 0 to 1.
// A number that is not known is NaN here and null in JSON: all of them without
// examples, SimilarityAccuracy without a Similarity, LogLoss if every label is
// Unknown, and MistakeSeverity and the hierarchical ones without a Tree or a
// known label.
//
// The distance of two different classes in a tree is the height of their
// lowest common ancestor (see Heights); a class is at
// distance 0 from itself. An Unknown label has no place in the tree and is left
// out of whatever is measured there.
type Report struct {
	// Accuracy is the fraction of examples whose most probable class is the
	// true one. It is the micro F1, too.
	Accuracy float64

	// Top5Accuracy is the fraction of examples whose true class is among the
	// five most probable.
	Top5Accuracy float64

	// MacroF1 is the mean F1 of the classes that occur, be it as truth or as
	// prediction (scikit-learn's average="macro"). Unknown labels are no
	// class; they lower the precision of what is predicted for them.
	MacroF1 float64

	// WeightedF1 is the mean over examples of the F1 of their class, 0 for
	// Unknown (scikit-learn's average="weighted").
	WeightedF1 float64

	// SimilarityAccuracy is the mean over examples of the cosine of the
	// vectors of the predicted and the true class, 0 for Unknown. So the
	// authors' code computes it; Wang and Izbicki (2022) only describe it.
	SimilarityAccuracy float64

	// LogLoss is the mean of -log p in nats, p the probability of the true
	// class, over the examples whose label is known. A p below 2^-149 counts
	// as 2^-149. Where several classes share the truth (Mix) it is the cross
	// entropy against their shares, which is not 0 for the best of answers.
	LogLoss float64

	// CalibrationError is the expected calibration error: the examples fall
	// in 15 bins of equal width by the probability of their prediction, and
	// it is the mean over examples of |accuracy - mean probability| of their
	// bin. Unknown labels count as wrong.
	CalibrationError float64

	// MistakeSeverity is the mean distance of the predicted from the true
	// class over the wrong predictions (Bertinetto et al. 2020); NaN if none is
	// wrong. Never print it without Accuracy beside it: a classifier that makes
	// many small mistakes in place of a few large ones has the lower severity.
	// HierarchicalDistance1 counts both.
	MistakeSeverity float64

	// HierarchicalDistance1, 5 and 20 are the mean distance from the true class
	// of the 1, 5 and 20 most probable classes, of all if there are fewer, over
	// right and wrong predictions (Bertinetto et al. 2020). The first is the
	// severity times the rate of mistakes. The others are not 0 even for the
	// best of classifiers: they say whether the runners-up are near the truth.
	HierarchicalDistance1  float64
	HierarchicalDistance5  float64
	HierarchicalDistance20 float64

	// HierarchicalPrecision, Recall and F1 compare the nodes on the path of the
	// predicted class, that of the class included and the root left out, with
	// those on the path of the true one: nodes on both over nodes on the first
	// path, over nodes on the second, and their harmonic mean. Nodes are summed
	// over examples before they are divided (micro average: Kiritchenko et al.
	// 2006; Silla and Freitas 2011). On a star all three are the accuracy over
	// known labels. NaN if there is no node but the root.
	HierarchicalPrecision float64
	HierarchicalRecall    float64
	HierarchicalF1        float64

	Examples int // all that were added
	Classes  int // k
	Unknown  int // examples whose label was never trained
	Clipped  int // examples whose p, or that of a class with a share, was below 2^-149
}

// Report returns the totals so far, in O(k) time, O(nodes) with a Tree, and one
// Cosine, one LCA and a comparison or two for each distinct mistake.
func (c *Counter) Report() Report {
	r := Report{Examples: c.examples, Classes: c.k, Unknown: c.unknown, Clipped: c.clipped}
	for _, m := range Metrics() {
		*m.field(&r) = math.NaN() // until it is known
	}
	if c.examples == 0 {
		return r
	}
	n := float64(c.examples)
	r.Accuracy = float64(c.correct) / n
	r.Top5Accuracy = float64(c.inTop) / n
	r.MacroF1, r.WeightedF1 = c.f1()
	r.CalibrationError = c.calibrationError()
	if known := c.examples - c.unknown; known > 0 {
		r.LogLoss = c.loss.Value() / float64(known)
	}
	if c.options.Similarity != nil {
		r.SimilarityAccuracy = c.similaritySum(c.options.Similarity) / n
	}
	if c.mistakes != nil {
		c.mistakes.report(&r, c)
	}
	return r
}

// similaritySum adds up the cosines in the fixed order of Confusions.
func (c *Counter) similaritySum(s *Similarity) float64 {
	sum := float64(c.correct)
	for _, mistake := range c.Confusions(-1) {
		sum += float64(mistake.Count) * s.Cosine(mistake.True, mistake.Predicted)
	}
	return sum
}

// Package multilabel trains classifiers of examples that may have any number of labels each:
// tags of a package, topics of an article, none at all.
//
//	corpus.Corpus with Sets --Train--> softmax.Model with Multilabel, whose layer has sigmoids
//
// One linear support vector machine a class against all others (softmax.SquaredHinge) is
// trained by dual coordinate ascent, all classes beside each other, over the same n-grams as
// any other model. Held-out rows choose the prior and then two things that the margins lack:
//
//   - probabilities: 1 / (1 + exp(-a m - b)) of a margin m, with one a and one b for all
//     classes (Platt 2000), so that the order of the classes stays that of the margins. Both
//     are folded into the weights: what is kept is a layer whose scores are logits;
//   - thresholds: the probability from which a class is answered, one for all classes, for the
//     best micro F1, or one for each.
//
// It answers what a model of one class an example cannot: none of the classes, or three.
package multilabel

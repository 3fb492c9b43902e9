// Package evaluate measures a classifier of any kind on labelled examples:
//
//	classify.Classifier, Options --New--> Evaluation
//	labelled examples ------> Evaluation.Count ------------+
//	examples of no class ---> Evaluation.CountOutOfScope --+--> Result
//
// How good it is as a whole, by class and by the tree over the classes; what it
// predicts for what; and, where asked for, how good hedged and rejected answers are,
// and how well it tells what belongs to none of its classes. A Result is the same
// however examples are cut into blocks or spread over goroutines.
//
// # What counts
//
// An example whose label was never trained has no right answer. It counts as wrong, is
// left out or ends the evaluation, as Options.UnknownLabels says; it has no place in a
// tree and no say in the log loss. An example with several labels counts for the class
// with the largest share, and in the log loss for all of them.
//
// With Rule.Reject the examples whose answer is too unsure are not answered, and
// Selected has the share of the others and their accuracy. Out of scope means examples
// of none of the classes: AUROC says how well the confidence in the answers tells them
// from the rest whatever the threshold, OutOfScope.At what the chosen threshold does.
package evaluate

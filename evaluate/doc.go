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
package evaluate

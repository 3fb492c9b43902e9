// Package score says how good predictions are: accuracy, top-5 accuracy, F1,
// similarity accuracy, log loss and calibration error of one classifier, how
// bad its mistakes are on a tree over the classes, how well it tells what is
// out of its scope, and the difference of two with its standard error.
//
// The flow: one Counter.Add for each test example with the probabilities that
// the classifier gave it, then Report for the totals, Classes for the table of
// classes and Confusions for the pairs most often taken for each other. To
// compare two methods, keep the rows of both (Options.KeepRows) and give
// Counter.Correct of each to PairedRows or PairedSplits.
//
// With Options.Tree a Report has mistake severity, hierarchical distance and
// hierarchical precision, recall and F1, too. Severity looks at mistakes only,
// so that a worse classifier can have a better one: wherever it is printed, the
// accuracy belongs beside it. AUROC and DetectionAt take the confidence in each
// answer, for examples in and out of scope.
//
// A Counter needs memory for the k classes, the nodes of the tree and the
// distinct confusions it has met, never for examples x classes. All its sums are exact, so neither
// the order of the examples nor how they are split over Counters that are
// merged changes a single bit of a Report.
//
// Classes are numbered 0 to k-1. The truth -1 (Unknown) stands for a label
// that was never trained: no prediction is right for it.
package score

// Package scorecard draws what package evaluate measured as a page: headline measures
// with intervals, who is mistaken for whom, the worst classes with examples of their
// mistakes, and what confidence is worth. It knows of a model no more than an Evaluation
// does, so that linear models and networks have the same page.
//
//	evaluate.Options.Rows --Mistakes.Add--+
//	evaluate.Evaluation, Result ----------+--> Card.Page --> report.Page
//
// A page has, in this order, with the file of each figure and table beside it:
//
//	Measures       measures, measures-figure        card.go
//	Confusions     confusions-map, zoom, mistakes   matrix.go; confusions.csv is the matrix
//	Classes        worst-classes, classes, examples card.go
//	Confidence     calibration, coverage,           confidence.go
//	               thresholds, calibration-bins
//	Severity       severity, hedging                matrix.go; of a model or data with a tree
//	Out of scope   out-of-scope, scope-thresholds   confidence.go; with examples of none of
//	                                                the classes
//
// Tables show per cent with one decimal; their CSV files have fractions with all digits.
//
// The same evaluation gives the same bytes: no date, no time taken, no machine.
package scorecard

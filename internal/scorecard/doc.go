// Package scorecard draws what package evaluate measured as a page: headline measures
// with intervals, who is mistaken for whom, the worst classes with examples of their
// mistakes, and what confidence is worth. It knows of a model no more than an Evaluation
// does, so that linear models and networks have the same page.
//
//	evaluate.Options.Rows --Mistakes.Add--+
//	evaluate.Evaluation, Result ----------+--> Card.Page --> report.Page
//
// The same evaluation gives the same bytes: no date, no time taken, no machine.
package scorecard

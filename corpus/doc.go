// Package corpus is what there is to train on: labelled examples and what files say
// about their classes, before any feature is fitted and any choice is made.
//
//	files of examples -> Corpus (records by row, labels as texts)
//	Corpus + training rows + ClassFiles (taxonomy, vectors, distances, weights)
//	    -> Data (records, classes as numbers, classinfo.Info)
//	Data + rows -> Fit -> Fitted: features and the examples in them
//	            -> HoldOut, Folds, Shots: rows to train on, rows to measure on
//
// Rows are numbers throughout, and a set of them is a list: tables are never copied. A
// label that is none of the classes has class -1; Labelled leaves its rows out.
package corpus

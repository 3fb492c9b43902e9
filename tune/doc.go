// Package tune fits a model to data with the choices that a user does not want
// to make: the prior variance, which class information to share by, and whether to
// train on the names of the classes too.
//
//	corpus.Data + rows + Method
//	    -> features fitted on the rows less the held-out ones
//	    -> softmax.FitPath over a grid of priors, measured on the held-out rows
//	    -> the best prior, fitted again on all rows -> Result -> softmax.Model
//	                                                   Result.Test -> score.Counter
//
// Held-out rows come only from the rows given, and there from the classes with
// three rows or more. If these have less than half of the rows there are none to
// spare: the defaults are used, and a source of class knowledge only if the rows
// bear it out (see Auto).
package tune

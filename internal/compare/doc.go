// Package compare measures several methods on the same splits of the same data
// with the same tuning budget, and says what each gains over plain cross
// entropy, with the standard error of the paired difference.
//
//	corpus.Data + splits + method names -> Run -> one Result a method
//
// With several splits the errors are over splits; with one they are over its
// test rows. Tuning sees training rows only.
//
// # What is compared
//
// Every method gets the same training rows, chooses its settings on rows held out of
// these with the same grid, and is tested on the same test rows. So what differs between
// two methods on a row is the methods' doing, and the error of a difference is that of
// the paired differences d_s = accuracy_s - baseline_s over s splits, sd(d)/sqrt(s), or
// over the test rows of a single split: smaller than what the two accuracies alone would
// allow. Splits that share one test set do not cover the choice of that set; OverWords
// says which case it is.
//
// Accuracies in a Comparison are fractions; its page and Points have percentage points.
package compare

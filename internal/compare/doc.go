// Package compare measures several methods on the same splits of the same data
// with the same tuning budget, and says what each gains over plain cross
// entropy, with the standard error of the paired difference.
//
//	corpus.Data + splits + method names -> Run -> one Result a method
//
// With several splits the errors are over splits; with one they are over its
// test rows. Tuning sees training rows only.
package compare

// Package feature turns records and class names into rows of numbers.
//
// A Table collects raw records: n-gram counts of texts, numeric columns, or
// sparse rows as they are. Fit then looks at some rows of a Table and returns
// a Set, the fitted features:
//
//	records -> Table -> Fit(training rows) -> Set
//	                 \-> Set.Matrix(Table, any rows) -> matrix.Matrix
//	new record ------------> Rower.Row -> one row
//
// Counting once and fitting often is what makes k-shot samples, held-out rows
// and cross validation cheap, and keeps them honest: the vocabulary and the
// weights of the n-grams come from the rows given to Fit only. Rower.Row gives
// for a record what Set.Matrix gives for its row, to the last bit.
//
// Texts become tf-idf rows of two blocks, each of length 1: words and pairs of
// neighbouring words, and the 2- to 4-grams of characters within words; scripts
// without spaces give n-grams of 1 to 3 characters to both blocks. Numeric
// columns are standardised. Sparse rows stay as they are.
package feature

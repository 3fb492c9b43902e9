// Package wordvec reads word vectors and turns class names into label vectors.
//
// It reads, and tells apart by their content,
//
//   - word2vec binary files, with or without a line break after each vector;
//   - word2vec text files and fastText .vec files, which start with a line
//     "words dimensions";
//   - GloVe text files, the same without that line;
//   - fastText .bin models, which also give vectors for words that they have
//     never seen, from the n-grams of their letters;
//
// each of them plain or packed with gzip or zstd, from a file or from a stream.
//
// The files are large and the class names are few: GoogleNews has 3 million
// words of 300 numbers, 3.6 GB. So the names go in first, and the file streams
// through once:
//
//	class names --> Options.Names --> Open / Read --> Vectors --> Names --> LabelVectors
//	                                  keeps only what                        k x dim matrix,
//	                                  the names can use                      what was found how
//
// How a name becomes words, and which spellings of them are tried in which
// order, is the comment of [Vectors.Names]. What happens to words without a
// vector is never decided silently: it is the caller's choice of an [Unknown].
//
// Every malformed file ends in an error. No count in a file is believed before
// the bytes that it promises have arrived, so that memory follows what was
// read, not what a header says: the kept vectors, a buffer of 1 MiB, and for a
// .zst file its window, at most 128 MiB, as the zstd program has it.
package wordvec

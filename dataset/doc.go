// Package dataset reads examples from files, one at a time, and splits them.
//
// # What it promises
//
// A Reader gives the rows of a CSV, TSV, JSONL, fastText, LIBSVM or NumPy file,
// plain or packed with gzip or zstd, or of a Parquet file, as a stream of
// Example values. Memory does not grow with the length of what is read; of
// Parquet it is one page of each column that is used. Whatever the bytes, the outcome is
// examples or an *Error that names file, line and column, says what stood there,
// what was wanted and what to do. Of a labelled read every Example has a label,
// all its numbers are finite and its feature numbers ascend.
//
// # The way of a row
//
//	file or stream
//	    |  input    .gz and .zst unpacked, byte-order mark taken off
//	    |  format   from the name, else from the first line
//	    |  lines    numbered, checked to be UTF-8, bounded in length
//	    |  source   fastText, libsvm, npy, or rows of named columns:
//	    |             cells of a table (CSV, TSV), of jsonl, of Parquet
//	    v
//	Example{Text or Values, Label, Mix or Labels, Weight, Place}
//
// A Parquet file skips input and lines: it is read from its end, so it must be
// a file and not a pipe.
//
// # The formats
//
// CSV and TSV (RFC 4180): the first line that is not blank names the columns, all
// other lines have as many fields. Fields that begin with a double quote may hold
// separators, line breaks and doubled quotes; a quote within another field stands for
// itself. Lines end in LF or CRLF. In place of commas a CSV may have semicolons or
// tabs, whichever the header has most often, or what a first line such as sep=; names.
// Between semicolons numbers may have decimal commas, but then all of them.
//
// JSONL (RFC 8259, one object a line): the keys of the first object are the columns;
// later objects may have them in any order, and others. Numbers, true and false are
// labels as they are written. A key that plays a part must not occur twice in an
// object. Arrays of numbers have one length.
//
// fastText: words, of which those that begin with __label__, or Options.LabelPrefix, are
// labels, anywhere in the line. What is left is the text, with the white space between its words.
//
// LIBSVM: a label, then index:value with ascending indices from 1, then perhaps a
// comment behind #. "+1" and "1" are two labels.
//
// NumPy (NEP 1, versions 1 to 3): a matrix in C order of little-endian floats of 2, 4
// or 8 bytes or of integers. Labels come from a second file, an array of integers or
// strings, or a text with one a line.
//
// Parquet (parquet.apache.org): columns of texts, numbers, decimals or truth values,
// and lists of numbers; pages packed with Snappy, gzip, zstd, Brotli or LZ4 (raw).
// Dates, times, UUIDs, groups and nested lists are named as such and not read.
//
// Pictures have readers of their own: OpenFolder, a folder for each class, as ImageNet
// comes, and ReadCIFAR100. ReadSynsets reads what the classes of ImageNet are called.
//
// # Which column is what
//
// Options name the columns. What they leave open is found by the usual names,
// without regard to case; the first name of a list that occurs is taken:
//
//	label   label, labels, class, category, intent, target, y, species, emoji,
//	        tag, topic, genre
//	text    text, sentence, utterance, query, review, tweet, content, message,
//	        title, question, description, body, comment, document, phrase,
//	        headline, abstract, prompt, input
//	id      id, index, row, rowid, row_id, uid, guid, "unnamed: 0" and a column
//	        without a name: never a feature unless it is named as one
//	array   features, x, embedding, vector, values (JSONL: one key with an array;
//	        Parquet: one column with lists of numbers)
//
// Without a text column the features are all columns that hold a number, or
// nothing, in the first row; label, weight and id columns are left out. The
// columns of Parquet have types, which decide in place of the first row.
// Reader.Describe says what was chosen. A weight is read only from a column
// that Options.Weight names: a column called "weight" is often a measurement.
//
// # Unbalanced classes and soft labels
//
// The weight column says how much a row counts, ReadClassWeights reads how much
// each class does. A JSONL row may have soft labels, a distribution over classes:
//
//	{"text": "a small wolf?", "labels": {"husky": 0.75, "wolf": 0.25}}
//
// Then Example.Mix has the distribution, and Example.Label its most probable class.
// Soft labels sum to 1, but for rounding, or are whole numbers that count votes.
//
// # Several labels
//
// With Options.Multilabel an example has any number of labels, none included, in
// Example.Labels: a JSON list, the labels of a line of fastText, those with commas between
// them in LIBSVM, or what Options.LabelSeparator separates in a cell. Without it a second
// label is an error that wraps ErrSeveralLabels, and Options.FirstLabel takes the first.
//
// A LIBSVM file whose first line is three integers is one of the Extreme Classification
// Repository: numbers of examples, features and labels. Its features count from 0, a line
// may have no label, and what goes beyond the first line is refused.
//
// # Lines to predict
//
// With Options.Unlabelled a stream, or a file whose name tells no format, may
// also hold plain sentences, one a line. It is taken for a table only if its
// first line has one of the text names above as a field, or Options name columns.
// Options.Format settles it.
//
// # Cost
//
// Lines are split where they lie and numbers parsed in place: beside the text of an
// example nothing is allocated for a row, and a label that was met before costs one
// lookup. A line of JSON is walked three times: to see that it is valid, to find its
// values, and to read those that are wanted. A Reader works on one goroutine; who has
// several files may open a Reader for each.
//
// # Splits
//
// Shots, HoldOut and Folds choose row numbers by class, each fixed by its seed.
// LabelIndex gives the classes their numbers.
package dataset

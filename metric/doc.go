// Package metric gives the distances between k labels that trees, losses and
// scores are built on.
//
// A Space is all that other packages ask for: the number of points and the
// distance of two of them. It comes from vectors, one row a label (Euclidean,
// Cosine), from distances that somebody else worked out (ReadDistances),
// or from any function (Func), such as one that looks into a matrix; a taxonomy's
// distances come from package labeltree.
//
//	rows of numbers --Euclidean, Cosine--+
//	list of pairs   --ReadDistances------+--> Space --> covertree, labeltree
//	a function      --Func---------------+
//
// The constructors refuse NaN and infinities. Every Space they return is
// symmetric to the last bit, gives exactly 0 from a point to itself and to an
// equal point, never changes, and may be used by several goroutines at once.
// Check and CheckTriangle say whether any other Space is a metric too.
package metric

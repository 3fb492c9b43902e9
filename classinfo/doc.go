// Package classinfo turns what is known about the classes into a sharing.
//
//	names     -> n-grams of the class names      -> Features
//	vectors   -> vectors of the class names      -> Features
//	taxonomy  -> a given label tree              -> Tree
//	distances -> precomputed distances of the classes  -> Dense
//	weights   -> weights of another model        -> Dense
//	means     -> class means of the examples     -> Dense
//	u-tree, v-tree, linkage: a metric over the classes (from one of the above)
//	             -> cover tree or linkage        -> Tree
//
// A specification such as "names" or "names+taxonomy" says which; Build makes
// it, scaled so that one penalty means the same for all of them.
package classinfo

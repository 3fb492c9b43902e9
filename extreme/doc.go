// Package extreme trains and applies classifiers of very many classes, thousands to a
// million, for which a weight for each feature and class neither fits memory nor can be
// trained. Classes are the leaves of a shallow tree of small softmax problems:
//
//	rows, names, taxonomy -> class vectors -> Partition -> a softmax at each node -> Model
//	text -> row of features -> beam search down the tree -> classes and probabilities
//
// Every node is one multinomial logistic regression over its children: an inner node
// among the nodes below it, a leaf among its classes, at most a hundred. A node sees its
// own rows only, has weights for the features of these alone, and keeps the weights that
// matter (about one in ten) in half precision. All nodes but the root have one more
// output, "none of these", trained on the rows that the node above would wrongly send
// there, so that a leaf can take back what the router got wrong.
//
// Where the classes below a node have little in common, no softmax tells them apart. Then the
// leaves are found by the classes that a row is similar to, by a nearest-centroid classifier in
// sparse vectors: held-out rows choose.
//
// A flat softmax is better where it can be trained: a mistake of the router is final. The
// gap is estimated with each training, see Report.
//
// The scheme is that of Parabel and its successors (Prabhu et al., "Parabel: Partitioned
// label trees for extreme classification", WWW 2018), with multinomial nodes in place of
// one-vs-rest ones and class information (package classinfo) in the leaves.
package extreme

// Package doctor examines a data set before anybody trains on it: is there
// something wrong with the rows, do the names of the classes say anything, and
// can sharing between classes be expected to help here, and by which source?
//
//	rows of a file --Records.Add--> repeats, hidden characters --+
//	corpus.Data -----> rows a class, coverage, names, metric ------+--> Report
//	           \---> plain cross entropy --> lambda, norms ------+
//	            \--> held-out gain of each source ---------------+
//
// # The verdict
//
// Where the gain over plain cross entropy was measured on held-out rows, it
// decides: more than two standard errors is a yes, more than one a perhaps. Less
// is a no, or unknown if the error itself is above a point. Without that
// measurement, or where it is unknown and it can be seen whether names agree with
// the rows, the rules below decide, the first that fits:
//
//   - 60 rows a class (the median) and more: no. Names were not seen to matter
//     from there on.
//   - Names agree with the rows (AgreesBy standard errors above chance, and at
//     least twice chance): yes below 10 rows a class, else perhaps.
//   - A taxonomy, vectors, distances or a model are given, and classes that they
//     call near have near rows (AgreesBy standard errors above chance; below 20
//     classes whatever the rows say): perhaps; groups gave about a point on one
//     intent set and nothing on leaves sorted by genus.
//   - Names cannot be checked, as the rows are numbers: unknown.
//   - Otherwise no.
//
// # The paper's theory
//
// Wang and Izbicki (2022) bound how far SGD ends from the best loss by
// ‖A*‖ ρ/√n (Lemma 1), where A* is the best value of whatever is trained, W, U
// or V, ρ the largest length of an input and n the number of examples. Examine
// works these numbers out for weights that it trains. Four things keep them from
// being a promise:
//
//   - W* is the best under the true distribution; here it is what training with
//     a penalty found, without the bias, which the paper does not have.
//   - The bound takes ρ as the Lipschitz constant for U and V too. The gradient
//     in V is Aᵀ g xᵀ, longer by up to sqrt(edges between the two classes
//     farthest apart / 2). Norm.Stretch is that factor.
//   - Corollary 2 prints sqrt(2) n for sqrt(2n); we take the latter. Its proof
//     takes the radius at the root of the cover tree for B, which Assumption 3
//     does not say, and drops a term of 1.
//   - It is an upper bound. A smaller one is no proof of better accuracy.
package doctor

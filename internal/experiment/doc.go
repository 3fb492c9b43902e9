// Package experiment repeats the four experiments on synthetic data of the paper
// (Wang and Izbicki 2022, Sections 5.1.1 to 5.1.5) and computes the numbers that
// its theory is about.
//
// # The way of the data
//
//	Options --Sweeps--> points of the x axis, methods, protocols
//	                        |
//	one run of a sweep:  draw: W*, labels and noise of examples
//	                        |            |
//	            class information      training, validation, test examples
//	       metric, cover tree, trees     |
//	                        |            |
//	                      model ---- softmax.SGD | Converge ----> weights
//	                                                                 |
//	                          cell: accuracy of each method <-- softmax.Layer
//	                        |
//	       Store (a line a cell) --> Results: means, 95 % intervals, paired differences
//	                                    |
//	                      WriteCSV, Paragraph, Claims, figures of package report
//
// The true parameters W* (k x d) are also the places of the classes: the label of
// an example is uniform, and the example is normal around its class's row with
// deviation sigma. What is known about the classes is the Euclidean metric of
// these rows, or of noisy ones in metric-quality; from it come the cover tree,
// the U-tree and the V-tree, the linkage and the similarities of SimLoss.
//
// All methods of a run share all draws, and settings that differ in n, sigma or
// the tree share them too. Scores are W x, without a bias, as in the paper's Eq. 1
// but for its sign. Training is that of package softmax, what users get.
//
// # Cells
//
// A cell is all methods at one place of a sweep, in one run, under one protocol.
// It depends on the options and its name alone: each purpose of random numbers
// has a stream of its own, keyed by seed, run, k and d. So cells can be computed
// in any order by any number of threads, and a run that was stopped goes on where
// it was. Methods that do not depend on x are in a cell without x.
//
// The inner loops run in float32 with vector instructions. AVX2 and AVX-512 give
// the same bits; plain Go rounds differently, which moves a few test examples of
// 10,000, and now and then another rate or prior wins on the validation examples.
//
// # Protocols
//
// Paper is what the authors' scripts do: one pass, batch 1, momentum 0.9, weight
// decay 3e-4, one learning rate for all methods. OnePass gives each method its own
// best of Rates by the accuracy on 500 further examples (a rate at which training
// diverges is none), Converged the optimum for its own best of Priors. What differs
// between the first two is the step size alone: a tree adds up the same gradient along
// paths, which makes the step longer by the mean eigenvalue of A Aᵀ.
package experiment

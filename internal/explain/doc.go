// Package explain says why a model gives the answer that it gives.
//
//	record --softmax.Model--> answer --+--> its path in the tree of the classes
//	                                   +--> the classes nearest to it, by weights and by name
//	                                   +--> decisions: the features that spoke for it and against it
//
// A score is linear in the features, so the reasons are exact and nothing is
// sampled or approximated: how far the score of the answer a lies above that
// of a rival r is, for the input x,
//
//	s_a - s_r = (b_a - b_r) + sum_f (W[a,f] - W[r,f]) x_f
//
// and each term of the sum is what feature f contributed. Scores alone mean
// little, since adding the same weights to all classes changes no
// probability; differences to a rival, or to the mean of all classes, do. They
// are those of the model as it was trained, before any calibration.
package explain

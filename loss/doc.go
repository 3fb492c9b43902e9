// Package loss turns the scores of one example into a number, in nats, and its
// gradient.
//
//	CrossEntropy   -log p_y, with label smoothing
//	SimLoss        -log Σ_c S[y,c] p_c (Kobs et al. 2020)
//	SoftLabels     cross entropy against exp(-β d(y,c)) (Bertinetto et al. 2020)
//	HXE            -Σ_v λ(v) log p(v | parent of v) up a tree (the same)
//	Own            a Function of value, gradient and curvature from outside
//
// are losses of the k class scores, where p is the softmax of the scores;
// Evaluate computes them. HierarchicalSoftmax (Morin and Bengio 2005) is an
// output of its own: it scores the nodes of a label tree and multiplies the
// softmaxes among siblings along the path of a class.
//
//	scores --Evaluate--------------> loss, gradient, p --Curvature-------------> H x
//	       --EvaluateHierarchical--> loss, gradient, p --CurvatureHierarchical-> H x
//	       --Probabilities---------> p of the classes, from node scores
//
// EvaluateMix and its like take a target that is shared by several classes.
//
// Scores are log-odds in nats, and finite; the paper writes them with the
// opposite sign, which changes no prediction. Sums run in float64 whatever the
// type of the arrays.
package loss

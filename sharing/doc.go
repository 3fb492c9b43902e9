// Package sharing says how k classes share parameters.
//
// The weights of a classifier are W = A V, where V (m x d) is what is trained
// and A (k x m) is a Sharing:
//
//	None       A = I: nothing is shared, plain softmax regression
//	Tree       A[i,v] = sqrt(length of v) if node v is on class i's path to the
//	           root: the paper's U- and V-tree (all lengths 1), a taxonomy, a
//	           weighted tree (Wang and Izbicki 2022, sections 3.1 and 3.2)
//	Features   A = E: any features of the classes, sparse, one row a class
//	Dense      A given number by number
//	Sum        A = [f1 A1, f2 A2, ...]: several of these side by side
//
// What training does with A depends only on K = A Aᵀ, the class kernel; only
// C K C, C = I - 11ᵀ/k, where gradients sum to 0 over the classes, as they do
// for every loss of package loss.
//
//	labeltree.Tree, features --New...--> Sharing --Normalized--> one with mean eigenvalue 1
//	                                     Sharing --Compact-----> one with the same K and fewer rows
//	                                     Sharing --NewOperator-> Expand, Pull, Kernel, MinNorm
//
// An Operator applies A, Aᵀ and K to blocks of columns and finds the least-norm
// V for a given W. For a tree it does each in O(m) a column: A is never formed.
package sharing

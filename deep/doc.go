// Package deep is the tree loss as a layer for deep nets on GoMLX. Where a net
// ends in
//
//	logits := layers.Dense(scope, x, true, k)
//
// write
//
//	logits := deep.Dense(scope, x, s)
//
// with any sharing.Sharing s of k classes, and train as before, under any loss
// of the logits and any optimiser: logits = x (A V)ᵀ + b, A the matrix of s.
// After training Fold puts W = A V in place of V, and the net is one with a
// plain dense layer again.
//
//	sharing --Dense--------------> logits
//	labeltree --HierarchicalSoftmax-> log-probabilities, in place of logits
//	loss.Loss --Loss-------------> train.LossFn
//	Top, Similarity, Severity ---> metric.Interface
//	trained store --Fold, Export-> plain layer, safetensors
//
// This package and those below it are the only ones that import GoMLX. Its graph
// functions panic, as is the custom of that library; what takes data from
// outside returns errors.
package deep

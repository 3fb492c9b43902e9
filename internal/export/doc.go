// Package export writes a linear model in the forms of other programs:
//
//	softmax.Model --Write--> ONNX, NumPy, JSON, CSV, fastText's .vec, or a model file
//
// What a file of theirs cannot hold, how a text becomes the numbers that the model takes,
// is the contract beside it: the n-grams and their weights as JSON, and the rules in
// docs/model-file.md. A model of numeric columns is whole as ONNX: columns in,
// probabilities out.
package export

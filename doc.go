// Package treeloss trains classifiers with many similar classes, and uses
// what is known about the classes: their names, a taxonomy, a metric.
//
//	model, err := treeloss.Fit(ctx, examples, treeloss.Options{})
//	err = model.Save("intents.safetensors")
//	model, err = treeloss.Load("intents.safetensors")
//	top, err := model.Predict("where is my card?", 3)
//
// A Model is safe for concurrent use; PredictAll answers many texts at once, and
// LoadFS, Read and Write keep models in other places than files. The example
// "Handler" is an HTTP server's. A program that only predicts can import package softmax
// in place of this one, for a third of the size.
//
// The classifier is a softmax whose class weights are W = A V: the matrix A
// says which parameters classes share (Wang and Izbicki 2022 share along a
// tree of similar classes; features of the class names do better with few
// examples), V is trained. What is saved is the flat W, so sharing costs
// nothing at prediction.
//
// Fit chooses sharing and strength by held-out examples and keeps plain cross
// entropy among the candidates. The packages below give each part by itself:
// sharing (A), loss, softmax (trainers and the model file), feature, dataset,
// corpus (examples with their classes) and tune.
package treeloss

// Package softmax is the linear model of many classes: logits = A (V x) + b.
//
// Fit finds V and b for examples, a sharing A and a loss, by one of three
// trainers, and folds them into a Layer, the flat W = A V and b that any tool
// can run:
//
//	matrix.Matrix + classes -> Fit(Converge | SGD | AdamW) -> Layer
//	Layer + feature.Set + labels -> Model -> Save ... Load -> Predict
//	SGD, AdamW -> Checkpoint -> SaveCheckpoint ... LoadCheckpoint -> Resume
//
// A program that only predicts imports this package and package record. It links no
// reader of files, and has 5.2 MB (linux/amd64, unstripped, a main of ten lines; 15.7 MB
// with package treeloss, which reads Parquet):
//
//	model, err := softmax.Load("intents.safetensors") // or softmax.Read
//	top, err := model.NewPredictor().Predict(record.Example{Text: text}, 3)
//
// A Predictor is for one goroutine at a time.
//
// SGD and AdamW share a loop of epochs. How a step is made is the choice of
// newStepper:
//
//	epochs.go -> stepper: denseSteps   SGD on dense rows, one pass of kernel.Dense
//	                      sparseSteps  SGD on sparse rows, no momentum, no averaging
//	                      rowSteps     SGD on sparse rows, all else
//	                      adamUpdate   AdamW, on V and not on W
//
// A Layer knows numbers only. A Model also knows how a record becomes a row and
// what the classes are called; it is what a file holds.
//
// Converge finds the minimum of the objective, by dual coordinate ascent or
// Newton's method; start there.
// SGD is for more examples than that can go through a hundred times, AdamW for
// comparison with deep nets.
//
// Weights are feature-major, d x k, everywhere but inside SGD on dense rows: there
// a step is one pass of kernel.Dense, which keeps them class-major with padded rows
// (k x d) and hands them back at the end of each epoch. SGD on sparse rows without
// momentum and averaging keeps the weight decay as a factor beside the weights, and
// its gradients go straight into their rows.
//
// Results do not depend on the number of threads: every sum is made in an order
// that the data fixes. They may differ in the last digits between processors,
// whose float32 instructions round differently.
package softmax

// Package decide turns the probabilities of classes into an answer.
//
//	held-out scores --FitTemperature--> T
//	                                    |
//	scores --Softmax------------------- + --> probabilities
//	                                               |
//	         the most probable class     Likely ---+
//	         or nothing, if it is unsure Reject ---+--> answer
//	         the least bad class      LeastCost ---+
//	         "dog", if unsure which       Hedge ---+
//
// Likely is right most often. LeastCost makes less severe mistakes, but a few
// more of them: print its severity with its accuracy. Hedge is right as often
// as asked for and says less where it must; a Hedging counts how often it was,
// and how much it said. Reject answers or does not.
//
// Hedge, LeastCost and Reject take probabilities at their word. Those of a
// trained model are often too sure of themselves, or not sure enough:
// FitTemperature mends that on held-out rows, and says by how much.
//
// Every function that takes the probabilities p of k classes returns an error
// for another number of them, for one that is no number from 0 to 1, and for a
// sum that is off 1 by more than 0.001. LeastCost and Hedge then take them
// relative to their sum.
//
// A Tree and a Matrix may be used by several goroutines.
package decide

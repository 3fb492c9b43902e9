// Package decide turns the probabilities of classes into an answer.
//
//	held-out scores --FitTemperature, FitConfidence--> Calibration
//	                                                   |
//	scores --Probabilities-----------------------------+--> probabilities --Decider--> Answer
//
// A Rule says how: the zero one takes the most probable class, which is right most
// often. Rule.Cost makes less severe mistakes, but a few more of them: print its
// severity with its accuracy. Rule.Confidence is right as often as asked for and
// says less where it must. Rule.Reject answers or does not.
//
// Rules take probabilities at their word. Those of a trained model are often too
// sure of themselves, or not sure enough: a calibration on held-out rows mends that,
// and says by how much. What rules with thresholds did on these rows (CountAnswers) is
// what an accuracy of the answers can be promised by (RiskCoverage.Promise).
package decide

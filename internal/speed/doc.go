// Package speed measures how fast this machine runs the inner loops of treeloss:
// matrix products, softmax, training steps with and without a tree, an epoch on
// sparse text, a cover tree, the prediction of one row.
//
//	Step, Text, Points --work on data made from a seed--> Medians --> Report
//
// The sizes are those at which deep nets end and texts are classified. The data
// is random: times depend on its shape alone. Command treeloss bench prints the
// report; the module in bench compares the same work with other libraries.
package speed

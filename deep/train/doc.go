// Package train trains a network with any head and loss, epoch by epoch, and can
// be broken off and resumed at any time with the same result:
//
//	Task (network, head, loss) + Data --New--> Trainer --Run--> Result
//	                                              |
//	                                              +--> folder: checkpoint, best weights, log
//	                                              +--> TensorBoard's event files
//
// All randomness comes from a seed and a counter: weights start from draws made
// here and not by a backend, the order of the examples in an epoch is drawn from
// seed and epoch, and so should be whatever Data changes. A checkpoint after each
// epoch holds weights, moving averages, momentum and the counters.
//
// SGD, AdamW and Schedule also serve GoMLX's own train.Trainer.
package train

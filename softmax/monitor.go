package softmax

import "math"

// Monitor watches a trainer that runs in epochs.
type Monitor struct {
	// Valid are examples to measure on after each epoch; nil: none. The layer
	// of the epoch with the best accuracy, then the least loss, is returned.
	Valid *Examples
	// Patience ends training after so many epochs without a better one; 0
	// means to train all epochs.
	Patience int
	// Checkpoint is called after each epoch with all there is to go on from.
	// Its arrays are valid until it returns. An error ends training.
	Checkpoint func(*Checkpoint) error
	// Resume goes on from a checkpoint of the same examples and options: the
	// result is bit for bit that of a run that was never stopped. A checkpoint of
	// another run is an error that names what differs. More epochs are no
	// difference unless the schedule depends on them.
	Resume *Checkpoint
}

// Schedule gives the factor of the rate in an epoch.
type Schedule interface {
	// Factor returns the factor for epoch (from 0) of epochs.
	Factor(epoch, epochs int) float64
}

// Step multiplies the rate by Gamma after every Every epochs.
type Step struct {
	Every int     // epochs; below 1 counts as 1
	Gamma float64 // above 0
}

// Factor returns Gamma to the number of times that Every epochs have passed.
func (s Step) Factor(epoch, _ int) float64 { return math.Pow(s.Gamma, float64(epoch/max(s.Every, 1))) }

// Cosine takes the rate from 1 down along half a cosine (Loshchilov and Hutter
// 2017, without restarts).
type Cosine struct{}

// Factor returns (1 + cos(π epoch/epochs))/2.
func (Cosine) Factor(epoch, epochs int) float64 {
	return (1 + math.Cos(math.Pi*float64(epoch)/float64(epochs))) / 2
}

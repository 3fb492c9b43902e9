package train

import (
	"cmp"
	"math"
	"time"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train"
	"github.com/gomlx/gomlx/ml/train/optimizer"

	"github.com/treeloss/treeloss/internal/option"
)

// Task is what is trained.
type Task struct {
	// Features builds the network up to its last layer: [batch, width].
	Features func(scope *model.Scope, inputs []*graph.Node) *graph.Node
	// Head builds the logits of the classes from the features: [batch, k].
	Head func(scope *model.Scope, features *graph.Node) *graph.Node
	// Loss is the mean loss of a batch.
	Loss    train.LossFn
	Classes int
}

// HeadScope is the scope of the head in the store of a Task.
const HeadScope = "head"

// Data gives examples by number.
type Data interface {
	// Len returns the number of examples.
	Len() int
	// Label returns the class of an example, from 0.
	Label(i int) int
	// Batch returns the inputs of some examples as they are in an epoch of
	// training, or unchanged for epoch -1. It must depend on nothing else. It may
	// be called by another goroutine than the trainer's, one call at a time.
	Batch(rows []int, epoch int) ([]*tensors.Tensor, error)
}

// DefaultBatch is the number of examples a step by default.
const DefaultBatch = 128

// Options of a Trainer. The zero value trains 200 epochs of 128 examples with
// the settings of He et al. (2016) for CIFAR: rate 0.1, a tenth of it after a half
// and three quarters of the epochs, momentum 0.9, decay 1e-4.
type Options struct {
	Epochs   int      // 0 means 200
	Batch    int      // 0 means 128; at most the number of examples
	Rate     Schedule // no Base means 0.1 with milestones at 1/2 and 3/4
	Momentum float64  // 0 means 0.9; less than 0 means none
	Decay    float64  // 0 means 1e-4; less than 0 means none
	Nesterov bool
	// Optimizer takes the place of SGD with the momentum and decay above, and follows
	// SetRate, as AdamW does; nil means SGD.
	Optimizer optimizer.Interface
	Patience  int // stop after so many epochs that bring no better accuracy on valid; 0 means never
	Seed      uint64
	Folder    string // for checkpoints and the log; "" means none
	// TensorBoard is a folder for event files that TensorBoard draws, each run a
	// new file; "" means none. Each epoch gives loss, accuracy, rate and examples
	// a second, at the number of steps so far.
	TensorBoard string
	Resume      bool                     // go on from the checkpoint in Folder
	About       string                   // what is trained, in words; a checkpoint of another is refused
	Start       func(*model.Store) error // puts weights to start from into the store; nil means none
	Progress    func(Progress)           // called after each step and evaluation; nil means none
}

// withDefaults puts in what is not given. A batch has at most all examples, as an epoch
// without a whole batch would train nothing.
func (o Options) withDefaults(examples int) Options {
	o.Epochs, o.Batch = cmp.Or(o.Epochs, 200), min(cmp.Or(o.Batch, DefaultBatch), examples)
	// Milestones that are given without a rate stay.
	if o.Rate.Base == 0 {
		o.Rate.Base = 0.1
		if o.Rate.Milestones == nil && o.Epochs > 1 {
			o.Rate.Milestones = []float64{float64(o.Epochs) / 2, float64(o.Epochs) * 3 / 4}
		}
	}
	o.Momentum, o.Decay = max(cmp.Or(o.Momentum, 0.9), 0), max(cmp.Or(o.Decay, 1e-4), 0)
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	return o
}

// Check returns an *option.Error for an option that is out of range.
func (o Options) Check() error {
	o.Rate.Base = cmp.Or(o.Rate.Base, 1) // 0 is the default
	return cmp.Or(
		option.Check("Epochs", o.Epochs, o.Epochs >= 0, "at least 1"),
		option.Check("Batch", o.Batch, o.Batch >= 0, "at least 1"),
		option.Check("Patience", o.Patience, o.Patience >= 0, "at least 1, or 0 for never"),
		option.Check("Momentum", o.Momentum, o.Momentum < 1, "a number from 0 to below 1, such as 0.9"),
		option.Check("WeightDecay", o.Decay, !math.IsNaN(o.Decay) && !math.IsInf(o.Decay, 0), "a number, such as 1e-4"),
		o.Rate.Check())
}

// Progress tells how far a training has come. Fractions are 0 to 1.
type Progress struct {
	Epoch, Epochs int     // the current one, from 1, and how many
	Step, Steps   int     // of this epoch
	Loss          float64 // mean of this epoch so far, in nats
	Accuracy      float64 // on this epoch's examples as they were trained on, so far
	PerSecond     float64 // examples a second, in this epoch
	// Left is the time to the last epoch at the speed of this run so far, with
	// evaluations once there was one. Patience may end the run before.
	Left  time.Duration
	Valid *Valid // once an epoch, after its evaluation; else nil
}

// Valid is an evaluation.
type Valid struct {
	Accuracy float64 `json:"accuracy"`
	Loss     float64 `json:"loss"` // mean cross entropy, in nats
}

package softmax

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/sharing"
)

// Checkpoint is where an SGD or AdamW run stands after an epoch. It is tied to
// the examples, the options and the seed of its run.
type Checkpoint struct {
	Epoch int     `json:"epoch"` // epochs done
	Steps int     `json:"steps"` // batches done
	Loss  float64 `json:"loss"`  // mean of the last epoch, in nats
	Run   Run     `json:"run"`

	Arrays map[string][]float32 `json:"-"` // weights and all that the next step depends on
	Best   *Layer               `json:"-"` // best on the validation examples so far, or nil

	BestEpoch int     `json:"best_epoch"`    // when Best was met
	BestRight float64 `json:"best_accuracy"` // its share 0..1 of the validation examples
	BestLoss  float64 `json:"best_log_loss"` // its mean log loss there, in nats
}

// Run tells runs apart that must not go on from each other's checkpoints.
type Run struct {
	Trainer  string `json:"trainer"`          // with its numbers
	Schedule string `json:"schedule"`         // with its epochs if it depends on them
	Rate     string `json:"rate"`             //
	Batch    string `json:"batch"`            //
	Seed     string `json:"seed"`             //
	Output   string `json:"sharing and loss"` // a fingerprint
	Examples string `json:"examples"`         // a fingerprint
	Valid    string `json:"validation"`       // a fingerprint, "" for none
}

// differs returns the name of the first thing in which two runs differ, and
// what it is in each.
func (r Run) differs(other Run) (name, here, there string) {
	for _, c := range [][3]string{
		{"examples", r.Examples, other.Examples},
		{"validation examples", r.Valid, other.Valid},
		{"sharing or loss", r.Output, other.Output},
		{"trainer", r.Trainer, other.Trainer},
		{"rate", r.Rate, other.Rate},
		{"schedule", r.Schedule, other.Schedule},
		{"batch size", r.Batch, other.Batch},
		{"seed", r.Seed, other.Seed},
	} {
		if c[1] != c[2] {
			return c[0], c[1], c[2]
		}
	}
	return "", "", ""
}

// describe returns the Run of the loop. It reads all examples once.
func (t *epochLoop[T]) describe() Run {
	r := Run{
		Trainer:  t.name,
		Schedule: "constant",
		Rate:     fmt.Sprint(t.rate),
		Batch:    fmt.Sprint(t.batch),
		Seed:     fmt.Sprint(t.opts.Seed),
		Output:   t.probe(),
		Examples: t.src.fingerprint(),
	}
	if t.inOrder {
		r.Trainer += " in order"
	}
	if t.opts.NoBias {
		r.Trainer += " without bias"
	}
	switch s := t.schedule.(type) {
	case nil:
	case Step: // may go on for more epochs than it was told first
		r.Schedule = fmt.Sprintf("%T%v", s, s)
	default:
		r.Schedule = fmt.Sprintf("%T%v over %d epochs", s, s, t.epochs)
	}
	if t.monitor.Valid != nil {
		r.Valid = t.monitor.Valid.fingerprint()
	}
	return r
}

// probe is a fingerprint of what the scores of a random example become: its
// loss and the gradient behind the sharing.
func (t *epochLoop[T]) probe() string {
	h := newHead[float64](t.opts.Sharing, t.opts.Loss, t.opts.Hierarchy)
	random := rand.New(rand.NewPCG(1, 2))
	sum := sha256.New()
	z, p := make([]float64, h.outputs), make([]float64, h.targets)
	bias, gradBias := make([]float64, h.targets), make([]float64, h.targets)
	for y := range min(4, t.opts.Sharing.Classes()) {
		for j := range z {
			z[j] = random.NormFloat64()
		}
		put(sum, h.evaluate(z, p, bias, gradBias, target{class: y}, 1))
		put(sum, z)
	}
	if _, plain := t.opts.Sharing.(sharing.None); plain {
		return "none " + hex.EncodeToString(sum.Sum(nil)[:8])
	}
	return fmt.Sprintf("%T %s", t.opts.Sharing, hex.EncodeToString(sum.Sum(nil)[:8]))
}

// fingerprint returns a digest of all examples.
func (ex Examples) fingerprint() string {
	sum := sha256.New()
	switch x := ex.X.(type) {
	case *matrix.Sparse:
		for i := range x.Rows() {
			index, value := x.Row(i)
			put(sum, int64(len(index)))
			put(sum, index)
			put(sum, value)
		}
	case *matrix.Dense:
		put(sum, x.Data)
	}
	put(sum, ex.Class)
	put(sum, ex.Weight)
	if ex.Mix != nil {
		for i := range ex.Class {
			index, share := ex.Mix.Row(i)
			put(sum, int64(len(index)))
			put(sum, index)
			put(sum, share)
		}
	}
	return fmt.Sprintf("%d x %d %s", ex.X.Rows(), ex.X.Cols(), hex.EncodeToString(sum.Sum(nil)[:8]))
}

// put adds numbers to a digest, which takes everything.
func put(w io.Writer, numbers any) { _ = binary.Write(w, binary.LittleEndian, numbers) }

// checkpoint returns where the loop stands. Its arrays are those of the stepper, not
// copies: whoever keeps them beyond the call of Monitor.Checkpoint copies them.
func (t *epochLoop[T]) checkpoint(s *state) *Checkpoint {
	c := &Checkpoint{Epoch: s.epoch, Steps: s.steps, Loss: s.loss, Run: t.about, Best: s.best,
		BestEpoch: s.bestEpoch, BestRight: s.bestScore.Right, BestLoss: s.bestScore.Loss,
		Arrays: make(map[string][]float32)}
	for name, a := range t.stepper.arrays() {
		c.Arrays[name] = toFloat32(a)
	}
	return c
}

// toFloat32 returns a itself where it is float32 already, else a rounded copy.
func toFloat32[T matrix.Float](a []T) []float32 {
	if same, ok := any(a).([]float32); ok {
		return same
	}
	out := make([]float32, len(a))
	for i, x := range a {
		out[i] = float32(x)
	}
	return out
}

// restore puts the loop where the checkpoint stands.
func (t *epochLoop[T]) restore(s *state, c *Checkpoint) error {
	if name, here, there := t.about.differs(c.Run); name != "" {
		return fmt.Errorf("softmax: the checkpoint to resume has %s %q, this run has %q; give what it was made with, or start anew: %w", name, there, here, ErrOptions)
	}
	if c.Epoch < 0 || c.Steps < 0 || c.BestEpoch < 0 || c.BestEpoch > c.Epoch {
		return fmt.Errorf("softmax: the checkpoint to resume has done %d epochs and %d steps, the best epoch %d: %w", c.Epoch, c.Steps, c.BestEpoch, ErrOptions)
	}
	for name, a := range t.stepper.arrays() {
		from, ok := c.Arrays[name]
		if !ok || len(from) != len(a) {
			return fmt.Errorf("softmax: the checkpoint to resume has %d numbers of %q, this run needs %d: %w", len(from), name, len(a), ErrOptions)
		}
		for i, x := range from {
			a[i] = T(x)
		}
	}
	*s = state{epoch: c.Epoch, steps: c.Steps, loss: c.Loss, bestEpoch: c.BestEpoch,
		bestScore: validation{Right: c.BestRight, Loss: c.BestLoss}}
	if c.Best != nil {
		best := *c.Best
		best.Hierarchy = t.opts.Hierarchy // a file does not keep it
		if err := best.fits(t.opts.Sharing.Classes(), t.src.features, t.opts.Hierarchy); err != nil {
			return fmt.Errorf("softmax: the best layer of the checkpoint to resume: %w", err)
		}
		s.best = &best
	}
	t.stepper.setSteps(c.Steps)
	return nil
}

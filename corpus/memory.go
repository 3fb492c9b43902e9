package corpus

import (
	"errors"
	"fmt"

	"github.com/treeloss/treeloss/internal/memory"
)

// ErrMemory says that examples, or the weights they ask for, do not fit the budget of
// memory.
var ErrMemory = errors.New("too large for the memory budget")

// How the budget is dealt out. Training on n rows of e numbers and k classes has the
// table of the rows, the rows as features for the last fit, for held-out ones with and
// without names and, merged, in the solver; then four arrays of weights (dual and flat
// ones of cross entropy, those of squared hinge, and a copy as they are saved) and two
// of n x k dual variables.
const (
	featureCopies = 4
	weightBytes   = 4 * 4
	dualBytes     = 2 * 4
	// SGD has the weights, and copies as they are saved.
	streamWeightBytes = 3 * 4
	programBytes      = 48 << 20 // the program, its buffers, scores of held-out rows

	// rowsShare of the budget may go to rows, so that enough is left for weights.
	rowsShare = 0.6
	// usable is the share of the budget that is given away: estimates err.
	usable = 0.9
)

// maxWeights bounds the weights, features x classes, of a model of texts: rare
// n-grams beyond it are left out. Training has four arrays of that size, 1.6 GB.
// On 1,063 classes (naics) the bound costs no accuracy.
const maxWeights = 100e6

// leastFeatures are kept however many classes there are.
const leastFeatures = 1000

// checkedRows is the number of rows after which the memory of the table is looked at.
const checkedRows = 1 << 12

// checkMemory returns an error if training on the rows so far has no room in the budget.
func (c *Corpus) checkMemory() error {
	budget := memory.Budget(c.Memory)
	rows, grams := c.Table.Bytes()
	copies := int64(featureCopies)
	if c.Stream != nil { // rows to measure on, beside a sample
		copies = 1
	}
	need := grams + (1+copies)*rows + c.originBytes() + c.Sets.bytes()
	if float64(need) <= rowsShare*float64(budget) {
		return nil
	}
	return fmt.Errorf("training on more than %d examples needs over %s, and the memory budget is %s: raise it with Options.Memory (there are %s), or give fewer examples: %w",
		len(c.Labels), memory.Text(need+need/2), memory.Text(budget), memory.Text(memory.Machine()), ErrMemory)
}

// originSize is the size of an Origin without its text and id: three strings and a line.
const originSize = 56

// originBytes returns about how many bytes the origins of the rows take. It looks at
// the latest checkedRows only and takes the others to be as long.
func (c *Corpus) originBytes() int64 {
	n := len(c.Origins)
	if n == 0 {
		return 0
	}
	latest := c.Origins[max(0, n-checkedRows):]
	bytes := originSize * len(latest)
	for _, o := range latest {
		bytes += len(o.ID) + len(o.Text)
	}
	return int64(bytes) * int64(n) / int64(len(latest))
}

// Need is an estimate of what training takes, in bytes.
type Need struct {
	Budget   int64
	Examples int64 // the table, and the rows as features
	Weights  int64 // of all classifiers that are held at a time
	Duals    int64 // one for each row and class

	Distinct int // features that the rows have
	Features int // of these, as many as there is room for; the others are the rarest n-grams
}

// Need estimates what training to convergence on so many rows takes.
func (d *Data) Need(rows int) Need {
	rows += len(d.Unlabelled.Rows)
	k := int64(len(d.Classes.Labels))
	table, grams := d.Table.Bytes()
	copies, duals, weights := d.takes(rows)
	n := Need{Budget: memory.Budget(d.Memory), Examples: grams + (1+copies)*table, Duals: duals, Distinct: d.Table.Distinct()}
	n.Features = n.Distinct
	if d.Named() {
		n.Features = min(n.Features, d.maxFeatures(rows))
	}
	n.Weights = weights * int64(n.Features) * k
	return n
}

// Total is the sum of the parts.
func (n Need) Total() int64 { return programBytes + n.Examples + n.Weights + n.Duals }

// String returns the estimate in one line.
func (n Need) String() string {
	s := fmt.Sprintf("memory: about %s of a budget of %s: examples %s, weights %s", memory.Text(n.Total()), memory.Text(n.Budget), memory.Text(n.Examples), memory.Text(n.Weights))
	if n.Duals > 0 {
		s += ", duals " + memory.Text(n.Duals)
	}
	if n.Features < n.Distinct {
		s += fmt.Sprintf("; of %d n-grams at most %d are used, the rarest are left out", n.Distinct, n.Features)
	}
	return s
}

// takes returns how often rows are kept as features, the bytes of dual variables and
// those of a weight. Where duals would take too much, training is stochastic; on a stream
// it always is, and has a few blocks of rows beside the features of the sample.
func (d *Data) takes(rows int) (copies, duals, weight int64) {
	if d.Stream != nil {
		return 2, 0, streamWeightBytes
	}
	duals = dualBytes * int64(rows) * int64(len(d.Classes.Labels))
	if duals > memory.Budget(d.Memory)/4 {
		duals = 0
	}
	return featureCopies, duals, weightBytes
}

// maxFeatures is the number of n-grams that there is room for beside so many rows.
func (d *Data) maxFeatures(rows int) int {
	k := len(d.Classes.Labels)
	table, grams := d.Table.Bytes()
	copies, duals, weights := d.takes(rows)
	room := usable*float64(memory.Budget(d.Memory)) - float64(programBytes+grams+(1+copies)*table+duals)
	return max(int(min(maxWeights, room/float64(weights)))/k, leastFeatures)
}

// leastWeightBytes is what a weight takes with the trainer that needs least.
const leastWeightBytes = 2 * 4

// CheckFeatures returns an error that wraps ErrMemory if not even stochastic training
// of the weights of so many features fits the budget.
func (d *Data) CheckFeatures(features int) error {
	budget, k := memory.Budget(d.Memory), len(d.Classes.Labels)
	if need := leastWeightBytes * float64(features) * float64(k); need > float64(budget) {
		return fmt.Errorf("the weights of %d features and %d classes need %s, and the memory budget is %s: raise it with Options.Memory (there are %s), or give fewer features or classes: %w",
			features, k, memory.Text(int64(need)), memory.Text(budget), memory.Text(memory.Machine()), ErrMemory)
	}
	return nil
}

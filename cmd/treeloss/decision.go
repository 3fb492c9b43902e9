package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/softmax"
	"github.com/treeloss/treeloss/tune"
)

// decisionFlags say how probabilities become an answer.
type decisionFlags struct {
	decode     string
	confidence float64
	reject     float64
	taxonomy   string

	hedges  bool // --confidence was given
	rejects bool // --reject was given
}

// What --decode may say.
const (
	decodeLikely = "likely"
	decodeCost   = "cost"
)

// decideHelp is what the help of predict and evaluate says about all of it.
const decideHelp = `--confidence P answers with the deepest node of the tree over the classes whose
classes together have the probability P: "dog" where the breed is not clear. Below
0.5 two nodes may reach P, and the deepest need not be the most probable.
--reject P answers nothing below the probability P. --decode cost takes the
class whose mistakes are least severe on average, by the tree. The probabilities
are taken at their word, so train with --calibrate. The tree is that of the model,
or --taxonomy.`

func (f *decisionFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.decode, "decode", decodeLikely, "likely, the most probable class, or cost, the class of least expected mistake severity on the tree: where a near miss is better than a far one")
	flags.Float64Var(&f.confidence, "confidence", 0, "answer with the deepest node of the tree that reaches this probability, such as 0.9: where a vague answer is better than a wrong one")
	flags.Float64Var(&f.reject, "reject", 0, "answer nothing below this probability, such as 0.5: where some examples belong to no class")
	flags.StringVar(&f.taxonomy, "taxonomy", "", "tree over the classes, for a model that has none or in place of its own: a taxonomy in any form that train reads, or a tree file")
	choices(c, "decode", decodeLikely, decodeCost)
}

// check notes which flags were given and refuses what does not go together.
func (f *decisionFlags) check(c *cobra.Command) error {
	f.hedges, f.rejects = c.Flags().Changed("confidence"), c.Flags().Changed("reject")
	switch {
	case f.decode != decodeLikely && f.decode != decodeCost:
		return usagef("--decode %q, want likely or cost", f.decode)
	case f.hedges && !(f.confidence > 0 && f.confidence <= 1):
		return usagef("--confidence %v, want a probability above 0, up to 1, such as 0.9", f.confidence)
	case f.rejects && !(f.reject >= 0 && f.reject <= 1):
		return usagef("--reject %v, want a probability from 0 to 1, such as 0.5", f.reject)
	}
	return nil
}

// needsTree names the flag that cannot do without a tree, "" if none.
func (f *decisionFlags) needsTree() string {
	switch {
	case f.hedges:
		return "--confidence"
	case f.decode == decodeCost:
		return "--decode cost"
	}
	return ""
}

// Where a tree comes from, as results name it.
const (
	treeOfModel  = "model"
	treeOfOption = "taxonomy"
)

// tree returns the tree to decide over and where it is from. It is nil if
// there is none and no flag needs one.
func (f *decisionFlags) tree(m *softmax.Model, path string) (*decide.Tree, string, error) {
	var tree *labeltree.Tree
	from := treeOfModel
	switch {
	case f.taxonomy != "":
		var err error
		if tree, err = tune.ReadTaxonomy(f.taxonomy, m.Labels); err != nil {
			return nil, "", err
		}
		from = treeOfOption
	case m.Layer.Hierarchy != nil:
		tree = m.Layer.Hierarchy.Tree()
	default:
		tree = m.Tree
	}
	if tree == nil {
		if flag := f.needsTree(); flag != "" {
			return nil, "", fmt.Errorf("%s: the model has no tree over its classes, which %s needs; give one with --taxonomy FILE, or train with --taxonomy FILE or --sharing linkage", path, flag)
		}
		return nil, "", nil
	}
	d, err := decide.NewTree(tree, decide.Options{})
	return d, from, err
}

// hint tells that probabilities are taken at their word which nobody checked.
func (f *decisionFlags) hint(a *app, m *softmax.Model) {
	if (f.hedges || f.rejects) && m.Training.Calibration == nil {
		a.logf("note: the probabilities of this model are not calibrated, so --confidence and --reject may promise too much or too little; train with --calibrate")
	}
}

// below tells whether a probability is too low for a threshold, in the precision
// of the model, so that 0.9 reaches 0.9.
func below(p float32, threshold float64) bool { return p < float32(threshold) }

// costRank returns the n classes of least expected cost, among equals the most
// probable, then the first, and sets costs (k) to the cost of each class.
func costRank(tree *decide.Tree, costs []float64, p []float32, n int) ([]int, error) {
	if err := decide.ExpectedCosts(tree, costs, p); err != nil {
		return nil, err
	}
	order := make([]int, len(p))
	for c := range order {
		order[c] = c
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(costs[a], costs[b]), cmp.Compare(p[b], p[a]), a-b)
	})
	return order[:min(n, len(order))], nil
}

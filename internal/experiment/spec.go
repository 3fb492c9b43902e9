package experiment

import "slices"

// Name is one of the experiments on synthetic data (Wang and Izbicki 2022,
// Sections 5.1.2 to 5.1.5).
type Name string

// The experiments.
const (
	DataRegimes   Name = "data-regimes"   // I, figure 2: n, d, k and sigma vary
	Norms         Name = "norms"          // II, figure 3: norms of parameters over k
	TreeShapes    Name = "tree-shapes"    // III, figure 4: the base of the cover tree
	MetricQuality Name = "metric-quality" // IV, figure 5: how wrong the metric is

	// LowRankData is not in the paper: the true parameters that the authors'
	// scripts draw, of rank 5, with many classes and few examples, whatever
	// Options.Truth says. It is where the tree gains most.
	LowRankData Name = "low-rank"
)

// Names returns all experiments, those of the paper first in its order.
func Names() []Name { return []Name{DataRegimes, Norms, TreeShapes, MetricQuality, LowRankData} }

// Truth says how the true parameters W*, k x d, are drawn.
type Truth string

// The ways to draw W*. Their expected squared norms differ: k d, 5 k d and 1.09 k d.
const (
	Isotropic Truth = "isotropic" // numbers of variance 1: the paper's text
	LowRank   Truth = "low-rank"  // k x 5 times 5 x d such numbers: the authors' scripts
	Clustered Truth = "clustered" // about sqrt(k) centres of variance 1, classes at deviation 0.3 around them
)

// Init says where training under Paper starts; OnePass and Converged start at 0.
type Init string

// The starts.
const (
	TorchInit Init = "torch" // each parameter uniform within ±1/sqrt(d), as PyTorch's Linear layer
	ZeroInit  Init = "zeros"
)

// Protocol is a way to train. Paper is that of the paper and its authors'
// scripts. The other two are called tuned: each method has a budget of its own
// on ValidationRows further examples.
type Protocol string

// The protocols.
const (
	Paper     Protocol = "paper"     // one pass, one learning rate for all methods
	OnePass   Protocol = "one-pass"  // one pass, each method at its own best rate
	Converged Protocol = "converged" // to the optimum, each method with its own best prior
)

// Protocols returns all protocols.
func Protocols() []Protocol { return []Protocol{Paper, OnePass, Converged} }

// Method is a way to classify.
type Method string

// The methods. Trees are those of the cover tree, but for Linkage.
const (
	CrossEntropy        Method = "cross-entropy"
	UTree               Method = "u-tree"
	VTree               Method = "v-tree" // the paper's tree loss
	Linkage             Method = "linkage"
	SimLoss             Method = "simloss"
	HierarchicalSoftmax Method = "hierarchical-softmax"
	// ScaledCrossEntropy is cross entropy at the learning rate times the mean
	// eigenvalue of the V-tree's kernel: what of the tree's gain is but a longer
	// step. Under Paper only.
	ScaledCrossEntropy Method = "cross-entropy-scaled"
)

// Lists of methods in the order of tables. treeMethods are those that depend on the base of
// the cover tree.
var (
	allMethods  = []Method{CrossEntropy, UTree, VTree, SimLoss, HierarchicalSoftmax, Linkage, ScaledCrossEntropy}
	treeMethods = []Method{UTree, VTree, HierarchicalSoftmax, ScaledCrossEntropy}
)

// Methods returns all methods, cross entropy first.
func Methods() []Method { return slices.Clone(allMethods) }

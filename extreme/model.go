package extreme

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/softmax"
)

// Model is a trained classifier of k classes. Treat it as immutable; it is then safe for
// concurrent use, with one Predictor a goroutine.
type Model struct {
	Features  *feature.Set
	Labels    []string // k names
	Partition *Partition
	Tree      *labeltree.Tree // the given taxonomy; nil: none
	Vectors   *matrix.Dense   // k x dimensions, of the classes; nil: none
	Training  softmax.Training
	Report    Report

	ClassTotals []float32      // as in softmax.Model
	Balance     decide.Balance // the same

	nodes []*weights  // of Partition.Nodes; above the leaves without weights, if there is near
	near  *similarity // finds the leaves; nil: the nodes above them do
	lazy  *lazyNodes  // nil: the model is not from a file
}

// Report tells what a training came to.
type Report struct {
	Levels  int     `json:"levels"`       // softmaxes on the way to a class
	Nodes   int     `json:"nodes"`        // softmaxes of the model
	Leaves  int     `json:"leaves"`       // that choose among classes
	Weights int     `json:"weights"`      // kept
	Trained int     `json:"trained"`      // weights before those near 0 were left out
	Least   float64 `json:"least_weight"` // smaller ones, in size, were left out

	// Router is what the log probability of a leaf counts beside that of a class in its
	// leaf, from 0 to 1. It is below 1 as the router sees each row of its training again
	// and is too sure of others, and as a leaf with "none of these" knows more of a row.
	//
	// With Similar it is what the similarity of a class counts.
	Router float64 `json:"router_weight"`

	// Similar tells that the leaves are those of the most similar classes, by the words of
	// their rows, as these are the right ones for more held-out rows than those that the
	// softmaxes above the leaves find.
	Similar bool `json:"similar,omitempty"`

	// Beam is the number of nodes of a level that a prediction follows unless told
	// otherwise: DefaultBeam, or more where held-out rows gain by it.
	Beam int `json:"beam"`

	// On held-out rows, if there are any.
	HeldOut  int     `json:"held_out,omitempty"`
	Accuracy float64 `json:"accuracy,omitempty"`
	LogLoss  float64 `json:"log_loss,omitempty"` // of the rows that are reached, at the best temperature
	// Reached is how often the class of a row is in the leaves of the beam: what the tree
	// loses at most by its router.
	Reached float64 `json:"reached,omitempty"`

	Gap *Gap `json:"gap,omitempty"`
}

// Gap is what the tree loses to a flat softmax on a sample of the classes, both trained
// and measured on the same rows.
type Gap struct {
	Classes      int     `json:"classes"`
	Rows         int     `json:"rows"` // that it was measured on
	Tree         float64 `json:"tree_accuracy"`
	Flat         float64 `json:"flat_accuracy"`
	Difference   float64 `json:"difference"` // tree minus flat
	DifferenceSE float64 `json:"difference_se"`
}

// DefaultBeam is the number of nodes of a level that a prediction follows at least, unless
// told otherwise.
const DefaultBeam = 10

// margin is how much less probable, in nats, a node may be than the best of its level and
// still be followed. The router is surer of the rows that it was trained on than it should
// be of others, so this is more than it seems: with 7 one answer in 20 was out of reach.
const margin = 12

// Check returns an error if the parts do not fit together. O(nodes + k).
func (m *Model) Check() error {
	if m.Features == nil || m.Partition == nil {
		return fmt.Errorf("extreme: a model needs features and a partition")
	}
	if err := m.Partition.Check(); err != nil {
		return err
	}
	k := len(m.Labels)
	switch {
	case len(m.Partition.Order) != k:
		return fmt.Errorf("extreme: %d labels, the partition has %d classes", k, len(m.Partition.Order))
	case len(m.nodes) != len(m.Partition.Nodes):
		return fmt.Errorf("extreme: weights of %d nodes, the partition has %d", len(m.nodes), len(m.Partition.Nodes))
	case m.Report.Similar != (m.near != nil):
		return fmt.Errorf("extreme: a report of similar classes %v, similar classes %v", m.Report.Similar, m.near != nil)
	case m.ClassTotals != nil && len(m.ClassTotals) != k || m.Balance != nil && len(m.Balance) != k:
		return fmt.Errorf("extreme: %d weights and %d frequencies of %d classes", len(m.ClassTotals), len(m.Balance), k)
	case m.Vectors != nil && m.Vectors.Rows() != k:
		return fmt.Errorf("extreme: %d label vectors for %d classes", m.Vectors.Rows(), k)
	case m.Tree != nil && m.Tree.Classes() != k:
		return fmt.Errorf("extreme: a tree of %d classes for %d classes", m.Tree.Classes(), k)
	}
	seen := make(map[string]bool, k)
	for c, label := range m.Labels {
		if !utf8.ValidString(label) || seen[label] {
			return fmt.Errorf("extreme: the name of class %d, %q, is not valid UTF-8 or comes twice", c, label)
		}
		seen[label] = true
	}
	if c := m.Training.Calibration; c != nil {
		return c.Check()
	}
	return nil
}

// outputs returns the number of scores of a node, with "none of these".
func (m *Model) outputs(v int) int {
	return outputs(m.Partition, v)
}

func outputs(p *Partition, v int) int {
	n := p.Nodes[v].Outputs()
	if v > 0 {
		n++
	}
	return n
}

// candidate is a class in a leaf that a search came to.
type candidate struct {
	class int32
	path  float32 // log probability of the leaf, or the similarity of the class
	leaf  float32 // that of the class in its leaf
}

// search walks down a tree with a beam. It keeps buffers, so each goroutine needs one.
type search struct {
	partition *Partition
	nodes     []*weights
	beam      int
	near      *similar   // finds the leaves; nil: the nodes above them do
	lazy      *lazyNodes // of a file; nil: none
	err       error      // of a damaged node, since the last run

	now, next  []step
	out        [kernel.PackedWidth]float32
	hits       hits
	p          []float32
	candidates []candidate
}

// step is a node that a search has come to.
type step struct {
	node int32
	log  float32 // probability of the path, or similarity of the most similar class
}

// newSearch makes a search of a tree whose leaves are found by near, or, if that is nil, by the
// nodes above them.
func newSearch(p *Partition, nodes []*weights, near *similarity, beam int) *search {
	s := &search{partition: p, nodes: nodes, beam: cmp.Or(beam, DefaultBeam), p: make([]float32, MaxOutputs+1)}
	if near != nil {
		s.near = newSimilar(near, p)
	}
	return s
}

// path returns what speaks for the class at a place beside its leaf, to which a step leads.
func (s *search) path(to step, place int) float32 {
	if s.near != nil {
		return s.near.score[place]
	}
	return to.log
}

// choices sets s.out to the log probabilities of the choices of a node.
func (s *search) choices(v int, index []int32, value []float32) []float32 {
	n := outputs(s.partition, v)
	out := s.out[:n]
	if err := s.lazy.use(v, s.nodes[v], n); err != nil {
		s.err = err
		clear(out)
		return out[:s.partition.Nodes[v].Outputs()]
	}
	return s.logs(v, s.nodes[v], index, value)
}

// logs sets s.out to the log probabilities of the choices of a node with given weights.
func (s *search) logs(v int, w *weights, index []int32, value []float32) []float32 {
	n := outputs(s.partition, v)
	out := s.out[:n]
	w.scores(&s.out, index, value, &s.hits)
	total := float32(kernel.Softmax(s.p[:n], out))
	for c := range out {
		out[c] -= total
	}
	return out[:s.partition.Nodes[v].Outputs()]
}

// down sets s.now to the best nodes of so many levels below the root, fewer where leaves
// are higher, or, with s.near, to the best leaves; the best first.
func (s *search) down(levels int, index []int32, value []float32) {
	s.now, s.err = append(s.now[:0], step{}), nil
	if s.near != nil {
		s.near.set(index, value)
		s.now = s.near.leaves(s.now[:0], s.partition)
		s.best()
		return
	}
	for range levels {
		s.next = s.next[:0]
		inner := false
		for _, at := range s.now {
			n := s.partition.Nodes[at.node]
			if n.Leaf() {
				s.next = append(s.next, at)
				continue
			}
			inner = true
			for c, log := range s.choices(int(at.node), index, value) {
				s.next = append(s.next, step{int32(n.Child + c), at.log + log})
			}
		}
		if !inner {
			return
		}
		s.now, s.next = s.next, s.now
		s.best()
	}
}

// best keeps the best steps of s.now, at most a beam of them.
func (s *search) best() { s.now = s.now[:bestOf(s.now, s.beam)] }

// bestOf puts the best steps of a list in front, the best first, at most a beam of them and
// none below the margin, and returns how many there are.
func bestOf(list []step, beam int) int {
	n := 0
	for _, at := range list {
		if n == beam {
			if !at.before(list[n-1]) {
				continue
			}
			n--
		}
		i := n
		for ; i > 0 && at.before(list[i-1]); i-- {
			list[i] = list[i-1]
		}
		list[i] = at
		n++
	}
	for n > 1 && list[n-1].log < list[0].log-margin {
		n--
	}
	return n
}

// before tells whether a step is better than another, of equal ones that to the node before.
func (s step) before(other step) bool {
	return s.log > other.log || s.log == other.log && s.node < other.node
}

// run returns the classes of the leaves that the beam comes to. They are valid until the
// next call.
func (s *search) run(index []int32, value []float32) []candidate {
	s.down(s.partition.Levels()-1, index, value)
	s.candidates = s.candidates[:0]
	for _, at := range s.now {
		n := s.partition.Nodes[at.node]
		for c, log := range s.choices(int(at.node), index, value) {
			s.candidates = append(s.candidates, candidate{s.partition.Order[n.First+c], s.path(at, n.First+c), log})
		}
	}
	return s.candidates
}

// Predictor applies a model to one record after the other. It keeps buffers between
// calls, so each goroutine needs one of its own.
type Predictor struct {
	model  *Model
	rower  *feature.Rower
	search *search

	classes     []int32
	scores, p   []float32
	temperature float64
	missed      float32 // see Model.missed

	dense   []float32 // k; see Probabilities
	touched []int32   // classes that are not 0 there

	block block
}

// NewPredictor returns a Predictor that follows so many nodes of a level, 0 for
// Report.Beam.
func (m *Model) NewPredictor(beam int) *Predictor {
	s := newSearch(m.Partition, m.nodes, m.near, cmp.Or(beam, m.Report.Beam))
	s.lazy = m.lazy
	return &Predictor{model: m, rower: feature.NewRower(m.Features), search: s, missed: float32(m.missed())}
}

// Candidates returns the classes that the search comes to and the probability of each, in
// the order of the leaves; they sum to 1 and both are valid until the next call. A record
// of another kind than the model was trained on is an error.
func (p *Predictor) Candidates(e dataset.Example) (classes []int32, probability []float32, err error) {
	index, value, err := p.rower.Row(e)
	if err != nil {
		return nil, nil, err
	}
	p.classes, p.scores = p.classes[:0], p.scores[:0]
	for _, c := range p.search.run(index, value) {
		p.classes, p.scores = append(p.classes, c.class), append(p.scores, p.model.score(c))
	}
	if p.search.err != nil {
		return nil, nil, p.search.err
	}
	return p.classes, p.p, p.normalise()
}

// normalise sets p.p to the probabilities of p.scores, those of p.classes.
func (p *Predictor) normalise() (err error) {
	p.p = slices.Grow(p.p[:0], len(p.scores))[:len(p.scores)]
	p.temperature, err = decide.Probabilities(p.model.Training.Calibration, p.p, p.scores)
	p.model.Balance.ApplyTo(p.p, p.classes)
	return err
}

// score is what the probability of a class comes from.
func (m *Model) score(c candidate) float32 { return float32(m.Report.Router)*c.path + c.leaf }

// Probabilities is Candidates as one probability for each of the k classes. Those that the
// search does not come to share what held-out rows say that it misses, so that none is 0.
func (p *Predictor) Probabilities(e dataset.Example) ([]float32, error) {
	if _, _, err := p.Candidates(e); err != nil {
		return nil, err
	}
	return p.spread(), nil
}

// spread returns a probability for each class from those of the candidates.
func (p *Predictor) spread() []float32 {
	if p.dense == nil {
		p.dense = make([]float32, len(p.model.Labels))
	}
	// What the beam misses has its part of the mass, in equal shares.
	missed := p.missed
	rest := missed / float32(len(p.dense))
	if p.touched == nil {
		for c := range p.dense {
			p.dense[c] = rest
		}
	}
	for _, c := range p.touched {
		p.dense[c] = rest
	}
	p.touched = p.touched[:0]
	for n, c := range p.classes {
		p.dense[c] = rest + (1-missed)*p.p[n]
	}
	p.touched = append(p.touched, p.classes...)
	return p.dense
}

// leastMissed is what a search misses at least, where held-out rows say nothing.
const leastMissed = 0.001

// missed returns the probability that the class of a row is none of the candidates.
func (m *Model) missed() float64 {
	missed := leastMissed
	if r := m.Report; r.HeldOut > 0 {
		missed = max(missed, 1-r.Reached)
	}
	if m.Partition.Leaves() == 1 {
		return 0
	}
	return missed
}

// Temperature returns what the scores of the last record were divided by.
func (p *Predictor) Temperature() float64 { return p.temperature }

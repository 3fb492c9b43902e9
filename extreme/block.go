package extreme

import (
	"cmp"
	"slices"

	"github.com/treeloss/treeloss/dataset"
)

// block is what a Predictor keeps of some records while it goes from leaf to leaf.
type block struct {
	start []int // of each record in index and value
	index []int32
	value []float32

	first  []int // of each record in steps
	steps  []step
	visits []visit   // one a step
	total  int       // of the logs
	logs   []float32 // of the classes of the leaves, visit by visit as the steps are
}

// visit is a record that comes to a leaf.
type visit struct {
	leaf, record int32
	logs         int // where those of the classes begin
}

// Block is Probabilities for many records, which takes half the time: first
// all records go down to the leaves of their beams, then each leaf scores all that came to
// it, while its weights are near the processor. It implements classify.BlockPredictor.
func (p *Predictor) Block(records []dataset.Example, visit func(at int, probability []float32) error) (int, error) {
	usable, failed := p.toLeaves(records)
	if at, err := p.scoreLeaves(usable); err != nil {
		usable, failed = at, err
	}
	b, m := &p.block, p.model
	n := 0 // of the logs
	for at := range usable {
		p.classes, p.scores = p.classes[:0], p.scores[:0]
		for _, s := range b.steps[b.first[at]:b.first[at+1]] {
			leaf := m.Partition.Nodes[s.node]
			for _, class := range m.Partition.Order[leaf.First:leaf.End] {
				p.classes = append(p.classes, class)
				p.scores = append(p.scores, m.score(candidate{class, s.log, b.logs[n]}))
				n++
			}
		}
		err := p.normalise()
		if err == nil {
			err = visit(at, p.spread())
		}
		if err != nil {
			return at, err
		}
	}
	return usable, failed
}

// toLeaves makes rows of records and finds the leaves of their beams. It returns how many are
// before the first that cannot be used, and why that is so.
func (p *Predictor) toLeaves(records []dataset.Example) (int, error) {
	b, s := &p.block, p.search
	b.start, b.index, b.value = append(b.start[:0], 0), b.index[:0], b.value[:0]
	b.first, b.steps, b.visits = append(b.first[:0], 0), b.steps[:0], b.visits[:0]
	levels := s.partition.Levels() - 1
	b.total = 0
	for at, e := range records {
		index, value, err := p.rower.Row(e)
		if err != nil {
			return at, err
		}
		if s.down(levels, index, value); s.err != nil {
			return at, s.err
		}
		b.index, b.value = append(b.index, index...), append(b.value, value...)
		b.start = append(b.start, len(b.index))
		for _, to := range s.now {
			b.visits = append(b.visits, visit{to.node, int32(at), b.total})
			b.total += s.partition.Nodes[to.node].Classes()
		}
		b.steps = append(b.steps, s.now...)
		b.first = append(b.first, len(b.steps))
	}
	return len(records), nil
}

// scoreLeaves sets the logs of all visits, leaf by leaf. Where a leaf is damaged it returns
// the first of so many records that comes to one.
func (p *Predictor) scoreLeaves(records int) (int, error) {
	b, s := &p.block, p.search
	first, failed := records, error(nil)
	b.logs = slices.Grow(b.logs[:0], b.total)[:b.total]
	slices.SortFunc(b.visits, func(x, y visit) int {
		return cmp.Or(cmp.Compare(x.leaf, y.leaf), cmp.Compare(x.record, y.record))
	})
	for _, v := range b.visits {
		from, end := b.start[v.record], b.start[v.record+1]
		s.err = nil
		copy(b.logs[v.logs:], s.choices(int(v.leaf), b.index[from:end], b.value[from:end]))
		if s.err != nil && int(v.record) < first {
			first, failed = int(v.record), s.err
		}
	}
	return first, failed
}

package extreme

import (
	"slices"

	"github.com/treeloss/treeloss/dataset"
)

// block is what a Predictor keeps of some records while it goes from node to node.
type block struct {
	start []int // of each record in index and value
	index []int32
	value []float32

	first  []int  // of each record in steps, and the end of the last
	steps  []step // the nodes that the records have come to
	before []step // those of the level before, of each record from begins on
	begins []int
	order  []uint64  // node << 32 | place in steps, ascending
	record []int32   // of each step
	at     []int     // of each step in logs, and the end of the last
	logs   []float32 // of the choices of the nodes
	path   []float32 // of these choices, see search.path, where the leaves are those of similar classes
}

// Block is Probabilities for many records, which takes half the time: all of them go down
// the tree together, and each node scores all that came to it, while its weights are near
// the processor. It implements classify.BlockPredictor.
func (p *Predictor) Block(records []dataset.Example, visit func(at int, probability []float32) error) (int, error) {
	usable, failed := p.rows(records)
	b, m := &p.block, p.model
	if p.search.near != nil {
		p.similar(usable)
	} else {
		for range m.Partition.Levels() - 1 {
			if at, err := p.scoreNodes(usable, false); err != nil {
				usable, failed = at, err
			}
			p.descend(usable)
		}
	}
	if at, err := p.scoreNodes(usable, true); err != nil {
		usable, failed = at, err
	}
	for at := range usable {
		p.classes, p.scores = p.classes[:0], p.scores[:0]
		for n := b.first[at]; n < b.first[at+1]; n++ {
			s, logs := b.steps[n], b.logs[b.at[n]:b.at[n+1]]
			leaf := m.Partition.Nodes[s.node]
			for c, class := range m.Partition.Order[leaf.First:leaf.End] {
				path := s.log
				if p.search.near != nil {
					path = b.path[b.at[n]+c]
				}
				p.classes = append(p.classes, class)
				p.scores = append(p.scores, m.score(candidate{class, path, logs[c]}))
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

// rows makes rows of records, each at the root. It returns how many are before the first that
// cannot be used, and why that is so.
func (p *Predictor) rows(records []dataset.Example) (int, error) {
	b := &p.block
	b.start, b.index, b.value = append(b.start[:0], 0), b.index[:0], b.value[:0]
	b.first, b.steps = append(b.first[:0], 0), b.steps[:0]
	for at, e := range records {
		index, value, err := p.rower.Row(e)
		if err != nil {
			return at, err
		}
		b.index, b.value = append(b.index, index...), append(b.value, value...)
		b.start, b.steps = append(b.start, len(b.index)), append(b.steps, step{})
		b.first = append(b.first, len(b.steps))
	}
	return len(records), nil
}

// scoreNodes sets the logs of all steps that so many records have come to, of leaves or of
// inner nodes, node by node. Where a node is damaged it returns the first record that came
// to one.
func (p *Predictor) scoreNodes(records int, leaves bool) (int, error) {
	b, s := &p.block, p.search
	b.order, b.record, b.at = b.order[:0], b.record[:0], append(b.at[:0], 0)
	total := 0
	for at := range records {
		for n := b.first[at]; n < b.first[at+1]; n++ {
			node := b.steps[n].node
			if v := s.partition.Nodes[node]; v.Leaf() == leaves {
				b.order = append(b.order, uint64(node)<<32|uint64(n))
				total += v.Outputs()
			}
			b.record, b.at = append(b.record, int32(at)), append(b.at, total)
		}
	}
	b.logs = slices.Grow(b.logs[:0], total)[:total]
	slices.Sort(b.order)
	first, failed := records, error(nil)
	for _, o := range b.order {
		v, n := int(o>>32), int(uint32(o))
		record := int(b.record[n])
		from, end := b.start[record], b.start[record+1]
		s.err = nil
		copy(b.logs[b.at[n]:b.at[n+1]], s.choices(v, b.index[from:end], b.value[from:end]))
		if s.err != nil && record < first {
			first, failed = record, s.err
		}
	}
	return first, failed
}

// similar leads each of so many records to the leaves of the classes that it is similar to.
func (p *Predictor) similar(records int) {
	b, s := &p.block, p.search
	b.path, b.steps, b.first = b.path[:0], b.steps[:0], append(b.first[:0], 0)
	for at := range records {
		s.down(0, b.index[b.start[at]:b.start[at+1]], b.value[b.start[at]:b.start[at+1]])
		for _, to := range s.now {
			leaf := s.partition.Nodes[to.node]
			b.path = append(b.path, s.near.score[leaf.First:leaf.End]...)
		}
		b.steps = append(b.steps, s.now...)
		b.first = append(b.first, len(b.steps))
	}
}

// descend follows the best choices of each of so many records; those at a leaf stay there.
func (p *Predictor) descend(records int) {
	b, s := &p.block, p.search
	b.before, b.steps = b.steps, b.before[:0]
	b.begins, b.first = b.first, append(b.begins[:0], 0)
	for at := range records {
		from := len(b.steps)
		inner := false
		for n := b.begins[at]; n < b.begins[at+1]; n++ {
			to := b.before[n]
			node := s.partition.Nodes[to.node]
			if node.Leaf() {
				b.steps = append(b.steps, to)
				continue
			}
			inner = true
			for c, log := range b.logs[b.at[n]:b.at[n+1]] {
				b.steps = append(b.steps, step{int32(node.Child + c), to.log + log})
			}
		}
		if inner {
			b.steps = b.steps[:from+bestOf(b.steps[from:], s.beam)]
		}
		b.first = append(b.first, len(b.steps))
	}
}

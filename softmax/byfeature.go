package softmax

import "slices"

// byFeature groups the nonzeros of a batch by feature.
type byFeature struct {
	features []int32 // that occur in the batch, in the order they are met
	start    []int   // of each feature's entries; one more at the end
	example  []int32 // place in the batch
	value    []float32
	slot     []int32 // 1 + place in features of each feature, 0 if absent
}

// collect groups a batch and returns its features: those with a nonzero, or
// all of a dense design.
func (g *byFeature) collect(d interface {
	row(i int) ([]int32, []float32)
}, batch []int32) []int32 {
	if index, value := d.row(int(batch[0])); index == nil && len(value) > 0 {
		if len(g.features) == 0 {
			for f := range value {
				g.features = append(g.features, int32(f))
			}
		}
		return g.features
	}
	g.features, g.start = g.features[:0], append(g.start[:0], 0)
	total := 0
	for _, i := range batch {
		index, _ := d.row(int(i))
		total += len(index)
		for _, f := range index {
			if g.slot[f] == 0 {
				g.features = append(g.features, f)
				g.start = append(g.start, 0)
				g.slot[f] = int32(len(g.features))
			}
			g.start[g.slot[f]]++
		}
	}
	for n := range g.features {
		g.start[n+1] += g.start[n]
	}
	g.example = slices.Grow(g.example[:0], total)[:total]
	g.value = slices.Grow(g.value[:0], total)[:total]
	for m, i := range batch {
		index, value := d.row(int(i))
		for n, f := range index {
			at := &g.start[g.slot[f]-1]
			g.example[*at], g.value[*at] = int32(m), value[n]
			*at++
		}
	}
	// Each start has moved to the next one's place.
	copy(g.start[1:], g.start[:len(g.features)])
	g.start[0] = 0
	for _, f := range g.features {
		g.slot[f] = 0
	}
	return g.features
}

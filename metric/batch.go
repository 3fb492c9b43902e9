package metric

// Batch is a Space that is faster when asked for many distances at a time, and
// may be asked by several goroutines at once. The spaces of Euclidean and Cosine
// are.
type Batch interface {
	Space
	// Distances sets out[n] to Distance(i, to[n]), to the last bit. out must
	// be at least as long as to.
	Distances(i int, to []int32, out []float64)
}

// Distances sets out[n] to s.Distance(i, to[n]), by the space's own way if it
// has one.
func Distances(s Space, i int, to []int32, out []float64) {
	if b, ok := s.(Batch); ok {
		b.Distances(i, to, out)
		return
	}
	each(s, i, to, out)
}

// each is Distances one by one.
func each(s Space, i int, to []int32, out []float64) {
	for n, j := range to {
		out[n] = s.Distance(i, int(j))
	}
}

// Select returns the space of the given points of s: its point n is
// points[n] of s, with the same distances to the last bit. Rows of Euclidean
// and Cosine are copied, so that points near each other in the list are near
// each other in memory; other spaces are looked up through the list, which
// must not change.
func Select(s Space, points []int32) Space {
	if own, ok := s.(interface{ Select(points []int32) Space }); ok {
		return own.Select(points)
	}
	return selected{s, points}
}

// selected is a space looked up through a list of its points.
type selected struct {
	Space
	points []int32
}

func (s selected) Len() int { return len(s.points) }
func (s selected) Distance(i, j int) float64 {
	return s.Space.Distance(int(s.points[i]), int(s.points[j]))
}

package covertree

// candidate is a point reached on the way down, by number, and its distance from the
// new one.
type candidate struct {
	distance float64
	seen     int32
}

// queue is a binary heap, the nearest candidate first: that one most likely
// leads to a low level, which prunes all others.
type queue []candidate

// push adds a candidate. It moves parents down instead of swapping, so that each place is
// written once; container/heap would call through an interface for each comparison of
// what is the inner loop of a search.
func (q *queue) push(c candidate) {
	*q = append(*q, c)
	h := *q
	n := len(h) - 1
	for n > 0 {
		up := (n - 1) / 2
		if h[up].distance <= c.distance {
			break
		}
		h[n] = h[up]
		n = up
	}
	h[n] = c
}

// pop removes the nearest candidate, of which there must be one, and returns it.
func (q *queue) pop() candidate {
	h := *q
	first, last := h[0], len(h)-1
	c := h[last]
	h = h[:last]
	*q = h
	if last == 0 {
		return first
	}
	n := 0
	for {
		least := 2*n + 1
		if least >= last {
			break
		}
		if least+1 < last && h[least+1].distance < h[least].distance {
			least++
		}
		if h[least].distance >= c.distance {
			break
		}
		h[n] = h[least]
		n = least
	}
	h[n] = c
	return first
}

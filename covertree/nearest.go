package covertree

import "math"

// Nearest returns the point nearest to a query, and its distance, given the
// query's distance to any point of the tree: the query itself need not be one.
// Of several nearest points it returns always the same one. Distances must
// meet the triangle inequality together with those of the space; NaN counts as
// infinitely far, and a query that is infinitely far from all gives -1, +Inf.
//
// It asks for as few distances as the metric allows: about log k in few
// dimensions, up to k in many.
func (t *Tree) Nearest(query func(point int) float64) (point int, distance float64) {
	best, least := -1, math.Inf(1)
	ask := func(q int) float64 {
		d := query(q)
		if math.IsNaN(d) {
			return math.Inf(1)
		}
		if d < least {
			best, least = q, d
		}
		return d
	}
	var queue queue
	queue.push(candidate{ask(t.root), int32(t.root)})
	for len(queue) > 0 {
		next := queue.pop()
		q := &t.points[next.seen]
		if outside(next.away, q.reach*t.scale, least) {
			continue
		}
		for _, c := range q.children {
			if t.points[c.point].top == Bottom {
				break // equal points are no nearer
			}
			step, reach := c.toParent*t.scale, c.reach*t.scale
			if outside(math.Abs(next.away-step)-slack*(next.away+step), reach, least) {
				continue
			}
			if d := ask(int(c.point)); reach > 0 && !outside(d, reach, least) {
				queue.push(candidate{d, c.point})
			}
		}
	}
	return best, least
}

package kernel

// prefetch names cache lines that a tile asks for while it multiplies, so that
// they are there when the code after it wants them: with each step of the
// inner index the one at bytes behind the first of from, but for a rest of up to
// three steps. Without at it asks for none.
//
// A burst of requests would keep the tile's own numbers waiting: a core has few
// places for lines under way.
type prefetch struct {
	from []float32
	at   []int
}

// CacheLine is how many float32 a line of the caches holds.
const CacheLine = 16

// lineOffsets appends where the first lines cache lines of rows lie, the first
// row at number start and the next each stride numbers on, in bytes.
func lineOffsets(at []int, start, rows, stride, lines int) []int {
	for r := range rows {
		for l := range lines {
			at = append(at, 4*(start+r*stride+l*CacheLine))
		}
	}
	return at
}

// spread returns the lines in order over steps places of at, which has room for
// them: one a place, else evenly over the first three quarters, so that the last
// arrive in time, and then the last again, which costs nothing. If there are
// fewer places than lines it returns none.
func spread(at []int, steps int, lines []int) []int {
	if len(lines) > steps {
		return at[:0]
	}
	at = at[:steps]
	places := max(len(lines), steps*3/4)
	for i := range at {
		at[i] = lines[min(i*len(lines)/places, len(lines)-1)]
	}
	return at
}

// fetchPlan is what a step of Dense asks for. It depends on the number of
// examples.
type fetchPlan struct {
	examples      int   // for which this holds
	rowsAPanel    int   // how many of the next rows of W each panel of the scores asks for
	weightRows    []int // their lines
	tile          []int // lines of W and velocity, for each tile of the gradient
	velocityFirst bool  // a tile is too short to ask for it too: that must be done before
	lines         []int // room for a list
}

// newFetchPlan makes room for plans of up to batch examples and scores that are
// computed from part columns of W at a time.
func newFetchPlan(k kind, part, batch int) fetchPlan {
	return fetchPlan{
		weightRows: make([]int, 0, part), tile: make([]int, 0, batch),
		lines: make([]int, 0, k.tileRows()*max(ceil(part, CacheLine), 2*ceil(k.panelCols(), CacheLine))),
	}
}

// plan makes the plan for the rows of s.
func (p *fetchPlan) plan(s *Dense) {
	n := len(s.rows)
	if p.examples == n {
		return
	}
	p.examples = n
	rows, stride, lines, part := s.kind.tileRows(), s.Weight.Stride, ceil(s.kind.panelCols(), CacheLine), cap(p.weightRows)
	p.rowsAPanel = ceil(rows, s.panels)
	p.lines = lineOffsets(p.lines[:0], 0, p.rowsAPanel, stride, ceil(part, CacheLine))
	p.weightRows = spread(p.weightRows, part, p.lines)
	p.lines = lineOffsets(p.lines[:0], 0, rows, stride, lines)
	if p.velocityFirst = 2*len(p.lines) > n; !p.velocityFirst {
		p.lines = lineOffsets(p.lines, s.Classes*stride, rows, stride, lines)
	}
	p.tile = spread(p.tile, n, p.lines)
}

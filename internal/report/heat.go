package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A heat map of n rows from top to bottom. From 9.5 pixels a cell on rows and columns have
// names, from 22 on cells numbers; below that blocks have names, on the left:
//
//	title
//	## right: up to 20, 40, 60, 80, 100 %   ## mistakes: up to 5, 10, 20, 40, 100 %
//	true class ↓  predicted class →
//	         n n n                          names of columns, read from below
//	  name  [#][ ][ ]
//	  name  [ ][#][ ]                       cells, 34 pixels at most
//	  name  [ ][ ][#]
//
// Measures of heat maps, in pixels.
const (
	heatSide   = 760.0 // of the square of cells, at most
	heatLarge  = 840.0 // where names need it
	heatLabels = 240.0 // of the longest name
	heatHalf   = 12    // rows up to which it stands beside another picture
	cellMost   = 34.0
	cellNumber = 22.0 // cells from this size on have numbers
	cellName   = 9.5  // and from this size on rows and columns have names
)

// mostHeat is the number of rows that a heat map can have: cells of 760 / 200 = 3.8 pixels,
// of which one alone can still be seen.
const mostHeat = 200

// Heat is a square matrix of counts, such as how often each class was predicted as
// each other: rows and columns stand for the same things in the same order. The colour of a
// cell is its share of its row, blue on the diagonal and orange elsewhere. Names stand
// where they fit, numbers too; each cell has a title with both.
type Heat struct {
	Name    string // of its files, without ending: letters a to z, digits, - and _
	Title   string
	Caption string
	RowName string // what rows are, such as "true class"
	Column  string // what columns are
	Labels  []string
	Totals  []float64 // of each row, what shares are of
	Cells   []Cell    // those above 0, each place once
	Blocks  []Block   // neighbours that belong together; without a name only drawn
}

// Cell is one count of a Heat.
type Cell struct {
	Row, Column int
	Count       float64
}

// Block is the rows from From up to but not including To.
type Block struct {
	From, To int
	Name     string
}

// about implements Picture.
func (h *Heat) about() about { return about{h.Name, h.Title, h.Caption} }

// check returns an error if the heat map cannot be drawn.
func (h *Heat) check() error {
	n := len(h.Labels)
	if n > mostHeat {
		return fmt.Errorf("report: heat map %s has %d rows, want at most %d; draw sums over groups of them", h.Name, n, mostHeat)
	}
	if len(h.Totals) != n {
		return fmt.Errorf("report: heat map %s has %d totals for %d rows, want one each", h.Name, len(h.Totals), n)
	}
	for _, c := range h.Cells {
		if min(c.Row, c.Column) < 0 || max(c.Row, c.Column) >= n || !(c.Count >= 0) || math.IsInf(c.Count, 0) {
			return fmt.Errorf("report: heat map %s has a cell %+v, want rows and columns 0 to %d and counts from 0", h.Name, c, n-1)
		}
	}
	for _, b := range h.Blocks {
		if b.From < 0 || b.From >= b.To || b.To > n {
			return fmt.Errorf("report: heat map %s has a block %+v, want one within %d rows", h.Name, b, n)
		}
	}
	return h.about().check(nil, nil)
}

// WriteCSV writes the cells above 0: row, column and count.
func (h *Heat) WriteCSV(w io.Writer) error {
	if err := h.check(); err != nil {
		return err
	}
	var rows [][]string
	for _, c := range h.Cells {
		rows = append(rows, []string{h.Labels[c.Row], h.Labels[c.Column], strconv.FormatFloat(c.Count, 'f', -1, 64)})
	}
	return writeCSV(w, h, []string{"row", "column", "count"}, rows)
}

// heatPlan is where the parts of a heat map are, in pixels.
type heatPlan struct {
	*scene
	cell, left, top float64
	named           bool     // rows and columns have names, else blocks
	names           []string // of either, cut
	size            float64  // of their letters
	longest         float64  // of the names
}

// plan finds the size of a cell and of names. What is known decides in this order: the number
// of rows the size of a cell, that whether rows have names and how large, the longest name
// where the cells begin.
func (h *Heat) plan(s *scene) *heatPlan {
	n := float64(max(1, len(h.Labels)))
	p := &heatPlan{scene: s, cell: min(cellMost, heatSide/n)}
	if p.cell < 1.15*cellName {
		if large := heatLarge / n; large >= cellName {
			p.cell = large
		}
	}
	p.named, p.size = p.cell >= cellName, textSize
	names, widest := h.Labels, heatLabels
	if p.named {
		p.size = min(textSize, 0.97*p.cell)
	} else {
		names = nil
		for _, b := range h.Blocks {
			names = append(names, b.Name)
		}
	}
	half := len(h.Labels) <= heatHalf
	if half {
		widest = min(heatLabels, halfWidth-2*edge-8-1.05*cellNumber*n)
	}
	for _, name := range names {
		short := s.fonts.shorten(strings.Join(strings.Fields(name), " "), p.size, widest)
		p.names, p.longest = append(p.names, short), max(p.longest, s.fonts.width(short, p.size))
	}
	if half {
		p.cell = min(p.cell, (halfWidth-2*edge-8-p.longest)/n)
	}
	p.left = edge + p.longest + 8
	return p
}

// scene draws names of rows on the left and of columns, turned, above; blocks of small cells
// have their names on the left.
func (h *Heat) scene(own bool) (*scene, error) {
	s, err := newScene(h, own)
	if err != nil {
		return nil, err
	}
	p, n := h.plan(s), float64(max(1, len(h.Labels)))
	side := p.cell * n
	// The title was broken into lines for the width of figures, which this is never below.
	s.width = max(figureWidth, p.left+side+edge)
	h.legend(s)
	s.y += lineGap
	s.note(h.RowName+" ↓  "+h.Column+" →", edge, s.y-4, s.width-2*edge, "start")
	p.top = s.y + 6
	if p.named {
		p.top += p.longest + 6
	}
	s.height = p.top + side + edge
	s.text = h.describe()
	outline := box(p.left, p.top, side, side, none)
	outline.line, outline.width = grid, 1
	s.add(outline)
	if p.named && p.cell >= 16 {
		for i := 1.0; i < n; i++ {
			at := i * p.cell
			s.add(rule(grid, 0.6, point{p.left + at, p.top}, point{p.left + at, p.top + side}), rule(grid, 0.6, point{p.left, p.top + at}, point{p.left + side, p.top + at}))
		}
	}
	for _, c := range h.Cells {
		if c.Count > 0 {
			s.add(h.cell(p, c))
		}
	}
	h.addNames(p)
	return s, nil
}

// addNames writes those of rows and columns, or of blocks, and draws the blocks.
func (h *Heat) addNames(p *heatPlan) {
	if p.named {
		for i, name := range p.names {
			middle := (float64(i) + 0.5) * p.cell
			row := label(name, p.left-6, p.top+middle+0.35*p.size, p.size, "end", words)
			column := label(name, p.left+middle+0.35*p.size, p.top-6, p.size, "start", words)
			column.upwards = true
			if name != h.Labels[i] {
				row, column = mark{hint: h.Labels[i], inside: []mark{row}}, mark{hint: h.Labels[i], inside: []mark{column}}
			}
			p.add(row, column)
		}
	}
	free := p.top // below which a name of a block can stand
	for i, b := range h.Blocks {
		from, to := p.cell*float64(b.From), p.cell*float64(b.To)
		p.add(mark{points: []point{{p.left + from, p.top + from}, {p.left + to, p.top + from}, {p.left + to, p.top + to}, {p.left + from, p.top + to}},
			closed: true, fill: none, line: faint, width: 1})
		if middle := p.top + (from+to)/2; !p.named && middle-p.size/2 >= free {
			name := label(p.names[i], p.left-6, middle+0.35*p.size, p.size, "end", words)
			if p.names[i] != b.Name {
				name = mark{hint: b.Name, inside: []mark{name}}
			}
			if p.names[i] != "" {
				p.add(name)
				free = middle + p.size/2
			}
		}
	}
}

// cell draws one count: of the steps of its colour the first whose end its share of the row
// does not exceed. A row without a total has shares of 0.
func (h *Heat) cell(p *heatPlan, c Cell) mark {
	x, y := p.left+p.cell*float64(c.Column), p.top+p.cell*float64(c.Row)
	share, ends, colour := 0.0, wrongEnds, wrong
	if h.Totals[c.Row] > 0 {
		share = c.Count / h.Totals[c.Row]
	}
	if c.Row == c.Column {
		ends, colour = rightEnds, right
	}
	step := 0
	for step < heatSteps-1 && share > ends[step] {
		step++
	}
	square := box(x, y, p.cell, p.cell, colour+ink(step))
	out := mark{hint: fmt.Sprintf("%s, predicted as %s: %s of %s (%s %%)", h.Labels[c.Row], h.Labels[c.Column], numeral(c.Count), numeral(h.Totals[c.Row]), numeral(math.Round(1000*share)/10)),
		inside: []mark{square}}
	if c.Row == c.Column {
		out.hint = fmt.Sprintf("%s, right: %s of %s (%s %%)", h.Labels[c.Row], numeral(c.Count), numeral(h.Totals[c.Row]), numeral(math.Round(1000*share)/10))
	}
	text, size := numeral(c.Count), min(12, 0.42*p.cell)
	if p.cell >= cellNumber && p.fonts.width(text, size) <= p.cell-3 {
		on := words
		if step >= heatSteps-2 {
			on = strong
		}
		out.inside = append(out.inside, label(text, x+p.cell/2, y+p.cell/2+0.36*size, size, "middle", on))
	}
	return out
}

// The shares at which colours change: steps, not a scale, as a reader can name five
// colours and cannot measure one. Mistakes are spread over many cells, so that theirs are
// smaller and grow by twos.
var (
	rightEnds = [heatSteps - 1]float64{0.2, 0.4, 0.6, 0.8}
	wrongEnds = [heatSteps - 1]float64{0.05, 0.1, 0.2, 0.4}
)

// legend explains the colours.
func (h *Heat) legend(s *scene) {
	const side = 16.0
	for _, scale := range []struct {
		name  string
		ends  [heatSteps - 1]float64
		first ink
	}{{"right", rightEnds, right}, {"mistakes", wrongEnds, wrong}} {
		var boxes []mark
		for i := range heatSteps {
			boxes = append(boxes, box(side*float64(i), -6, side, 12, scale.first+ink(i)))
		}
		var ends []string
		for _, e := range scale.ends {
			ends = append(ends, numeral(100*e))
		}
		s.legendOf(fmt.Sprintf("%s: up to %s, 100 %%", scale.name, strings.Join(ends, ", ")), side*heatSteps, boxes...)
	}
}

// describe says in words which cells off the diagonal are the largest.
func (h *Heat) describe() string {
	off := slices.DeleteFunc(slices.Clone(h.Cells), func(c Cell) bool { return c.Row == c.Column })
	slices.SortStableFunc(off, func(a, b Cell) int { return cmp.Compare(b.Count, a.Count) })
	text := fmt.Sprintf("%d rows and columns, %d counts off the diagonal.", len(h.Labels), len(off))
	for _, c := range off[:min(len(off), 10)] {
		text += fmt.Sprintf(" %s as %s: %s.", h.Labels[c.Row], h.Labels[c.Column], numeral(c.Count))
	}
	return text
}

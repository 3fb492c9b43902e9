package report

// Sizes of texts and rows, in pixels.
const (
	titleSize = 16.0
	textSize  = 13.0
	lineGap   = 19.0 // from one line of text to the next
	edge      = 12.0 // around everything
	dot       = 3.4  // radius of a marker

	textDrop  = 4.5  // from the middle of a line of text down to its base line
	tickDrop  = 18.0 // from an axis down to the base line of its numbers
	tickRoom  = 22.0 // from an axis down to below its numbers
	titleDrop = 38.0 // from an axis down to the base line of its name
)

// entry is a line of a legend.
type entry struct {
	name   string
	sample []mark // drawn in a box 30 by 0 whose left end is the origin
}

const sampleWidth = 30.0

// legend draws entries in rows from left to right, from y on, and returns where
// it ends.
func (s *scene) legend(entries []entry, y float64) float64 {
	if len(entries) == 0 {
		return y
	}
	x := edge
	for i, e := range entries {
		name := s.fonts.shorten(oneLine(e.name), textSize, s.width-2*edge-sampleWidth-6)
		width := sampleWidth + 6 + s.fonts.width(name, textSize)
		if i > 0 && x+width > s.width-edge {
			x, y = edge, y+lineGap
		}
		for _, m := range e.sample {
			s.add(m.moved(x, y+lineGap/2))
		}
		s.add(label(name, x+sampleWidth+6, y+lineGap/2+textDrop, textSize, "start", words))
		x += width + 18
	}
	return y + lineGap
}

// moved returns the mark at another place.
func (m mark) moved(dx, dy float64) mark {
	points := make([]point, len(m.points))
	for i, p := range m.points {
		points[i] = point{p.x + dx, p.y + dy}
	}
	m.points = points
	return m
}

// heading draws the title, if the picture is to have its own, and returns where
// it ends.
func (s *scene) heading(title string, own bool) float64 {
	y := edge / 2
	if !own {
		return y
	}
	for _, line := range s.fonts.wrap(title, titleSize, s.width-2*edge) {
		y += lineGap
		s.add(label(line, edge, y-3, titleSize, "start", words))
	}
	return y + 4
}

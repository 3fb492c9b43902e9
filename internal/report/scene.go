package report

import "strings"

// Sizes of texts and rows, in pixels.
const (
	titleSize   = 16.0
	textSize    = 13.0
	lineGap     = 19.0 // from one line of text to the next
	edge        = 12.0 // around everything
	dot         = 3.4  // radius of a marker
	sampleWidth = 30.0 // of the sample of a series in a legend

	textDrop  = 4.5  // from the middle of a line of text down to its base line
	tickDrop  = 18.0 // from an axis down to the base line of its numbers
	tickRoom  = 22.0 // from an axis down to below its numbers
	titleDrop = 38.0 // from an axis down to the base line of its name
)

// point is a place in a scene, in pixels from its upper left corner.
type point struct{ x, y float64 }

// scene is a picture as a list of what is drawn, from back to front. It is
// written as SVG and as PNG, which have the same marks at the same pixels.
type scene struct {
	width, height float64
	title, text   string // for who cannot see it
	marks         []mark
	fonts         fonts

	y       float64 // up to which it is full, while it is made
	legendX float64 // where the next entry of the legend goes; 0: none yet
}

// mark is a path, a dot or a label; or a hint, which holds others. A path has two
// points or more, a dot a radius, a label a text: what is set says which it is.
type mark struct {
	points []point // of a path
	closed bool
	radius float64 // of a dot, whose place is points[0]

	fill, line ink
	width      float64
	dash       []float64
	opacity    float64 // of the fill; 0 means 1
	label      string  // at points[0], which is on its base line
	size       float64
	anchor     string // start, middle or end
	upwards    bool   // the label reads from below, its base line to the right of its place
	hint       string // shown for the marks inside
	inside     []mark
}

// newScene begins the scene of a picture, with its title if that is to be in it.
func newScene(p Picture, own bool) (*scene, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	fonts, err := newFonts()
	if err != nil {
		return nil, err
	}
	s := &scene{width: figureWidth, title: p.about().Title, fonts: fonts, y: edge / 2}
	if own {
		for _, line := range fonts.wrap(s.title, titleSize, s.width-2*edge) {
			s.y += lineGap
			s.add(label(line, edge, s.y-3, titleSize, "start", words))
		}
		s.y += 4
	}
	return s, nil
}

// add draws marks on top of what is there.
func (s *scene) add(m ...mark) { s.marks = append(s.marks, m...) }

// note adds a faint text, cut if it is wider than widest.
func (s *scene) note(text string, x, y, widest float64, anchor string) {
	s.add(label(s.fonts.shorten(text, textSize, widest), x, y, textSize, anchor, faint))
}

// xLabel writes the name of the x axis, if it has one, and sets the height.
func (s *scene) xLabel(name string, bottom, x, widest float64, anchor string) {
	s.height = bottom + tickRoom + edge
	if name != "" {
		s.height += lineGap - 4
		s.note(name, x, bottom+titleDrop, widest, anchor)
	}
}

// legend adds an entry behind the others, or below where there is no room. sample is
// drawn in a box 30 by 0 whose left end is the origin; its points are moved in place.
func (s *scene) legend(name string, sample ...mark) { s.legendOf(name, sampleWidth, sample...) }

// legendOf is legend for a sample of another width.
func (s *scene) legendOf(name string, sampleWidth float64, sample ...mark) {
	const gap = 6
	name = s.fonts.shorten(strings.Join(strings.Fields(name), " "), textSize, s.width-2*edge-sampleWidth-gap)
	width := sampleWidth + gap + s.fonts.width(name, textSize)
	if s.legendX == 0 || s.legendX+width > s.width-edge {
		s.legendX = edge
		s.y += lineGap
	}
	middle := s.y - lineGap/2
	for _, m := range sample {
		for i := range m.points {
			m.points[i].x += s.legendX
			m.points[i].y += middle
		}
		s.add(m)
	}
	s.add(label(name, s.legendX+sampleWidth+gap, middle+textDrop, textSize, "start", words))
	s.legendX += width + 18
}

// frame draws the axes with lines behind the data. An axis without ticks has no lines, as
// that of the rows of a chart.
func (s *scene) frame(xa, ya *axis, left, top, bottom float64) {
	right := s.width - edge
	for _, t := range ya.ticks {
		y := ya.place(t.value)
		s.add(rule(grid, 1, point{left, y}, point{right, y}), label(t.label, left-6, y+textDrop, textSize, "end", words))
	}
	for _, t := range xa.ticks {
		x := xa.place(t.value)
		s.add(rule(grid, 1, point{x, top}, point{x, bottom}))
		anchor := "middle"
		if x+s.fonts.width(t.label, textSize)/2 > s.width-2 { // keep the label inside
			x, anchor = s.width-2, "end"
		}
		s.add(label(t.label, x, bottom+tickDrop, textSize, anchor, words))
	}
	s.add(rule(words, 1, point{left, bottom}, point{right, bottom}))
}

// box is a filled rectangle, from its upper left corner.
func box(x, y, width, height float64, fill ink) mark {
	return mark{points: []point{{x, y}, {x + width, y}, {x + width, y + height}, {x, y + height}}, closed: true, fill: fill, line: none}
}

// rule is a straight or broken line.
func rule(line ink, width float64, points ...point) mark {
	return mark{points: points, fill: none, line: line, width: width}
}

// curve is a line in the colour and dashes of a look.
func curve(look int, points ...point) mark {
	m := rule(ink(look), 1.8, points...)
	m.dash = dashes(look)
	return m
}

// label is a text at a place on its base line.
func label(text string, x, y, size float64, anchor string, fill ink) mark {
	return mark{label: text, points: []point{{x, y}}, size: size, anchor: anchor, fill: fill, line: none}
}

// spot is the marker of a look.
func spot(look int, p point, radius float64, hollow bool) mark {
	m := mark{fill: ink(look), line: paper, width: 0.8}
	if hollow {
		m.fill, m.line, m.width = paper, ink(look), 1.2
	}
	outline := symbol(look)
	if outline == nil {
		m.points, m.radius = []point{p}, radius
		return m
	}
	m.closed = true
	for _, q := range outline {
		m.points = append(m.points, point{p.x + radius*q.x, p.y + radius*q.y})
	}
	return m
}

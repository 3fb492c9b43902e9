package report

// point is a place in a scene, in pixels from its upper left corner.
type point struct{ x, y float64 }

// scene is a picture as a list of what is drawn, from back to front. It is
// written as SVG and as PNG.
type scene struct {
	width, height float64
	title, text   string // for who cannot see it
	marks         []mark
	fonts         fonts
}

// mark is a path, a dot or a label; or a hint, which holds others.
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
	hint       string // shown for the marks inside
	inside     []mark
}

// newScene begins the scene of a picture with its title, if that is to be in it, and
// returns where it goes on.
func newScene(p Picture, describe func() string, own bool) (s *scene, y float64, err error) {
	if err := p.check(); err != nil {
		return nil, 0, err
	}
	fonts, err := newFonts()
	if err != nil {
		return nil, 0, err
	}
	title := p.about().Title
	s = &scene{width: figureWidth, title: title, text: describe(), fonts: fonts}
	return s, s.heading(title, own), nil
}

func (s *scene) add(m ...mark) { s.marks = append(s.marks, m...) }

// rule is a straight or broken line.
func rule(line ink, width float64, points ...point) mark {
	return mark{points: points, fill: none, line: line, width: width}
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

package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// mostRows is the number of rows that a chart can have: more make a picture
// that nobody can take in.
const mostRows = 200

// A chart from top to bottom; a row has a line for each series:
//
//	title
//	o series  o series          legend, if there is more than one, or of signs
//	name of a row  |---o---     its number and interval, 13 below each other
//	               |  -o-
//	name of a row  |     --o--  10 further down
//	               0    10   20
//	         name of the numbers
//
// Measures of charts, in pixels.
const (
	rowGap   = 10.0 // between the numbers of two rows
	valueGap = 13.0 // from one number of a row to the next
)

// Chart shows numbers of named things, one row each, from top to bottom: the
// accuracy of methods, the gain of classes. It has at most 200 rows. The zero value but
// for Name and Title is an empty chart.
type Chart struct {
	Name    string // of its files, without ending: letters a to z, digits, - and _
	Title   string
	Caption string
	XLabel  string   // of the numbers
	Rows    []string // names; hostile ones are shown as they are
	Percent bool     // numbers are fractions, drawn as points
	Zero    bool     // show 0 and a line there
	Stems   bool     // draw a line from 0 to each number; implies Zero
	Signs   *Signs   // numbers above and below 0 look different, in place of the look of the series; nil: not

	Series []Series // Y has a number for each row, X is nil
}

// Signs are the names of numbers by their side of 0, for the legend. A number whose
// interval includes 0 is on neither side.
type Signs struct{ Above, Below, Neither string }

// about implements Picture.
func (c *Chart) about() about { return about{c.Name, c.Title, c.Caption} }

// check returns an error if the chart cannot be drawn.
func (c *Chart) check() error {
	if n := len(c.Rows); n > mostRows {
		return fmt.Errorf("report: chart %s has %d rows, want at most %d; a table can show more", c.Name, n, mostRows)
	}
	return c.about().check(c.Series, func(Series) int { return len(c.Rows) })
}

// WriteCSV writes the columns series, row, x, low and high, numbers as they were given:
// fractions, not points.
func (c *Chart) WriteCSV(w io.Writer) error {
	var rows [][]string
	for _, s := range c.Series {
		for i, name := range c.Rows {
			rows = append(rows, slices.Concat([]string{s.Name, name}, cells(at(s.Y, i), at(s.Low, i), at(s.High, i))))
		}
	}
	return writeCSV(w, c, []string{"series", "row", "x", "low", "high"}, rows)
}

// scene draws the names of the rows on the left, each at most half as wide as the picture, and
// beside each one number a series, one below the other in the order of the legend.
func (c *Chart) scene(own bool) (*scene, error) {
	s, err := newScene(c, own)
	if err != nil {
		return nil, err
	}
	series := drawn(c.Series, c.Percent)
	s.text = c.describe(series)
	switch {
	case c.Signs != nil:
		c.signLegend(s, series)
	case len(series) > 1:
		for _, one := range series {
			s.legend(one.Name, spot(one.Look, point{sampleWidth / 2, 0}, dot+0.6, false))
		}
	}
	top := s.y + 8
	row := rowGap + valueGap*max(1, float64(len(series)))
	bottom := top + row*max(1, float64(len(c.Rows)))
	left := edge
	names := make([]string, len(c.Rows))
	for i, name := range c.Rows {
		names[i] = s.fonts.shorten(strings.Join(strings.Fields(name), " "), textSize, 0.5*s.width)
		left = max(left, edge+s.fonts.width(names[i], textSize)+8)
	}
	zero := c.Zero || c.Stems
	x := newAxis(shownNumbers(series), false, zero, left+6, s.width-edge-4)
	x.mark(nil, 12, func(label string) float64 { return s.fonts.width(label, textSize) })
	s.frame(&x, &axis{}, left, top, bottom)
	for i, name := range names {
		middle := top + row*(float64(i)+0.5)
		text := label(name, left-8, middle+textDrop, textSize, "end", words)
		if name != c.Rows[i] {
			text = mark{hint: c.Rows[i], inside: []mark{text}}
		}
		s.add(rule(grid, 1, point{left, middle}, point{s.width - edge, middle}), text)
	}
	s.xLabel(c.XLabel, bottom, s.width-edge, s.width-2*edge, "end")
	if x.empty {
		s.note("no data", (left+s.width-edge)/2, (top+bottom)/2, s.width, "middle")
		return s, nil
	}
	if zero {
		s.add(rule(faint, 1, point{x.place(0), top}, point{x.place(0), bottom}))
	}
	for n, one := range series {
		for i, name := range c.Rows {
			if drawable(one.Y[i], false) {
				y := top + row*(float64(i)+0.5) + valueGap*(float64(n)-float64(len(series)-1)/2)
				s.add(c.value(one, i, name, y, &x))
			}
		}
	}
	return s, nil
}

// value draws the number of one row, at the height y, with its interval.
func (c *Chart) value(s Series, i int, name string, y float64, x *axis) mark {
	number := mark{hint: fmt.Sprintf("%s, %s: %s", name, s.Name, numeral4(s.Y[i]))}
	side := signOf(s, i)
	colour, shape := ink(s.Look), func(p point) mark { return spot(s.Look, p, dot+0.6, false) }
	if c.Signs != nil {
		colour, shape = side.ink(), side.spot
	}
	line := func(width, x1, y1, x2, y2 float64) {
		number.inside = append(number.inside, rule(colour, width, point{x1, y1}, point{x2, y2}))
	}
	at := x.place(s.Y[i])
	if c.Stems {
		line(2.5, x.place(0), y, at, y)
	}
	if drawable(s.Low[i], false) && drawable(s.High[i], false) {
		low, high := x.place(s.Low[i]), x.place(s.High[i])
		line(1.4, low, y, high, y)
		line(1.4, low, y-4, low, y+4)
		line(1.4, high, y-4, high, y+4)
		number.hint += fmt.Sprintf(" (%s to %s)", numeral4(s.Low[i]), numeral4(s.High[i]))
	}
	number.inside = append(number.inside, shape(point{at, y}))
	return number
}

// sign is the side of 0 that a number is on: -1, 1, or 0 for neither.
type sign int

// signOf is that of number i of a series: neither if its interval includes 0.
func signOf(s Series, i int) sign {
	y, low, high := s.Y[i], s.Low[i], s.High[i]
	switch known := drawable(low, false) && drawable(high, false); {
	case y > 0 && !(known && low <= 0):
		return 1
	case y < 0 && !(known && high >= 0):
		return -1
	}
	return 0
}

// ink is the colour of a side: blue above, orange below, which the colour-blind see apart,
// where red and green would look the same.
func (n sign) ink() ink { return [...]ink{2, faint, 3}[n+1] }

// spot is an arrow to the side, or a ring for neither.
func (n sign) spot(p point) mark {
	const r = dot + 1.6
	if n == 0 {
		return mark{points: []point{p}, radius: dot, fill: paper, line: faint, width: 1.6}
	}
	x := r * float64(n)
	return mark{points: []point{{p.x + x, p.y}, {p.x - 0.8*x, p.y - r}, {p.x - 0.8*x, p.y + r}}, closed: true, fill: n.ink(), line: paper, width: 0.8}
}

// signLegend lists the sides that there are numbers on.
func (c *Chart) signLegend(s *scene, series []Series) {
	there := map[sign]bool{}
	for _, one := range series {
		for i, y := range one.Y {
			there[signOf(one, i)] = there[signOf(one, i)] || drawable(y, false)
		}
	}
	for _, x := range []struct {
		sign sign
		name string
	}{{1, c.Signs.Above}, {-1, c.Signs.Below}, {0, c.Signs.Neither}} {
		if there[x.sign] {
			s.legend(x.name, x.sign.spot(point{sampleWidth / 2, 0}))
		}
	}
}

// shownNumbers returns all numbers that the axis must show.
func shownNumbers(series []Series) (list []float64) {
	for _, s := range series {
		for i, y := range s.Y {
			if drawable(y, false) {
				list = append(list, y, s.Low[i], s.High[i])
			}
		}
	}
	return list
}

// describe says the numbers of the first 30 rows in words, to be read aloud.
func (c *Chart) describe(series []Series) string {
	var b strings.Builder
	for _, s := range series {
		fmt.Fprintf(&b, "%s:", s.Name)
		for i, name := range c.Rows[:min(len(c.Rows), 30)] {
			number := "none"
			if drawable(s.Y[i], false) {
				number = numeral4(s.Y[i])
			}
			fmt.Fprintf(&b, " %s %s;", name, number)
		}
		b.WriteString(" ")
	}
	return strings.TrimSpace(b.String())
}

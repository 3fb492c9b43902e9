package report

import (
	"fmt"
	"strings"
)

// Measures of charts, in pixels.
const (
	rowGap   = 10.0 // between the numbers of two rows
	valueGap = 13.0 // from one number of a row to the next
)

// scene draws the chart, with its title in the picture if own is true.
func (c *Chart) scene(own bool) (*scene, error) {
	s, y, err := newScene(c, c.describe, own)
	if err != nil {
		return nil, err
	}
	fonts := s.fonts
	if len(c.Series) > 1 {
		y = s.legend(c.legend(), y)
	}
	top := y + 8
	row := rowGap + valueGap*max(1, float64(len(c.Series)))
	bottom := top + row*max(1, float64(len(c.Rows)))
	left := edge
	names := make([]string, len(c.Rows))
	for i, name := range c.Rows {
		names[i] = fonts.shorten(oneLine(name), textSize, 0.5*s.width)
		left = max(left, edge+fonts.width(names[i], textSize)+8)
	}
	xa := newAxis(c.values(), false, c.Zero || c.Stems, left+6, s.width-edge-4)
	xa.mark(xa.sets(nil), 12, func(label string) float64 { return fonts.width(label, textSize) })
	s.frame(&xa, &axis{}, left, top, bottom)
	for i, name := range names {
		middle := top + row*(float64(i)+0.5)
		text := label(name, left-8, middle+textDrop, textSize, "end", words)
		if name != c.Rows[i] {
			text = mark{hint: c.Rows[i], inside: []mark{text}}
		}
		s.add(rule(grid, 1, point{left, middle}, point{s.width - edge, middle}), text)
	}
	s.height = bottom + tickRoom + edge
	if c.XLabel != "" {
		s.height += lineGap - 4
		s.add(label(fonts.shorten(c.XLabel, textSize, s.width-2*edge), s.width-edge, bottom+titleDrop, textSize, "end", faint))
	}
	if xa.empty {
		s.add(label("no data", (left+s.width-edge)/2, (top+bottom)/2, textSize, "middle", faint))
		return s, nil
	}
	if c.Zero || c.Stems {
		s.add(rule(faint, 1, point{xa.place(0), top}, point{xa.place(0), bottom}))
	}
	for n, series := range c.Series {
		for i := range c.Rows {
			y := top + row*(float64(i)+0.5) + valueGap*(float64(n)-float64(len(c.Series)-1)/2)
			c.value(s, n, series, i, y, &xa)
		}
	}
	return s, nil
}

// value draws one number with its interval.
func (c *Chart) value(s *scene, n int, series Values, i int, y float64, xa *axis) {
	v := c.x(series.X[i])
	if !drawable(v, false) {
		return
	}
	look := lookOf(series.Look, n)
	var marks []mark
	if c.Stems {
		marks = append(marks, rule(ink(look), 2.5, point{xa.place(0), y}, point{xa.place(v), y}))
	}
	hint := fmt.Sprintf("%s, %s: %s", c.Rows[i], series.Name, numeral4(v))
	if low, high := c.x(at(series.Low, i)), c.x(at(series.High, i)); drawable(low, false) && drawable(high, false) {
		l, h := xa.place(low), xa.place(high)
		marks = append(marks, rule(ink(look), 1.4, point{l, y}, point{h, y}),
			rule(ink(look), 1.4, point{l, y - 4}, point{l, y + 4}), rule(ink(look), 1.4, point{h, y - 4}, point{h, y + 4}))
		hint += fmt.Sprintf(" (%s to %s)", numeral4(low), numeral4(high))
	}
	marks = append(marks, spot(look, point{xa.place(v), y}, dot+0.6, false))
	s.add(mark{hint: hint, inside: marks})
}

// x returns a number as it is drawn.
func (c *Chart) x(v float64) float64 {
	if c.Percent {
		return 100 * v
	}
	return v
}

func (c *Chart) values() []float64 {
	var list []float64
	for _, s := range c.Series {
		for i, v := range s.X {
			if drawable(c.x(v), false) {
				list = append(list, c.x(v), c.x(at(s.Low, i)), c.x(at(s.High, i)))
			}
		}
	}
	return list
}

func (c *Chart) legend() []entry {
	var list []entry
	for i, s := range c.Series {
		list = append(list, entry{s.Name, []mark{spot(lookOf(s.Look, i), point{sampleWidth / 2, 0}, dot+0.6, false)}})
	}
	return list
}

// describe says the numbers of the first rows in words.
func (c *Chart) describe() string {
	var b strings.Builder
	for _, s := range c.Series {
		fmt.Fprintf(&b, "%s:", s.Name)
		for i, name := range c.Rows[:min(len(c.Rows), 30)] {
			number := "none"
			if v := c.x(s.X[i]); drawable(v, false) {
				number = numeral4(v)
			}
			fmt.Fprintf(&b, " %s %s;", name, number)
		}
		b.WriteString(" ")
	}
	return strings.TrimSpace(b.String())
}

// oneLine puts spaces in place of line ends and tabs.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

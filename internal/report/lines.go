package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Measures of figures, in pixels.
const (
	figureWidth = 420.0
	plotHeight  = 224.0
)

// hints is the number of points up to which each tells its numbers.
const hints = 1000

// scene draws the figure, with its title in the picture if own is true.
func (f *Figure) scene(own bool) (*scene, error) {
	s, y, err := newScene(f, f.describe, own)
	if err != nil {
		return nil, err
	}
	fonts := s.fonts
	y = s.legend(f.legend(), y)
	if f.YLabel != "" {
		y += lineGap
		s.add(label(fonts.shorten(f.YLabel, textSize, s.width-2*edge), edge, y-4, textSize, "start", faint))
	}
	top := y + 6
	bottom := top + plotHeight
	xs, ys := f.values()
	ya := newAxis(ys, f.LogY, f.Zero, bottom, top)
	ya.mark(ya.sets(nil), 14, func(string) float64 { return textSize })
	left := edge + 8
	for _, t := range ya.ticks {
		left = max(left, edge+fonts.width(t.label, textSize)+6)
	}
	xa := newAxis(xs, f.LogX, false, left, s.width-edge-4)
	xa.mark(xa.sets(f.measured()), 8, func(label string) float64 { return fonts.width(label, textSize) })
	s.frame(&xa, &ya, left, top, bottom)
	s.height = bottom + tickRoom + edge
	if f.XLabel != "" {
		s.height += lineGap - 4
		s.add(label(fonts.shorten(f.XLabel, textSize, s.width-left-edge), (left+s.width-edge)/2, bottom+titleDrop, textSize, "middle", faint))
	}
	if xa.empty || ya.empty {
		s.add(label("no data", (left+s.width-edge)/2, (top+bottom)/2, textSize, "middle", faint))
		return s, nil
	}
	if f.Zero && ya.within(0) {
		s.add(rule(faint, 1, point{left, ya.place(0)}, point{s.width - edge, ya.place(0)}))
	}
	for _, draw := range []func(*scene, int, Series, *axis, *axis){f.intervals, f.curve, f.dots} {
		for i, series := range f.Series {
			draw(s, i, series, &xa, &ya)
		}
	}
	f.markers(s, &xa, &ya)
	return s, nil
}

// y returns a number of the y axis as it is drawn.
func (f *Figure) y(v float64) float64 {
	if f.Percent {
		return 100 * v
	}
	return v
}

// values returns all numbers that the axes must show.
func (f *Figure) values() (xs, ys []float64) {
	for _, s := range f.Series {
		for i, x := range s.X {
			if drawable(x, f.LogX) && drawable(f.y(s.Y[i]), f.LogY) {
				xs = append(xs, x)
				ys = append(ys, f.y(s.Y[i]), f.y(at(s.Low, i)), f.y(at(s.High, i)))
			}
		}
	}
	for _, m := range f.Markers {
		if drawable(m.X, f.LogX) && drawable(f.y(m.Y), f.LogY) {
			xs, ys = append(xs, m.X), append(ys, f.y(m.Y))
		}
	}
	return xs, ys
}

// measured returns the X of all series.
func (f *Figure) measured() []float64 {
	var list []float64
	for _, s := range f.Series {
		list = append(list, s.X...)
	}
	return list
}

// frame draws the axes with lines behind the data.
func (s *scene) frame(xa, ya *axis, left, top, bottom float64) {
	right := s.width - edge
	for _, t := range ya.ticks {
		y := ya.place(t.value)
		s.add(rule(grid, 1, point{left, y}, point{right, y}), label(t.label, left-6, y+textDrop, textSize, "end", words))
	}
	for _, t := range xa.ticks {
		x := xa.place(t.value)
		anchor, half := "middle", s.fonts.width(t.label, textSize)/2
		if x+half > s.width-2 { // keep the label inside
			x, anchor = s.width-2, "end"
		}
		s.add(rule(grid, 1, point{xa.place(t.value), top}, point{xa.place(t.value), bottom}), label(t.label, x, bottom+tickDrop, textSize, anchor, words))
	}
	s.add(rule(words, 1, point{left, bottom}, point{right, bottom}))
}

// runs returns the stretches of points that can be drawn.
func (f *Figure) runs(series Series) [][]int {
	var list [][]int
	open := false
	for i, x := range series.X {
		shown := drawable(x, f.LogX) && drawable(f.y(series.Y[i]), f.LogY)
		if shown && !open {
			list = append(list, nil)
		}
		if open = shown; shown {
			list[len(list)-1] = append(list[len(list)-1], i)
		}
	}
	return list
}

// ends returns the pixels of an interval, and false if there is none.
func (f *Figure) ends(s Series, i int, ya *axis) (low, high float64, ok bool) {
	l, h := f.y(at(s.Low, i)), f.y(at(s.High, i))
	if !finite(l) || !drawable(h, f.LogY) {
		return 0, 0, false
	}
	low = ya.from
	if drawable(l, f.LogY) {
		low = ya.place(l)
	}
	return low, ya.place(h), true
}

func (f *Figure) intervals(s *scene, n int, series Series, xa, ya *axis) {
	look := ink(lookOf(series.Look, n))
	for _, run := range f.runs(series) {
		var upper, lower []point
		for _, i := range run {
			x := xa.place(series.X[i])
			low, high, ok := f.ends(series, i, ya)
			switch {
			case !ok:
			case f.Band:
				upper, lower = append(upper, point{x, high}), append(lower, point{x, low})
			default:
				s.add(rule(look, 1, point{x, low}, point{x, high}), rule(look, 1, point{x - 3, low}, point{x + 3, low}), rule(look, 1, point{x - 3, high}, point{x + 3, high}))
			}
		}
		for i := len(lower) - 1; i >= 0; i-- {
			upper = append(upper, lower[i])
		}
		if len(upper) > 2 {
			s.add(mark{points: upper, closed: true, fill: look, line: none, opacity: 0.18})
		}
	}
}

func (f *Figure) curve(s *scene, n int, series Series, xa, ya *axis) {
	look := lookOf(series.Look, n)
	for _, run := range f.runs(series) {
		var line []point
		for _, i := range run {
			line = append(line, point{xa.place(series.X[i]), ya.place(f.y(series.Y[i]))})
		}
		if len(line) > 1 {
			m := rule(ink(look), 1.8, line...)
			m.dash = dashes(look)
			s.add(m)
		}
	}
}

// dots draws markers at points, at some of them if there are many.
func (f *Figure) dots(s *scene, n int, series Series, xa, ya *axis) {
	every := len(series.X)/60 + 1
	for i, x := range series.X {
		v := f.y(series.Y[i])
		if i%every != 0 || !drawable(x, f.LogX) || !drawable(v, f.LogY) {
			continue
		}
		m := spot(lookOf(series.Look, n), point{xa.place(x), ya.place(v)}, dot, false)
		if len(f.Series)*len(series.X) > hints {
			s.add(m)
			continue
		}
		s.add(mark{hint: series.Name + ": " + f.tell(series, i), inside: []mark{m}})
	}
}

// tell says the numbers of a point.
func (f *Figure) tell(s Series, i int) string {
	text := fmt.Sprintf("%s at %s", numeral4(f.y(s.Y[i])), numeral(s.X[i]))
	if low, high := at(s.Low, i), at(s.High, i); finite(low) && finite(high) {
		text += fmt.Sprintf(" (%s to %s)", numeral4(f.y(low)), numeral4(f.y(high)))
	}
	return text
}

// numeral4 writes a measured number with four digits.
func numeral4(x float64) string {
	if x == 0 || !finite(x) {
		return numeral(x)
	}
	e := int(math.Floor(math.Log10(math.Abs(x)))) - 3
	return numeral(decimal(math.Round(x/math.Pow(10, float64(e))), e))
}

// legend returns the entries of the legend: series, then labels of markers.
func (f *Figure) legend() []entry {
	var list []entry
	for i, s := range f.Series {
		look := lookOf(s.Look, i)
		line := rule(ink(look), 1.8, point{0, 0}, point{sampleWidth, 0})
		line.dash = dashes(look)
		list = append(list, entry{s.Name, []mark{line, spot(look, point{sampleWidth / 2, 0}, dot, false)}})
	}
	labels, own := f.labels()
	for i, name := range labels {
		list = append(list, entry{name, []mark{ring(own[i], point{sampleWidth / 2, 0})}})
	}
	return list
}

// labels returns the distinct labels of markers and for each the outline that
// those have which belong to no series; where a label has none of these, rings
// stand for it in the legend.
func (f *Figure) labels() (names []string, outlines []int) {
	for _, m := range f.Markers {
		i := slices.Index(names, m.Label)
		if i < 0 && m.Label != "" {
			i = len(names)
			names, outlines = append(names, m.Label), append(outlines, 1)
		}
		if i >= 0 && m.Series == "" {
			outlines[i] = i%looks + 1
		}
	}
	return names, outlines
}

// ring is a grey outline.
func ring(outline int, p point) mark {
	m := spot(outline, p, 5, true)
	m.fill, m.line = none, faint
	return m
}

// markers draws rings in the shape and colour of their series.
func (f *Figure) markers(s *scene, xa, ya *axis) {
	labels, own := f.labels()
	look := map[string]int{}
	for i, series := range f.Series {
		look[series.Name] = lookOf(series.Look, i)
	}
	for _, m := range f.Markers {
		if !drawable(m.X, f.LogX) || !drawable(f.y(m.Y), f.LogY) {
			continue
		}
		p := point{xa.place(m.X), ya.place(f.y(m.Y))}
		shape := ring(1, p)
		if i := slices.Index(labels, m.Label); i >= 0 {
			shape = ring(own[i], p)
		}
		if m.Series != "" {
			shape = spot(look[m.Series], p, 5.5, true)
			shape.fill = none
		}
		text := strings.TrimSpace(m.Label+" "+m.Series) + ": " + numeral4(f.y(m.Y)) + " at " + numeral(m.X)
		s.add(mark{hint: text, inside: []mark{shape}})
	}
}

// describe says in words what the figure shows.
func (f *Figure) describe() string {
	var b strings.Builder
	what := "a number"
	if f.YLabel != "" {
		what = f.YLabel
	}
	fmt.Fprintf(&b, "%s", what)
	if f.XLabel != "" {
		fmt.Fprintf(&b, " over %s", f.XLabel)
	}
	b.WriteString(".")
	for _, s := range f.Series {
		runs := f.runs(s)
		if len(runs) == 0 {
			fmt.Fprintf(&b, " %s: no data.", s.Name)
			continue
		}
		first, last := runs[0][0], runs[len(runs)-1]
		end := last[len(last)-1]
		fmt.Fprintf(&b, " %s: %s at %s", s.Name, numeral4(f.y(s.Y[first])), numeral(s.X[first]))
		if end != first {
			fmt.Fprintf(&b, ", %s at %s", numeral4(f.y(s.Y[end])), numeral(s.X[end]))
		}
		b.WriteString(".")
	}
	return b.String()
}

package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// A figure from top to bottom; the left margin is as wide as the widest number:
//
//	title                       in a file of its own; a page has it above the picture
//	- series  - series  o ring  legend, in as many lines as it takes
//	name of the y axis
//	0.5 |---------------------  plot, 224 high: lines of the ticks behind the data
//	0.4 |---------------------
//	 12 |__#__##__#___________  bars, 46 high, if there are any; their most on the left
//	    1     10     100
//	       name of the x axis
//
// Measures of figures, in pixels.
const (
	figureWidth = 420.0
	plotHeight  = 224.0
)

// hints is the number of points up to which each tells its numbers: a hint has more bytes
// than the point.
const hints = 1000

// Figure shows curves over a number. The zero value but for Name and Title is an
// empty figure, which is drawn as such.
//
// A point with a NaN or an infinity, or with a number below or at 0 on a
// logarithmic axis, is left out, and the curve is broken there.
type Figure struct {
	Name    string // of its files, without ending: letters a to z, digits, - and _
	Title   string
	Caption string // what to see in it; below the figure on a page
	XLabel  string
	YLabel  string
	LogX    bool // ticks at powers of 2 if all X are such, else of 10
	LogY    bool
	Percent bool // Y are fractions, drawn in per cent: 0.25 as 25
	Zero    bool // the y axis shows 0; not with LogY
	Band    bool // draw intervals as bands, not as error bars

	PercentX bool   // X are fractions, drawn in per cent on an axis from 0 to 100
	Whole    bool   // the y axis goes from 0 to 100 %; with Percent
	Diagonal string // name of a line through all points whose Y is their X; "": none

	Series  []Series // X and Y are of one length
	Markers []Marker
	Bars    *Bars // below the plot, over the same x axis; nil: none
}

// Bars are counts over ranges of X, such as of the examples in a bin.
type Bars struct {
	Name  string // of what is counted
	Edges []float64
	Count []float64 // of the range between one edge and the next: one less than there are Edges
}

// Marker is one faint point beside the curves, such as a value that a paper
// gives.
type Marker struct {
	Series string // whose look it has; "": grey
	X, Y   float64
	Label  string // what it is, such as "paper"; equal labels share a line of the legend
}

// about implements Picture.
func (f *Figure) about() about { return about{f.Name, f.Title, f.Caption} }

// check returns an error if the figure cannot be drawn.
func (f *Figure) check() error {
	if err := f.about().check(f.Series, func(s Series) int { return len(s.X) }); err != nil {
		return err
	}
	for _, m := range f.Markers {
		if m.Series != "" && !slices.ContainsFunc(f.Series, func(s Series) bool { return s.Name == m.Series }) {
			return fmt.Errorf("report: figure %s: a marker belongs to the series %q, which is not there", f.Name, m.Series)
		}
	}
	if b := f.Bars; b != nil && len(b.Edges) != len(b.Count)+1 {
		return fmt.Errorf("report: figure %s: %d bars have %d edges, want one more than bars", f.Name, len(b.Count), len(b.Edges))
	}
	return nil
}

// WriteCSV writes the columns series, x, y, low, high and marker: the points of
// each series, then the markers, whose label is in the last column, then the bars, whose
// x is the middle between their edges and whose y is their count.
func (f *Figure) WriteCSV(w io.Writer) error {
	var rows [][]string
	for _, s := range f.Series {
		for i, x := range s.X {
			rows = append(rows, slices.Concat([]string{s.Name}, cells(x, at(s.Y, i), at(s.Low, i), at(s.High, i)), []string{""}))
		}
	}
	for _, m := range f.Markers {
		rows = append(rows, slices.Concat([]string{m.Series}, cells(m.X, m.Y), []string{"", "", m.Label}))
	}
	if b := f.Bars; b != nil {
		for i, count := range b.Count {
			rows = append(rows, slices.Concat([]string{b.Name}, cells((b.Edges[i]+b.Edges[i+1])/2, count), []string{"", "", ""}))
		}
	}
	return writeCSV(w, f, []string{"series", "x", "y", "low", "high", "marker"}, rows)
}

// plot is a figure that is being drawn: its numbers in the unit of the axes, so that
// fractions are per cent here, and as they were given in Figure.
type plot struct {
	*scene
	*Figure
	series  []Series
	markers []Marker
	x, y    axis
	shift   []float64 // of each series, in pixels; nil: none
}

// newPlot returns the plot of a figure in a scene, without axes.
func newPlot(s *scene, f *Figure) *plot {
	p := &plot{scene: s, Figure: f, series: drawn(f.Series, f.Percent), markers: slices.Clone(f.Markers)}
	for i := range p.markers {
		if f.Percent {
			p.markers[i].Y *= 100
		}
		if f.PercentX {
			p.markers[i].X *= 100
		}
	}
	if f.PercentX {
		for i := range p.series {
			p.series[i].X = scaled(p.series[i].X, len(p.series[i].X), true)
		}
	}
	return p
}

// axes chooses both axes with their ticks and returns where the plot begins on the left,
// which follows from the widest number of the y axis. The x axis begins there.
func (p *plot) axes(top, bottom float64) (left float64) {
	xs, ys := p.shownNumbers()
	p.y = newAxis(ys, p.LogY, p.Zero, bottom, top)
	if p.Whole {
		p.y = fullAxis(bottom, top)
	}
	p.y.mark(nil, 14, func(string) float64 { return textSize })
	left = edge + 8
	for _, t := range p.y.ticks {
		left = max(left, edge+p.fonts.width(t.label, textSize)+6)
	}
	if p.Bars != nil {
		most := numeral(slices.Max(append([]float64{0}, p.Bars.Count...)))
		left = max(left, edge+p.fonts.width(most, textSize)+6)
	}
	p.x = newAxis(xs, p.LogX, false, left, p.width-edge-4)
	var measured []float64
	if p.PercentX {
		p.x = fullAxis(left, p.width-edge-12)
	} else {
		for _, one := range p.Series {
			measured = append(measured, one.X...)
		}
	}
	p.x.mark(measured, 8, func(label string) float64 { return p.fonts.width(label, textSize) })
	return left
}

// scene draws from top to bottom title, legend, name of the y axis, plot, name of the x axis, so
// that nothing lies on data.
func (f *Figure) scene(own bool) (*scene, error) {
	s, err := newScene(f, own)
	if err != nil {
		return nil, err
	}
	p := newPlot(s, f)
	s.text = p.describe()
	p.addLegend()
	if f.YLabel != "" {
		s.y += lineGap
		s.note(axisName(f.YLabel, f.LogY), edge, s.y-4, s.width-2*edge, "start")
	}
	top := s.y + 6
	bottom := top + plotHeight
	left := p.axes(top, bottom)
	below := bottom // of the plot and the bars
	if f.Bars != nil {
		below += barsGap + barsHeight
	}
	s.frame(&p.x, &p.y, left, top, below)
	s.xLabel(axisName(f.XLabel, f.LogX), below, (left+s.width-edge)/2, s.width-left-edge, "middle")
	if f.Bars != nil {
		p.addBars(left, bottom, below)
	}
	if p.x.empty || p.y.empty {
		s.note("no data", (left+s.width-edge)/2, (top+bottom)/2, s.width, "middle")
		return s, nil
	}
	p.addData(left)
	return s, nil
}

// addData draws what is between the axes: all intervals first, then all curves, then all
// markers, so that no curve hides the points of another.
func (p *plot) addData(left float64) {
	if p.Zero && p.y.within(0) {
		p.add(rule(faint, 1, point{left, p.y.place(0)}, point{p.width - edge, p.y.place(0)}))
	}
	if p.Diagonal != "" {
		low, up := max(p.x.low, p.y.low), min(p.x.up, p.y.up)
		line := rule(faint, 1.4, point{p.x.place(low), p.y.place(low)}, point{p.x.place(up), p.y.place(up)})
		line.dash = []float64{5, 4}
		p.add(line)
	}
	p.dodge()
	for _, draw := range []func(Series){p.addIntervals, p.addCurve, p.addDots} {
		for _, one := range p.series {
			draw(one)
		}
	}
	p.addMarkers()
}

// axisName is the name of an axis, which says if its steps are not all as long.
func axisName(name string, log bool) string {
	if log && name != "" {
		return name + " (logarithmic)"
	}
	return name
}

// Measures of the bars below a plot, in pixels.
const (
	barsGap    = 12.0
	barsHeight = 46.0
)

// addBars draws the bars between a plot and its x axis.
func (p *plot) addBars(left, plotBottom, bottom float64) {
	most := slices.Max(append([]float64{1}, p.Bars.Count...))
	scale := 1.0
	if p.PercentX {
		scale = 100
	}
	p.add(rule(words, 1, point{left, plotBottom}, point{p.width - edge, plotBottom}),
		rule(grid, 1, point{left, bottom - barsHeight}, point{p.width - edge, bottom - barsHeight}),
		label(numeral(most), left-6, bottom-barsHeight+textDrop+2, textSize, "end", words))
	for i, count := range p.Bars.Count {
		low, high := scale*p.Bars.Edges[i], scale*p.Bars.Edges[i+1]
		if !drawable(count, false) || count <= 0 || !drawable(low, p.LogX) || !drawable(high, p.LogX) {
			continue
		}
		top := bottom - barsHeight*count/most
		from, to := p.x.place(low)+0.5, p.x.place(high)-0.5
		bar := mark{points: []point{{from, bottom}, {from, top}, {to, top}, {to, bottom}}, closed: true, fill: faint, line: none, opacity: 0.65}
		p.add(mark{hint: fmt.Sprintf("%s from %s to %s: %s", p.Bars.Name, numeral4(low), numeral4(high), numeral(count)), inside: []mark{bar}})
	}
	p.add(rule(words, 1, point{left, bottom}, point{p.width - edge, bottom}))
}

// dodge moves the series a few pixels to the left and right, so that error bars at
// the same x stand beside each other: series i of n by (i - (n-1)/2) steps, so that all of
// them together stay in the middle. Bands overlap without hiding each other, and stay.
func (p *plot) dodge() {
	if p.Band || len(p.series) < 2 || !slices.ContainsFunc(p.series, func(s Series) bool { return slices.ContainsFunc(s.Low, finite) }) {
		return
	}
	var places []float64
	for _, s := range p.series {
		for _, x := range s.X {
			if drawable(x, p.LogX) {
				places = append(places, p.x.place(x))
			}
		}
	}
	slices.Sort(places)
	places = slices.Compact(places)
	gap := 40.0 // between two places, or between the last one and the end of the axis
	for i := 1; i < len(places); i++ {
		gap = min(gap, places[i]-places[i-1])
	}
	step := min(4, 0.3*gap/float64(len(p.series))) // so little that a steep curve stays where it is
	p.shift = make([]float64, len(p.series))
	for i := range p.shift {
		p.shift[i] = step * (float64(i) - float64(len(p.series)-1)/2)
	}
}

// at returns where the x of a point of a series is drawn.
func (p *plot) at(s Series, x float64) float64 {
	at := p.x.place(x)
	for i := range p.shift {
		if p.series[i].Name == s.Name {
			at = min(max(at+p.shift[i], p.x.from), p.x.to)
		}
	}
	return at
}

// shown tells whether the axes can show a point.
func (p *plot) shown(x, y float64) bool { return drawable(x, p.LogX) && drawable(y, p.LogY) }

// shownNumbers returns all numbers that the axes must show.
func (p *plot) shownNumbers() (xs, ys []float64) {
	for _, s := range p.series {
		for i, x := range s.X {
			if p.shown(x, s.Y[i]) {
				xs, ys = append(xs, x), append(ys, s.Y[i], s.Low[i], s.High[i])
			}
		}
	}
	for _, m := range p.markers {
		if p.shown(m.X, m.Y) {
			xs, ys = append(xs, m.X), append(ys, m.Y)
		}
	}
	return xs, ys
}

// runs returns the stretches of points that can be drawn, as places in the series: a point
// that cannot breaks the curve, as a line over it would say that something lies there.
func (p *plot) runs(s Series) (list [][]int) {
	open := false
	for i, x := range s.X {
		shown := p.shown(x, s.Y[i])
		if shown && !open {
			list = append(list, nil)
		}
		if open = shown; shown {
			list[len(list)-1] = append(list[len(list)-1], i)
		}
	}
	return list
}

// addIntervals draws bands or error bars. A lower end that the axis cannot show, as 0 on
// a logarithmic one, is at the axis' end.
func (p *plot) addIntervals(s Series) {
	tip := 3.0 // half the width of the ends of error bars
	if p.shift != nil {
		tip = 2
	}
	for _, run := range p.runs(s) {
		var upper, lower []point
		for _, i := range run {
			if !finite(s.Low[i]) || !drawable(s.High[i], p.LogY) {
				continue
			}
			x, low, high := p.at(s, s.X[i]), p.y.from, p.y.place(s.High[i])
			if drawable(s.Low[i], p.LogY) {
				low = p.y.place(s.Low[i])
			}
			if p.Band {
				upper, lower = append(upper, point{x, high}), append(lower, point{x, low})
				continue
			}
			for _, line := range [][2]point{{{x, low}, {x, high}}, {{x - tip, low}, {x + tip, low}}, {{x - tip, high}, {x + tip, high}}} {
				p.add(rule(ink(s.Look), 1, line[0], line[1]))
			}
		}
		slices.Reverse(lower)
		if len(upper) > 1 {
			p.add(mark{points: append(upper, lower...), closed: true, fill: ink(s.Look), line: none, opacity: 0.18})
		}
	}
}

// addCurve joins the points of each stretch; one point alone has a marker only.
func (p *plot) addCurve(s Series) {
	for _, run := range p.runs(s) {
		var line []point
		for _, i := range run {
			line = append(line, point{p.at(s, s.X[i]), p.y.place(s.Y[i])})
		}
		if len(line) > 1 {
			p.add(curve(s.Look, line...))
		}
	}
}

// addDots draws markers at points, at every n-th of them if there are more than 60: the
// markers would touch.
func (p *plot) addDots(s Series) {
	every := len(s.X)/60 + 1
	for i, x := range s.X {
		if i%every != 0 || !p.shown(x, s.Y[i]) {
			continue
		}
		m := spot(s.Look, point{p.at(s, x), p.y.place(s.Y[i])}, dot, false)
		if len(p.series)*len(s.X) <= hints {
			m = mark{hint: s.Name + ": " + tell(s, i), inside: []mark{m}}
		}
		p.add(m)
	}
}

// tell says the numbers of a point.
func tell(s Series, i int) string {
	text := fmt.Sprintf("%s at %s", numeral4(s.Y[i]), numeral(s.X[i]))
	if low, high := s.Low[i], s.High[i]; finite(low) && finite(high) {
		text += fmt.Sprintf(" (%s to %s)", numeral4(low), numeral4(high))
	}
	return text
}

// addLegend lists series, then labels of markers.
func (p *plot) addLegend() {
	for _, s := range p.series {
		p.legend(s.Name, curve(s.Look, point{0, 0}, point{sampleWidth, 0}), spot(s.Look, point{sampleWidth / 2, 0}, dot, false))
	}
	if p.Diagonal != "" {
		line := rule(faint, 1.4, point{0, 0}, point{sampleWidth, 0})
		line.dash = []float64{5, 4}
		p.legend(p.Diagonal, line)
	}
	labels, outlines := p.labels()
	for i, name := range labels {
		p.legend(name, ring(outlines[i], point{sampleWidth / 2, 0}))
	}
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

// addMarkers draws rings in the shape and colour of their series.
func (p *plot) addMarkers() {
	labels, outlines := p.labels()
	for _, m := range p.markers {
		if !p.shown(m.X, m.Y) {
			continue
		}
		at, outline := point{p.x.place(m.X), p.y.place(m.Y)}, 1
		if i := slices.Index(labels, m.Label); i >= 0 {
			outline = outlines[i]
		}
		shape := ring(outline, at)
		for _, s := range p.series {
			if s.Name == m.Series {
				shape = spot(s.Look, at, 5.5, true)
				shape.fill = none
			}
		}
		text := strings.TrimSpace(m.Label+" "+m.Series) + ": " + numeral4(m.Y) + " at " + numeral(m.X)
		p.add(mark{hint: text, inside: []mark{shape}})
	}
}

// describe says in words what the figure shows: of each series its ends.
func (p *plot) describe() string {
	text := "a number"
	if p.YLabel != "" {
		text = p.YLabel
	}
	if p.XLabel != "" {
		text += " over " + p.XLabel
	}
	text += "."
	for _, s := range p.series {
		shown := slices.Concat(p.runs(s)...)
		if len(shown) == 0 {
			text += fmt.Sprintf(" %s: no data.", s.Name)
			continue
		}
		first, last := shown[0], shown[len(shown)-1]
		text += fmt.Sprintf(" %s: %s at %s", s.Name, numeral4(s.Y[first]), numeral(s.X[first]))
		if last != first {
			text += fmt.Sprintf(", %s at %s", numeral4(s.Y[last]), numeral(s.X[last]))
		}
		text += "."
	}
	return text
}

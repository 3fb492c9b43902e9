package report

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// axis maps numbers to pixels: with s(v) = v, or log10 v on a logarithmic one,
//
//	place(v) = from + (s(v) - low) / (up - low) * (to - from)
//
// from is above to on a y axis, as pixels are counted from above.
type axis struct {
	log      bool
	low, up  float64 // ends, in logarithms to base 10 if log
	from, to float64 // the pixels of low and up
	ticks    []tick
	empty    bool // nothing is to be shown
}

// tick is a number on an axis with its text.
type tick struct {
	value float64
	label string
}

// drawable tells whether an axis can show x. The bounds keep ranges and margins finite.
func drawable(x float64, log bool) bool {
	return finite(x) && math.Abs(x) < 1e300 && (!log || x > 1e-300)
}

// newAxis returns an axis that shows all values that it can, with a margin of 5 % of
// their range at each end, and 0 if asked to, without a margin if 0 is an end. Values
// that are all the same get a range of a tenth of them around, or half a unit.
func newAxis(values []float64, log, zero bool, from, to float64) axis {
	a := axis{log: log, from: from, to: to}
	low, up := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if drawable(v, log) {
			low, up = min(low, v), max(up, v)
		}
	}
	if low > up {
		a.empty = true
		return a
	}
	if log {
		low, up = math.Log10(low), math.Log10(up)
	} else if zero {
		low, up = min(low, 0), max(up, 0)
	}
	margin := 0.05 * (up - low)
	// Values that differ in the last digits are one value, too: ticks would have one text.
	if least := 1e-9 * max(math.Abs(low), math.Abs(up)); margin <= least {
		margin = max(0.1*max(math.Abs(low), math.Abs(up)), least)
		if log || margin == 0 {
			margin = 0.5
		}
	}
	a.low, a.up = low-margin, up+margin
	if zero && !log && low < up { // not where all is 0
		if low == 0 {
			a.low = 0
		}
		if up == 0 {
			a.up = 0
		}
	}
	return a
}

// fullAxis is one of per cent, from 0 to 100.
func fullAxis(from, to float64) axis { return axis{low: 0, up: 100, from: from, to: to} }

// scale returns where a drawable value is, in the unit of the ends.
func (a *axis) scale(v float64) float64 {
	if a.log {
		return math.Log10(v)
	}
	return v
}

// place returns the pixel of a drawable value, at the axis' end if it is beyond.
func (a *axis) place(v float64) float64 {
	share := (a.scale(v) - a.low) / (a.up - a.low)
	return a.from + min(max(share, 0), 1)*(a.to-a.from)
}

// within tells whether a value lies on the axis.
func (a *axis) within(v float64) bool {
	return drawable(v, a.log) && a.scale(v) >= a.low && a.scale(v) <= a.up
}

// mark chooses ticks: the finest of some sets whose labels are at least gap
// pixels apart. size returns the room of a label along the axis, in pixels; measured are
// values that a reader wants to see. Where no set fits there are no ticks.
func (a *axis) mark(measured []float64, gap float64, size func(label string) float64) {
	for _, set := range a.sets(measured) {
		var ticks []tick
		fits := true
		end := math.Inf(-1)
		for _, v := range set {
			if !a.within(v) {
				continue
			}
			t := tick{v, numeral(v)}
			half, at := size(t.label)/2, math.Abs(a.place(v)-a.from)
			fits = fits && (len(ticks) == 0 || at-half-end >= gap)
			end = at + half
			ticks = append(ticks, t)
		}
		if fits && len(ticks) > 0 {
			a.ticks = ticks
			return
		}
	}
}

// sets returns sets of ticks, finest first. Values that are few are ticks
// themselves, so that a reader sees what was measured. On a logarithmic axis come
// powers of 2 if all values are such; round numbers, where it spans less than from 1 to
// 5; 1, 2, 5 or 1, 3 times powers of ten, up to three powers; and powers of ten.
func (a *axis) sets(values []float64) [][]float64 {
	if a.empty {
		return nil
	}
	var sets [][]float64
	distinct := slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return !drawable(v, a.log) })
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	if n := len(distinct); n > 0 && n <= 12 {
		sets = append(sets, distinct)
	}
	if !a.log {
		return append(sets, a.round()...)
	}
	if len(distinct) > 2 && !slices.ContainsFunc(distinct, func(v float64) bool { f, _ := math.Frexp(v); return f != 0.5 }) {
		sets = append(sets, a.powers(2)...)
	}
	if a.up-a.low < 0.7 { // less than from 1 to 5
		linear := axis{low: math.Pow(10, a.low), up: math.Pow(10, a.up)}
		sets = append(sets, linear.round()...)
	}
	if a.up-a.low < 3.2 {
		for _, digits := range [][]float64{{1, 2, 5}, {1, 3}} {
			var set []float64
			for e := math.Floor(a.low); e <= a.up; e++ {
				for _, d := range digits {
					set = append(set, decimal(d, int(e)))
				}
			}
			sets = append(sets, set)
		}
	}
	return append(sets, a.powers(10)...)
}

// powers returns the powers of a base, then every second, third and so on. The ends are
// logarithms, which are rounded: 1e-9 keeps a power that is an end.
func (a *axis) powers(base float64) [][]float64 {
	unit := math.Log10(base)
	first, last := int(math.Ceil(a.low/unit-1e-9)), int(math.Floor(a.up/unit+1e-9))
	var sets [][]float64
	for _, step := range []int{1, 2, 3, 4, 5, 10, 20, 50, 100, 200} {
		var set []float64
		for e := first; e <= last; e++ {
			if e%step == 0 {
				set = append(set, math.Pow(base, float64(e)))
			}
		}
		sets = append(sets, set)
	}
	return sets
}

// round returns the multiples of 1, 2 and 5 times powers of ten that a linear
// axis shows, at most ten of them, with steps that grow: 9 steps of three powers of ten,
// from the largest power that is at most a tenth of the range.
func (a *axis) round() [][]float64 {
	var sets [][]float64
	if !(a.up > a.low) {
		return nil
	}
	e := int(math.Floor(math.Log10((a.up - a.low) / 10)))
	for range 3 {
		for _, d := range []float64{1, 2, 5} {
			step := decimal(d, e)
			first, last := math.Ceil(a.low/step), math.Floor(a.up/step)
			if !(last-first <= 9) {
				continue
			}
			var set []float64
			for i := range int(last-first) + 1 {
				set = append(set, decimal(d*(first+float64(i)), e))
			}
			sets = append(sets, set)
		}
		e++
	}
	return sets
}

// decimal returns x 10^e, rounded once: 3 times 0.1 is 0.30000000000000004, and the tick
// would be called that. The sum with 0 makes 0 of -0.
func decimal(x float64, e int) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(x, 'f', -1, 64)+"e"+strconv.Itoa(e), 64)
	if err != nil {
		return math.NaN() // too large to be drawn
	}
	return v + 0
}

// numeral writes a number for a reader, rounded to six digits: 12,000, 1.5M, 0.25, −3,
// 2e-07. One comma is enough: from a million on M and G take the place of more.
func numeral(x float64) string {
	text := strconv.FormatFloat(x, 'g', 6, 64)
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	suffix := ""
	switch abs := math.Abs(v); {
	case abs >= 1e15 || abs > 0 && abs < 1e-4:
		text = strconv.FormatFloat(v, 'g', -1, 64)
	case abs >= 1e9:
		text, suffix = strconv.FormatFloat(v/1e9, 'f', -1, 64), "G"
	case abs >= 1e6:
		text, suffix = strconv.FormatFloat(v/1e6, 'f', -1, 64), "M"
	default:
		text = strconv.FormatFloat(v, 'f', -1, 64)
	}
	negative := strings.HasPrefix(text, "-")
	text = strings.TrimPrefix(text, "-")
	if whole, _, _ := strings.Cut(text, "."); len(whole) > 3 && !strings.Contains(text, "e") {
		text = whole[:len(whole)-3] + "," + text[len(whole)-3:]
	}
	if negative {
		text = "−" + text
	}
	return text + suffix
}

// numeral4 writes a measured number with four digits.
func numeral4(x float64) string {
	if x == 0 || !finite(x) {
		return numeral(x)
	}
	e := int(math.Floor(math.Log10(math.Abs(x)))) - 3
	return numeral(decimal(math.Round(x/math.Pow(10, float64(e))), e))
}

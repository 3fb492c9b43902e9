package report

import (
	"fmt"
	"math"
	"strings"

	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// looks is the number of series that can be told apart.
const looks = 8

// ink is a colour by its use, so that a page can put a dark one in its place. It is an index
// of palette.
// The inks 1 to looks are those of series.
type ink int

// The inks beside those of series; none draws nothing.
const (
	none  ink = -1
	paper ink = 0
	words ink = looks + 1 // text and axes
	faint ink = looks + 2 // less important text
	grid  ink = looks + 3 // lines behind the data

	right  ink = looks + 4         // five steps of it: right answers in a heat map
	wrong  ink = right + heatSteps // five steps: mistakes
	strong ink = wrong + heatSteps // text on the two strongest steps
)

// heatSteps is the number of colours of each kind in a heat map.
const heatSteps = 5

// palette has of each ink its class in the styles of a page, and its colours on
// white and on a dark page. The colours of series differ in lightness, too: from
// black to light orange. On white 1 to 4 and 6 are those of Okabe and Ito (2008); 5 and 7
// are darker than their purple and sky blue, which as thin lines are faint, and brown
// takes the place of yellow, which is hardly seen.
var palette = [...]struct{ class, light, dark string }{
	paper: {"p", "#ffffff", "#161b22"},
	1:     {"1", "#000000", "#f0f3f6"},
	2:     {"2", "#d55e00", "#ff8a3d"},
	3:     {"3", "#0072b2", "#4aa8ec"},
	4:     {"4", "#009e73", "#2fc79a"},
	5:     {"5", "#a8528b", "#e08fc2"},
	6:     {"6", "#e69f00", "#f2b632"},
	7:     {"7", "#3f9bd6", "#8ccbf5"},
	8:     {"8", "#7a5c2e", "#c7a06a"},
	words: {"w", "#1f2328", "#e6edf3"},
	faint: {"a", "#57606a", "#9da7b3"},
	grid:  {"g", "#dfe3e8", "#30363d"},

	// Blue and orange are told apart by the colour-blind, and each step from the next by its
	// lightness. Text has a contrast of 4.5 on all of them (WCAG 2.1, 1.4.3), by a test.
	right:     {"r1", "#e3eef9", "#14263d"},
	right + 1: {"r2", "#c2dbf0", "#1b3a5f"},
	right + 2: {"r3", "#8fbfe0", "#245082"},
	right + 3: {"r4", "#2f74b5", "#4a90d0"},
	right + 4: {"r5", "#0b3f7f", "#9accff"},
	wrong:     {"m1", "#fcd9b8", "#63390f"},
	wrong + 1: {"m2", "#fbb577", "#7b4713"},
	wrong + 2: {"m3", "#f29145", "#955618"},
	wrong + 3: {"m4", "#b84a06", "#e08a3c"},
	wrong + 4: {"m5", "#742a00", "#ffc48c"},
	strong:    {"o", "#ffffff", "#0d1117"},
}

// dashes returns the lengths of dashes and gaps of a look, in pixels; nil: a
// line without gaps.
func dashes(look int) []float64 {
	return [...][]float64{nil, {8, 3}, {3, 2.5}, {9, 3, 2, 3}, {5, 2}, {12, 3, 2, 3, 2, 3}, {1.5, 2}, {6, 6}}[look-1]
}

// symbol returns the outline of a look's marker around 0, of about radius 1;
// nil: a circle. The shapes have about the same area, so that none looks like more.
func symbol(look int) []point {
	switch look {
	case 2: // square
		return []point{{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}}
	case 3: // triangle
		return []point{{0, -1.2}, {1.1, 0.8}, {-1.1, 0.8}}
	case 4: // diamond
		return []point{{0, -1.3}, {1.1, 0}, {0, 1.3}, {-1.1, 0}}
	case 5: // triangle on its head
		return []point{{0, 1.2}, {-1.1, -0.8}, {1.1, -0.8}}
	case 6: // plus
		const a, b = 0.4, 1.3
		return []point{{-a, -b}, {a, -b}, {a, -a}, {b, -a}, {b, a}, {a, a}, {a, b}, {-a, b}, {-a, a}, {-b, a}, {-b, -a}, {-a, -a}}
	case 7: // pentagon
		return polygon(5)
	case 8: // a plus, turned
		var cross []point
		for _, p := range symbol(6) {
			cross = append(cross, point{(p.x - p.y) * math.Sqrt2 / 2, (p.x + p.y) * math.Sqrt2 / 2})
		}
		return cross
	}
	return nil
}

// polygon returns a regular polygon that stands on an edge.
func polygon(n int) []point {
	corners := make([]point, n)
	for i := range corners {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(n))
		corners[i] = point{1.2 * sin, -1.2 * cos}
	}
	return corners
}

// fonts measures texts and draws them on a PNG. An SVG names fonts of the same
// widths.
type fonts struct{ cache *font.Cache }

// fontFamily names fonts that are as wide as the one that texts are measured in.
const fontFamily = "Liberation Sans, Arimo, Arial, Helvetica, sans-serif"

// newFonts reads the font that is part of the program, so that pictures do not depend on those
// of the machine.
func newFonts() (fonts, error) {
	regular, err := opentype.Parse(liberationsansregular.TTF)
	if err != nil {
		return fonts{}, fmt.Errorf("report: font: %w", err)
	}
	return fonts{font.NewCache(font.Collection{{Font: font.Font{Typeface: "Liberation", Variant: "Sans"}, Face: regular}})}, nil
}

// face returns the font at a size in pixels.
func (f fonts) face(size float64) font.Face {
	return f.cache.Lookup(font.Font{Typeface: "Liberation", Variant: "Sans"}, vg.Length(size))
}

// width returns the width of a text in pixels. East Asian letters and emoji,
// which the font lacks, count as one em; of U+2000 to U+22FF it has punctuation and signs.
func (f fonts) width(text string, size float64) float64 {
	wide := 0
	plain := strings.Map(func(r rune) rune {
		if r >= 0x1100 && (r < 0x2000 || r > 0x22ff) {
			wide++
			return -1
		}
		return r
	}, text)
	face := f.face(size)
	return float64(face.Width(plain)) + float64(wide)*size
}

// shorten cuts a text so that it is at most so wide, an ellipsis in place of what goes.
func (f fonts) shorten(text string, size, widest float64) string {
	if f.width(text, size) <= widest {
		return text
	}
	runes := []rune(text)
	if len(runes) > 200 { // far more than fits
		runes = runes[:200]
	}
	for len(runes) > 0 {
		runes = runes[:len(runes)-1]
		if short := string(runes) + "…"; f.width(short, size) <= widest {
			return short
		}
	}
	return "…"
}

// wrap breaks a text at spaces into lines that are at most so wide, where words
// allow it.
func (f fonts) wrap(text string, size, widest float64) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		next := strings.TrimSpace(line + " " + word)
		if line != "" && f.width(next, size) > widest {
			lines = append(lines, line)
			next = word
		}
		line = next
	}
	return append(lines, line)
}

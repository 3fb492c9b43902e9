package report

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// WriteSVG writes a picture that stands for itself. One that cannot be drawn, see
// Figure and Chart, is an error before anything is written.
func WriteSVG(w io.Writer, p Picture) error {
	s, err := p.scene(true)
	if err != nil {
		return err
	}
	return s.svg(w)
}

// svg writes the scene. Each mark has its colour as an attribute, which any
// program understands, and a class by which a page can replace it: f and the
// name of the ink for fills, s for lines.
func (s *scene) svg(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %[1]s %[2]s" role="img" aria-label="%[3]s" font-family="%[4]s">`+"\n",
		number(s.width), number(s.height), escape(s.title), fontFamily)
	fmt.Fprintf(out, "<title>%s</title>\n<desc>%s</desc>\n", escape(s.title), escape(s.text))
	fmt.Fprintf(out, `<rect width="%s" height="%s" fill="%s" class="fp"/>`+"\n", number(s.width), number(s.height), palette[paper].light)
	for _, m := range s.marks {
		m.svg(out)
	}
	out.WriteString("</svg>\n")
	return out.Flush()
}

// svg writes a mark; a hint becomes a group whose title viewers show over it.
func (m mark) svg(out *bufio.Writer) {
	switch {
	case m.hint != "":
		fmt.Fprintf(out, "<g><title>%s</title>", escape(m.hint))
		for _, x := range m.inside {
			x.svg(out)
		}
		out.WriteString("</g>\n")
		return
	case m.label != "":
		p := m.points[0]
		fmt.Fprintf(out, `<text x="%s" y="%s" font-size="%s"`, number(p.x), number(p.y), number(m.size))
		if m.anchor != "start" {
			fmt.Fprintf(out, ` text-anchor="%s"`, m.anchor)
		}
		if m.upwards {
			fmt.Fprintf(out, ` transform="rotate(-90 %s %s)"`, number(p.x), number(p.y))
		}
		fmt.Fprintf(out, "%s>%s</text>\n", m.attributes(), escape(m.label))
		return
	case len(m.points) == 0:
		return
	case m.radius > 0:
		fmt.Fprintf(out, `<circle cx="%s" cy="%s" r="%s"`, number(m.points[0].x), number(m.points[0].y), number(m.radius))
	default:
		out.WriteString(`<path d="`)
		for i, p := range m.points {
			out.WriteString([]string{"M", "L"}[min(i, 1)] + number(p.x) + " " + number(p.y))
		}
		if m.closed {
			out.WriteString("Z")
		}
		out.WriteString(`"`)
	}
	fmt.Fprintf(out, "%s/>\n", m.attributes())
}

// attributes returns the colours and dashes of a mark.
func (m mark) attributes() string {
	var b strings.Builder
	var classes []string
	if m.fill == none {
		b.WriteString(` fill="none"`)
	} else {
		fmt.Fprintf(&b, ` fill="%s"`, palette[m.fill].light)
		classes = append(classes, "f"+palette[m.fill].class)
		if m.opacity > 0 {
			fmt.Fprintf(&b, ` fill-opacity="%s"`, number(m.opacity))
		}
	}
	if m.line != none {
		fmt.Fprintf(&b, ` stroke="%s" stroke-width="%s"`, palette[m.line].light, number(m.width))
		classes = append(classes, "s"+palette[m.line].class)
		if m.fill == none {
			b.WriteString(` stroke-linejoin="round"`)
		}
	}
	if len(m.dash) > 0 {
		list := make([]string, len(m.dash))
		for i, d := range m.dash {
			list[i] = number(d)
		}
		fmt.Fprintf(&b, ` stroke-dasharray="%s"`, strings.Join(list, " "))
	}
	fmt.Fprintf(&b, ` class="%s"`, strings.Join(classes, " "))
	return b.String()
}

// number writes a coordinate with a hundredth of a pixel, less than can be seen, and -0 as 0.
func number(x float64) string {
	return strconv.FormatFloat(math.Round(100*x)/100+0, 'f', -1, 64)
}

// escape makes any text one of XML: what XML cannot hold becomes a replacement
// character, and line ends become spaces.
func escape(text string) string {
	text = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' || r == '\t' {
			return ' '
		}
		return r
	}, text)
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder does not fail
	return b.String()
}

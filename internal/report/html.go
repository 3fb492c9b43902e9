package report

import (
	"bytes"
	_ "embed" // the page and its style
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"
	"unicode"

	"github.com/treeloss/treeloss/labeltree"
)

//go:embed page.css
var pageCSS string

//go:embed page.html
var pageHTML string

// WriteHTML writes the page as one file: styles and pictures are in it, there is
// no script, and nothing is fetched. All text is escaped. It fits screens from
// 380 pixels on, light and dark, and paper. A picture that cannot be drawn and a
// table of uneven rows are errors; nothing is written then.
func (p *Page) WriteHTML(w io.Writer) error {
	if err := p.check(); err != nil {
		return err
	}
	var out bytes.Buffer
	if err := pageTemplate.Execute(&out, p); err != nil {
		return err
	}
	_, err := w.Write(out.Bytes())
	return err
}

// Texts go through escape, which html/template does not do for XML: pictures
// within a page must be well formed by themselves.
var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"text":  escape,
	"style": func() string { return pageCSS + inks() },
	"id":    func(i int) string { return fmt.Sprint("s", i+1) },
	"about": Picture.about,
	"drawn": func(p Picture) (string, error) {
		s, err := p.scene(false)
		if err != nil {
			return "", err
		}
		var out strings.Builder
		err = s.svg(&out)
		return out.String(), err
	},
	"broken": func(cell string) string { // where long names may break
		return strings.NewReplacer("_", "_<wbr>", "+", "+<wbr>").Replace(escape(cell))
	},
	"few": func(t *labeltree.Tree) bool { return t.Classes() <= 30 }, // is open at first
	"tree": func(t *labeltree.Tree) (string, error) {
		var svg strings.Builder
		err := t.WriteSVG(&svg)
		return svg.String(), err
	},
}).Parse(pageHTML))

// Shown returns the rows that a page shows, and Left how many it does not.
func (t Table) Shown() [][]string {
	if t.Most > 0 && len(t.Rows) > t.Most {
		return t.Rows[:t.Most]
	}
	return t.Rows
}

func (t Table) Left() int { return len(t.Rows) - len(t.Shown()) }

// Alignment returns an attribute for the cells of each column: texts stand to the
// left and may be broken, numbers to the right.
func (t Table) Alignment() []string {
	list := make([]string, len(t.Heads))
	for i := range list {
		if i == 0 || slices.ContainsFunc(t.Rows, func(row []string) bool { return strings.IndexFunc(row[i], unicode.IsLetter) == 0 }) {
			list[i] = ` class="text"`
		}
	}
	return list
}

// inks returns the styles that colour pictures by what a page has as its
// variables.
func inks() string {
	var rules, light, dark strings.Builder
	for i := paper; i <= grid; i++ {
		c := palette[i].class
		fmt.Fprintf(&rules, ".figure .f%s { fill: var(--i%[1]s) }\n.figure .s%[1]s { stroke: var(--i%[1]s) }\n", c)
		fmt.Fprintf(&light, " --i%s: %s;", c, palette[i].light)
		fmt.Fprintf(&dark, " --i%s: %s;", c, palette[i].dark)
	}
	return rules.String() + ":root {" + light.String() + " }\n@media screen and (prefers-color-scheme: dark) { :root {" + dark.String() + " } }\n"
}

package report

import (
	"bytes"
	_ "embed" // the page's style
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/treeloss/treeloss/labeltree"
)

//go:embed page.css
var pageCSS string

// WriteHTML writes the page as one file: styles and pictures are in it, there is
// no script, and nothing is fetched. All text is escaped. It fits screens from
// 380 pixels on, light and dark, and paper. A picture that cannot be drawn and a
// table of uneven rows are errors; nothing is written then.
func (p *Page) WriteHTML(w io.Writer) error {
	if err := p.check(); err != nil {
		return err
	}
	var b markup
	b.put(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="treeloss">
<title>%s</title>
<style>
`, p.Title)
	b.own(pageCSS + inks())
	b.put("</style>\n</head>\n<body>\n<main>\n<header>\n<h1>%s</h1>\n", p.Title)
	b.paragraphs(p.Lead)
	b.put("</header>\n")
	if len(p.Sections) > 2 {
		b.contents(p)
	}
	for i, s := range p.Sections {
		if err := b.section(fmt.Sprintf("s%d", i+1), s); err != nil {
			return err
		}
	}
	if len(p.Facts) > 0 {
		b.put("<section id=\"made\">\n<h2>" + madeHeading + "</h2>\n<dl>\n")
		for _, f := range p.Facts {
			b.put("<div><dt>%s</dt><dd>%s</dd></div>\n", f.Name, f.Value)
		}
		b.put("</dl>\n</section>\n")
	}
	b.put("</main>\n</body>\n</html>\n")
	_, err := w.Write(b.out.Bytes())
	return err
}

const madeHeading = "How this was made"

// markup is HTML in the making. It stands in for html/template, whose use of
// reflection keeps the linker from leaving out methods that nobody calls: that
// made the program 4.8 MB larger. What it gives is needed in one form only: texts
// between tags and in quoted attributes.
type markup struct{ out bytes.Buffer }

// put writes a format of our own; the texts in it are escaped.
func (b *markup) put(format string, texts ...string) {
	escaped := make([]any, len(texts))
	for i, text := range texts {
		escaped[i] = escape(text)
	}
	fmt.Fprintf(&b.out, format, escaped...)
}

// own writes markup of our own making as it is.
func (b *markup) own(text string) { b.out.WriteString(text) }

func (b *markup) paragraphs(texts []string) {
	for _, text := range texts {
		b.put("<p>%s</p>\n", text)
	}
}

func (b *markup) contents(p *Page) {
	b.put("<nav aria-label=\"Contents\"><ul>\n")
	for i, s := range p.Sections {
		b.put("<li><a href=\"#s%s\">%s</a></li>\n", fmt.Sprint(i+1), s.Heading)
	}
	if len(p.Facts) > 0 {
		b.put("<li><a href=\"#made\">" + madeHeading + "</a></li>\n")
	}
	b.put("</ul></nav>\n")
}

func (b *markup) section(id string, s Section) error {
	b.put("<section id=\"%s\">\n<h2>%s</h2>\n", id, s.Heading)
	b.paragraphs(s.Paragraphs)
	if len(s.Pictures) > 0 {
		b.put("<div class=\"figures\">\n")
		for _, p := range s.Pictures {
			if err := b.picture(p); err != nil {
				return err
			}
		}
		b.put("</div>\n")
	}
	if len(s.Tables) > 0 {
		b.put("<div class=\"tables\">\n")
		for _, t := range s.Tables {
			b.table(t)
		}
		b.put("</div>\n")
	}
	if s.Tree != nil {
		if err := b.tree(s.Tree); err != nil {
			return err
		}
	}
	b.put("</section>\n")
	return nil
}

func (b *markup) picture(p Picture) error {
	s, err := p.scene(false)
	if err != nil {
		return err
	}
	a := p.about()
	b.put("<figure class=\"figure\">\n<h3>%s</h3>\n", a.title)
	if err := s.svg(&b.out); err != nil {
		return err
	}
	if a.caption != "" {
		b.put("<figcaption>%s</figcaption>\n", a.caption)
	}
	b.put("</figure>\n")
	return nil
}

func (b *markup) table(t Table) {
	rows := t.Rows
	if t.Most > 0 && len(rows) > t.Most {
		rows = rows[:t.Most]
	}
	if t.Closed {
		b.put("<details>\n<summary>%s (%s rows)</summary>\n", t.Caption, fmt.Sprint(len(t.Rows)))
	}
	b.put("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">\n<table>\n<caption><span>%s</span></caption>\n<thead><tr>", t.Caption, t.Caption)
	breaks := strings.NewReplacer("_", "_<wbr>", "+", "+<wbr>") // where long names may break
	align := t.alignment()
	for i, head := range t.Heads {
		b.own("<th scope=\"col\"" + align[i] + ">")
		b.put("%s</th>", head)
	}
	b.put("</tr></thead>\n<tbody>\n")
	for _, row := range rows {
		b.put("<tr>")
		for i, cell := range row {
			tag := "td"
			if i == 0 {
				tag = `th scope="row"`
			}
			b.own("<" + tag + align[i] + ">")
			b.own(breaks.Replace(escape(cell)) + "</" + tag[:2] + ">")
		}
		b.put("</tr>\n")
	}
	b.put("</tbody>\n</table>\n</div>\n")
	if left := len(t.Rows) - len(rows); left > 0 {
		b.put("<p>%s more rows are not shown.</p>\n", fmt.Sprint(left))
	}
	if t.Closed {
		b.put("</details>\n")
	}
}

// alignment returns an attribute for the cells of each column: texts stand to the
// left and may be broken, numbers to the right.
func (t Table) alignment() []string {
	list := make([]string, len(t.Heads))
	for i := range list {
		if i == 0 || slices.ContainsFunc(t.Rows, func(row []string) bool { return strings.IndexFunc(row[i], unicode.IsLetter) == 0 }) {
			list[i] = ` class="text"`
		}
	}
	return list
}

// openTree is the number of classes up to which a tree is open at first.
const openTree = 30

// tree draws a tree. Its data is left out: two trees would share an id.
func (b *markup) tree(t *labeltree.Tree) error {
	var svg bytes.Buffer
	if err := t.WriteSVG(&svg); err != nil {
		return err
	}
	picture, rest, _ := strings.Cut(svg.String(), "<metadata")
	if _, after, found := strings.Cut(rest, "</metadata>"); found {
		picture += after
	}
	about := fmt.Sprintf("Tree of %d classes: %d nodes, height %d", t.Classes(), t.Len(), t.Height())
	open := ""
	if t.Classes() <= openTree {
		open = " open"
	}
	b.own("<details" + open + ">\n")
	b.put("<summary>%s</summary>\n<div class=\"wide tree\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">\n", about, about)
	b.own(picture)
	b.put("</div>\n</details>\n")
	return nil
}

// inks returns the styles that colour pictures by what a page has as its
// variables.
func inks() string {
	var rules, light, dark strings.Builder
	for i := paper; i <= grid; i++ {
		c := i.class()
		fmt.Fprintf(&rules, ".figure .f%s { fill: var(--i%[1]s) }\n.figure .s%[1]s { stroke: var(--i%[1]s) }\n", c)
		fmt.Fprintf(&light, " --i%s: %s;", c, i.hex())
		fmt.Fprintf(&dark, " --i%s: %s;", c, i.dark())
	}
	return rules.String() + ":root {" + light.String() + " }\n@media screen and (prefers-color-scheme: dark) { :root {" + dark.String() + " } }\n"
}

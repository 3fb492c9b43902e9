package report

import (
	"bytes"
	_ "embed" // the page's template and style
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/treeloss/treeloss/labeltree"
)

//go:embed page.html
var pageHTML string

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
	view := pageView{Title: p.Title, Lead: p.Lead, Facts: p.Facts, Style: template.CSS(pageCSS + inks())}
	for i, s := range p.Sections {
		section := sectionView{ID: fmt.Sprintf("s%d", i+1), Heading: s.Heading, Paragraphs: s.Paragraphs, Tables: s.Tables}
		for _, picture := range s.Pictures {
			scene, err := picture.scene(false)
			if err != nil {
				return err
			}
			var svg bytes.Buffer
			if err := scene.svg(&svg); err != nil {
				return err
			}
			a := picture.about()
			section.Pictures = append(section.Pictures, pictureView{a.title, a.caption, template.HTML(svg.String())})
		}
		if s.Tree != nil {
			var err error
			if section.Tree, err = treeOf(s.Tree); err != nil {
				return err
			}
		}
		view.Sections = append(view.Sections, section)
	}
	t, err := template.New("page").Parse(pageHTML)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, view); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_, err = w.Write(out.Bytes())
	return err
}

// pageView is what the template sees of a Page.
type pageView struct {
	Title    string
	Style    template.CSS
	Lead     []string
	Sections []sectionView
	Facts    []Fact
}

type sectionView struct {
	ID         string
	Heading    string
	Paragraphs []string
	Pictures   []pictureView
	Tables     []Table
	Tree       *treeView
}

type pictureView struct {
	Title, Caption string
	SVG            template.HTML // of our own making, with escaped texts
}

type treeView struct {
	About string
	Open  bool
	SVG   template.HTML
}

// openTree is the number of classes up to which a tree is open at first.
const openTree = 30

// treeOf draws a tree for a page. The tree's data is left out: two trees would
// share an id.
func treeOf(t *labeltree.Tree) (*treeView, error) {
	var svg bytes.Buffer
	if err := t.WriteSVG(&svg); err != nil {
		return nil, err
	}
	before, rest, _ := strings.Cut(svg.String(), "<metadata")
	if _, after, found := strings.Cut(rest, "</metadata>"); found {
		before += after
	}
	about := fmt.Sprintf("Tree of %d classes, %d nodes, height %d", t.Classes(), t.Len(), t.Height())
	return &treeView{about, t.Classes() <= openTree, template.HTML(before)}, nil
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

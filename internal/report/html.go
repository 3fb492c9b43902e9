package report

import (
	"bytes"
	_ "embed" // the page and its style
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/treeloss/treeloss/internal/atomicfile"
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
	"text":   escape,
	"style":  func() string { return pageCSS + inks() + scrollRules() },
	"id":     func(i int) string { return fmt.Sprint("s", i+1) },
	"about":  Picture.about,
	"blocks": func(s Section) ([]block, error) { return s.blocks() },
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
		err := writeTree(&svg, t)
		return svg.String(), err
	},
}).Parse(pageHTML))

// Shown returns the rows that a page shows: the first Most. They share memory with Rows.
func (t Table) Shown() [][]string {
	if t.Most > 0 && len(t.Rows) > t.Most {
		return t.Rows[:t.Most]
	}
	return t.Rows
}

// Left returns how many rows a page does not show.
func (t Table) Left() int { return len(t.Rows) - len(t.Shown()) }

// Alignment returns an attribute for the cells of each column: texts stand to the
// left and may be broken, numbers to the right.
func (t Table) Alignment() []string {
	list := make([]string, len(t.Heads))
	for i, text := range t.texts() {
		if text {
			list[i] = ` class="text"`
		}
	}
	return list
}

// inks returns the styles that colour pictures by what a page has as its
// variables: a rule of a style counts more than an attribute of SVG, so that a picture in a
// page follows the page, and the same picture as a file has the colours for white.
func inks() string {
	var rules, light, dark strings.Builder
	for i := paper; i <= strong; i++ {
		c := palette[i].class
		fmt.Fprintf(&rules, ".figure .f%s { fill: var(--i%[1]s) }\n.figure .s%[1]s { stroke: var(--i%[1]s) }\n", c)
		fmt.Fprintf(&light, " --i%s: %s;", c, palette[i].light)
		fmt.Fprintf(&dark, " --i%s: %s;", c, palette[i].dark)
	}
	return rules.String() + ":root {" + light.String() + " }\n@media screen and (prefers-color-scheme: dark) { :root {" + dark.String() + " } }\n"
}

// Save writes the page as index.html into the folder dir, and beside it each
// picture as NAME.svg, NAME.png and NAME.csv, each table with a name as NAME.csv
// and each tree as tree.svg, tree-2.svg and so on. The folder is made if it is not
// there, its parent must be. It returns the names of the files, index.html first.
//
// All is drawn before anything is written, and all is on disk under other names
// before the first file is renamed, index.html last: a full disk leaves a page that
// was there as it was, and a folder that was made for the new one is removed. Other
// files in the folder are not touched.
func (p *Page) Save(dir string) (names []string, err error) {
	files, err := p.files()
	if err != nil {
		return nil, err
	}
	switch made := os.Mkdir(dir, 0o777); {
	case made == nil:
		defer func() {
			if err != nil {
				_ = os.Remove(dir) // which leaves what others wrote into it
			}
		}()
	case !os.IsExist(made):
		return nil, fmt.Errorf("report: folder %s: %w", dir, made)
	}
	var written []*atomicfile.File
	defer func() {
		for _, f := range written {
			f.Discard()
		}
	}()
	for _, f := range files {
		out, err := atomicfile.Create(filepath.Join(dir, f.name))
		if err != nil {
			return nil, err
		}
		written = append(written, out)
		_, _ = out.Write(f.data) // an error stays and shows in Prepare
		if err := out.Prepare(); err != nil {
			return nil, err
		}
		names = append(names, f.name)
	}
	for _, f := range slices.Backward(written) { // index.html, which links to the others, is the last
		if err := f.Commit(); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// writeTree draws a tree. A root whose name was made up, such as pseudo1, is called
// what it stands for: all classes.
func writeTree(w io.Writer, t *labeltree.Tree) error {
	if !t.MadeUp(0) {
		return t.WriteSVG(w)
	}
	nodes := make([]labeltree.Node, t.Len())
	for v := range nodes {
		nodes[v] = labeltree.Node{Name: t.Name(v), Parent: t.Parent(v), Class: t.Class(v), Length: t.Length(v)}
	}
	nodes[0].Name = "all classes"
	named, err := labeltree.New(nodes)
	if err == nil && !t.Weighted() {
		named, err = named.WithLengths(nil)
	}
	if err != nil {
		return t.WriteSVG(w) // a class has that name
	}
	return named.WriteSVG(w)
}

// file is one file of a page.
type file struct {
	name string
	data []byte
}

// files returns all files of the page, index.html first, all in memory.
func (p *Page) files() (files []file, err error) {
	add := func(name string, write func(io.Writer) error) {
		var out bytes.Buffer
		if err == nil {
			err = write(&out)
		}
		files = append(files, file{name, out.Bytes()})
	}
	add("index.html", p.WriteHTML) // which checks the page
	trees := 0
	for _, s := range p.Sections {
		for _, picture := range s.Pictures {
			if err != nil {
				return nil, err
			}
			name := picture.about().Name
			add(name+".svg", func(w io.Writer) error { return WriteSVG(w, picture) })
			add(name+".png", func(w io.Writer) error { return WritePNG(w, picture) })
			add(name+".csv", picture.WriteCSV)
		}
		for _, t := range s.Tables {
			if t.Name != "" {
				add(t.Name+".csv", t.WriteCSV)
			}
		}
		for _, f := range s.Files {
			add(f.Name, f.Write)
		}
		if s.Tree != nil {
			trees++
			add(treeName(trees)+".svg", func(w io.Writer) error { return writeTree(w, s.Tree) })
		}
	}
	return files, err
}

// WriteCSV writes the heads and rows of the table, or File in their place, by RFC 4180 but
// for line ends of one character.
func (t Table) WriteCSV(w io.Writer) error {
	if t.File != nil {
		return csv.NewWriter(w).WriteAll(t.File)
	}
	return csv.NewWriter(w).WriteAll(append([][]string{t.Heads}, t.Rows...))
}

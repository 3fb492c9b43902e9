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
	"unicode"

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

// Left returns how many rows a page does not show.
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

// Save writes the page as index.html into the folder dir, and beside it each
// picture as NAME.svg, NAME.png and NAME.csv, each table with a name as NAME.csv
// and each tree as tree.svg, tree-2.svg and so on. The folder is made if it is not
// there, its parent must be. It returns the names of the files, index.html first.
//
// All is drawn before anything is written. Each file is written beside its
// place and then renamed, index.html last, so that a failure leaves each file
// either old or new, and whole. Other files in the folder are not touched.
func (p *Page) Save(dir string) ([]string, error) {
	files, err := p.files()
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o777); err != nil && !os.IsExist(err) {
		return nil, fmt.Errorf("report: folder %s: %w", dir, err)
	}
	var names []string
	for i := len(files) - 1; i >= 0; i-- {
		if err := atomicfile.WriteBytes(filepath.Join(dir, files[i].name), files[i].data); err != nil {
			return nil, err
		}
	}
	for _, f := range files {
		names = append(names, f.name)
	}
	return names, nil
}

// file is one file of a page.
type file struct {
	name string
	data []byte
}

// files returns all files of the page, index.html first.
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
		if s.Tree != nil {
			trees++
			add(treeName(trees)+".svg", s.Tree.WriteSVG)
		}
	}
	return files, err
}

// WriteCSV writes the heads and rows of the table.
func (t Table) WriteCSV(w io.Writer) error {
	return csv.NewWriter(w).WriteAll(append([][]string{t.Heads}, t.Rows...))
}

package report

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/treeloss/treeloss/internal/atomicfile"
)

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

type file struct {
	name string
	data []byte
}

// files returns all files of the page, index.html first.
func (p *Page) files() ([]file, error) {
	var files []file
	seen := map[string]bool{}
	add := func(name string, write func(io.Writer) error) error {
		if seen[name] {
			return fmt.Errorf("report: two parts of the page are named %s, want a name each", name)
		}
		seen[name] = true
		var out bytes.Buffer
		if err := write(&out); err != nil {
			return err
		}
		files = append(files, file{name, out.Bytes()})
		return nil
	}
	if err := add("index.html", p.WriteHTML); err != nil {
		return nil, err
	}
	trees := 0
	for _, s := range p.Sections {
		for _, picture := range s.Pictures {
			name := picture.about().Name
			err := cmp.Or(
				add(name+".svg", func(w io.Writer) error { return WriteSVG(w, picture) }),
				add(name+".png", func(w io.Writer) error { return WritePNG(w, picture) }),
				add(name+".csv", picture.WriteCSV))
			if err != nil {
				return nil, err
			}
		}
		for _, t := range s.Tables {
			if t.Name == "" {
				continue
			}
			if err := add(t.Name+".csv", t.WriteCSV); err != nil {
				return nil, err
			}
		}
		if s.Tree != nil {
			name := "tree.svg"
			if trees++; trees > 1 {
				name = fmt.Sprintf("tree-%d.svg", trees)
			}
			if err := add(name, s.Tree.WriteSVG); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

// WriteCSV writes the heads and rows of the table.
func (t Table) WriteCSV(w io.Writer) error {
	return csv.NewWriter(w).WriteAll(append([][]string{t.Heads}, t.Rows...))
}

package report

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/treeloss/treeloss/labeltree"
)

// Page is an HTML page. Its order is that of its fields.
type Page struct {
	Title    string
	Lead     []string // paragraphs below the title: what was done and what came of it
	Warnings []string // what a reader must know before believing the numbers, in a box
	Sections []Section
	Facts    []Fact // how it was made: protocol, seeds, program version, machine, time taken
}

// Section is a part of a page with a heading of its own.
type Section struct {
	Heading    string
	Closed     bool // only heading and Short show until it is opened; for details
	Short      string
	Paragraphs []string
	Pictures   []Picture       // side by side where the page is wide
	Tables     []Table         // one that is narrow stands beside a picture that would be alone
	Tree       *labeltree.Tree // drawn with its classes; nil: none
	Files      []File          // linked to, for what is too large to be shown
}

// File is a further file of a page.
type File struct {
	Name  string // with its ending
	About string // the text of the link
	Write func(io.Writer) error
}

// Table is a table with a line of heads.
type Table struct {
	Name    string // of its CSV file in Save, as that of a Figure; "": no file
	Caption string
	Heads   []string
	Rows    [][]string // the first cell of each is its head
	Closed  bool       // only the caption shows until it is opened; for long tables
	Most    int        // rows that a page shows, 0 for all; the CSV file has all
	Cards   bool       // on a narrow screen each row is a card of its own; for texts
	File    [][]string // heads and rows of the CSV file, where these have more digits; nil: the same
}

// Fact is one line about how a page was made.
type Fact struct{ Name, Value string }

// Machine describes the machine at hand, for a Fact.
func Machine() string {
	return fmt.Sprintf("%s/%s, %d processor threads, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
}

// names are those of the files of a page, no two of which may have one.
type names map[string]bool

// take takes a name, without the ending of its file.
func (n names) take(name string) error {
	switch {
	case name == "index":
		return fmt.Errorf("report: the name %q is that of the page", name)
	case n[name]:
		return fmt.Errorf("report: two pictures, tables or trees are named %q, want a name each", name)
	}
	n[name] = true
	return nil
}

// check returns an error if a part of the page is none, or two files have one name.
func (p *Page) check() error {
	if p.Title == "" {
		return fmt.Errorf("report: the page has no title")
	}
	taken := names{"index": true}
	trees := 0
	for _, s := range p.Sections {
		if s.Heading == "" {
			return fmt.Errorf("report: a section has no heading")
		}
		for _, picture := range s.Pictures {
			if picture == nil {
				return fmt.Errorf("report: section %q has a nil picture", s.Heading)
			}
			if err := cmp.Or(picture.check(), taken.take(picture.about().Name)); err != nil {
				return err
			}
		}
		for _, t := range s.Tables {
			if t.Caption == "" {
				return fmt.Errorf("report: section %q has a table without a caption", s.Heading)
			}
			if err := t.check(taken); err != nil {
				return err
			}
		}
		for _, f := range s.Files {
			base, _, _ := strings.Cut(f.Name, ".")
			if err := cmp.Or(checkName(base), taken.take(f.Name)); err != nil {
				return fmt.Errorf("report: file %s: %w", f.Name, err)
			}
			if taken[base] { // as a picture or a table with the same ending
				return fmt.Errorf("report: file %s has the name of a picture or table", f.Name)
			}
		}
		if s.Tree != nil {
			trees++
			if err := taken.take(treeName(trees)); err != nil {
				return err
			}
		}
	}
	return nil
}

// check returns an error if the table is uneven, or its file cannot have its name.
func (t Table) check(taken names) error {
	for i, row := range t.Rows {
		if len(row) != len(t.Heads) {
			return fmt.Errorf("report: table %q: row %d has %d cells, want %d as the heads", t.Caption, i, len(row), len(t.Heads))
		}
	}
	if t.Name == "" {
		return nil
	}
	if err := checkName(t.Name); err != nil {
		return fmt.Errorf("report: table %q: %w", t.Caption, err)
	}
	return taken.take(t.Name)
}

// treeName is the name of the n-th tree of a page, from 1.
func treeName(n int) string {
	if n == 1 {
		return "tree"
	}
	return fmt.Sprintf("tree-%d", n)
}

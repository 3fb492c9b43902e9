package dataset

import (
	"fmt"
	"strings"

	"github.com/treeloss/treeloss/internal/input"
)

// parts is what a source gives, in names.
type parts struct {
	kind       Kind
	labelName  string // columns by name, "" where there is none
	textName   string
	weightName string
	mixed      bool     // the first label is a distribution
	columns    []string // numeric columns by name; nil where they have none
	width      int      // numeric columns
	about      string   // the choice in words
}

// what implements source.
func (p parts) what() parts { return p }

// describe puts a choice into names and words.
func describe(cols []column, c choice, noun string) parts {
	var p parts
	var s []string
	name := func(i int) string {
		if i < 0 {
			return ""
		}
		return cols[i].name
	}
	p.labelName, p.textName, p.weightName = name(c.label), name(c.text), name(c.weight)
	p.mixed = c.label >= 0 && cols[c.label].holds == soft
	s = append(s, labelPart(p, noun))
	if c.text >= 0 {
		s = append(s, fmt.Sprintf("text %s %q", noun, p.textName))
	} else {
		p.kind, p.width = Numbers, len(c.numbers)
		for _, i := range c.numbers {
			p.columns = append(p.columns, cols[i].name)
		}
		s = append(s, fmt.Sprintf("%s %s", input.Plural(p.width, "numeric "+noun), between(p.columns)))
	}
	if c.weight >= 0 {
		s = append(s, fmt.Sprintf("weight %s %q", noun, p.weightName))
	}
	p.about = strings.Join(s, ", ")
	if n := len(c.left); n > 0 {
		p.about += fmt.Sprintf(" (%s left out)", leftOut(cols, c.left, noun))
	}
	return p
}

func labelPart(p parts, noun string) string {
	if p.labelName == "" {
		return "no labels"
	}
	if p.mixed {
		return fmt.Sprintf("label %s %q (soft labels)", noun, p.labelName)
	}
	return fmt.Sprintf("label %s %q", noun, p.labelName)
}

func leftOut(cols []column, left []int, noun string) string {
	const most = 5
	s := noun + " "
	if len(left) > 1 {
		s = noun + "s "
	}
	for n, i := range left {
		if n == most {
			return s + fmt.Sprintf(" and %d more", len(left)-most)
		}
		if n > 0 {
			s += ", "
		}
		s += input.Clip(cols[i].name)
	}
	return s
}

// agree refuses a file that holds something else than the first.
func (p parts) agree(name string, q parts, file string) error {
	switch {
	case p.kind != q.kind:
		return input.Refuse(file, 0, 0, "holds %s, but %s holds %s; train on one kind at a time", q.kind, name, p.kind)
	case p.width != q.width:
		return input.Refuse(file, 0, 0, "has %s, but %s has %d; bring the same columns", input.Plural(q.width, "numeric column"), name, p.width)
	case (p.weightName == "") != (q.weightName == ""):
		return input.Refuse(file, 0, 0, "only one of it and %s has weights", name)
	}
	return nil
}

package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// block is a picture or a table on a page.
type block struct {
	Picture Picture
	Table   *Table
	Class   string // of its element
	Scroll  string // class of the line that says that it must be scrolled on narrow screens; "": it need not
}

// Sizes of blocks, in pixels.
const (
	halfWidth = 540.0 // the widest that stands beside another
	cellSize  = 15.0  // of the letters of a table
	cellGap   = 12.0
	leastText = 120.0 // a column of texts is not narrower
	mostText  = 260.0 // and would not be wider if it need not
)

// blocks lays out the pictures and tables of a section on two columns: what is narrow
// shares a line with the next that is, and one that stays alone takes the whole line,
// so that no line is half empty. Each picture is drawn here for its width alone, and once
// more for the page.
func (s *Section) blocks() ([]block, error) {
	fonts, err := newFonts()
	if err != nil {
		return nil, err
	}
	var list []block
	var half []bool
	for _, p := range s.Pictures {
		drawn, err := p.scene(false)
		if err != nil {
			return nil, err
		}
		b := block{Picture: p, Class: "figure"}
		if drawn.width > halfWidth {
			b.Class, b.Scroll = "figure large", scrollClass(0.62*drawn.width)
		}
		list, half = append(list, b), append(half, drawn.width <= halfWidth)
	}
	for i := range s.Tables {
		least, natural := s.Tables[i].widths(fonts)
		b := block{Table: &s.Tables[i], Class: "table"}
		if !s.Tables[i].Cards {
			b.Scroll = scrollClass(least)
		}
		list, half = append(list, b), append(half, natural <= 1.5*halfWidth && least <= halfWidth && !s.Tables[i].Closed)
	}
	// A narrow block pulls the next narrow one to its side.
	for i := 0; i < len(list); i++ {
		if !half[i] {
			list[i].Class += " full"
			continue
		}
		next := slices.Index(half[i+1:], true) + i + 1
		if next == i {
			list[i].Class += " full alone"
			continue
		}
		list = slices.Insert(slices.Delete(slices.Clone(list), next, next+1), i+1, list[next])
		if list[i].Picture != nil && list[i+1].Table != nil {
			list[i].Class += " beside" // a table, which may be much longer
		}
		half = slices.Insert(slices.Delete(slices.Clone(half), next, next+1), i+1, true)
		i++
	}
	return list, nil
}

// scrollStep is the step between the widths of screens for which a page has a rule.
const scrollStep = 50

// scrollClass is the class of a hint that shows where a screen is narrower than what has
// this width and the margins of the page; "" for what fits the narrowest telephones, of 320
// pixels. A style cannot compare widths of its own, hence a rule for each step.
func scrollClass(width float64) string {
	const margins = 32
	n := (int(width)+margins)/scrollStep + 1
	if n*scrollStep <= 320 {
		return ""
	}
	return fmt.Sprintf("below%d", min(n*scrollStep, 1200))
}

// scrollRules are the styles of these hints.
func scrollRules() string {
	var b strings.Builder
	for width := 350; width <= 1200; width += scrollStep {
		fmt.Fprintf(&b, "@media screen and (max-width: %dpx) { .below%d { display: block } }\n", width, width)
	}
	return b.String()
}

// widths estimates the least width of the table, where texts break, and the one that it
// takes if it has room, in pixels, from the first 300 rows.
func (t *Table) widths(fonts fonts) (least, natural float64) {
	texts := t.texts()
	rows := t.Shown()
	rows = rows[:min(len(rows), 300)]
	for i, head := range t.Heads {
		const bold = 1.08 // heads are
		narrow, wide := 0.0, bold*fonts.width(head, cellSize)
		for word := range strings.FieldsSeq(head) { // between which heads break
			narrow = max(narrow, bold*fonts.width(word, cellSize))
		}
		for _, row := range rows {
			cell := fonts.width(row[i], cellSize)
			if texts[i] {
				cell = min(cell, mostText)
				narrow = max(narrow, min(cell, leastText))
			} else {
				narrow = max(narrow, cell)
			}
			wide = max(wide, cell)
		}
		least, natural = least+narrow+cellGap, natural+wide+cellGap
	}
	return least, natural
}

// texts tells which columns hold texts: the first, and those with a cell that begins with a
// letter. All rows count, also those that are not shown.
func (t *Table) texts() []bool {
	list := make([]bool, len(t.Heads))
	for i := range list {
		list[i] = i == 0 || slices.ContainsFunc(t.Rows, func(row []string) bool { return strings.IndexFunc(row[i], unicode.IsLetter) == 0 })
	}
	return list
}

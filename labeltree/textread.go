package labeltree

import (
	"bytes"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The parts of a drawing's lines: what comes before a name, and what stands
// above it for a node with and without further siblings.
const (
	drawnNext, drawnLast   = "├── ", "└── "
	drawnBeside, drawnPast = "│   ", "    "
)

// ReadText reads what WriteText draws of a whole tree, as it is or after it was
// changed by hand: depth is counted in steps of four characters, a name in
// parentheses is a pseudoclass, one in double quotes has Go's escapes. If every
// line ends in a number, these are lengths; where names alone look so, WriteText
// quotes the root's. The drawing does not say which number a class has: the
// classes are numbered in the order of their labels' bytes, as package dataset
// numbers them. ReadTaxonomy with the labels numbers them by these. name is the
// file's name, for errors, which are *SyntaxError; a drawing with parts left
// out is refused.
func ReadText(r io.Reader, name string) (*Tree, error) {
	data, err := readAll(r, name)
	if err != nil {
		return nil, err
	}
	return parseText(data, name)
}

func parseText(data []byte, name string) (*Tree, error) {
	p, err := scanText(data, name)
	if err != nil {
		return nil, err
	}
	p.fits(nil)
	return p.assemble(name)
}

// isDrawn tells a drawing by the second of its lines; a tree of one node by the
// quotes that WriteText puts around its name.
func isDrawn(data []byte) bool {
	first, rest, _ := bytes.Cut(bytes.TrimSpace(data), []byte("\n"))
	if len(rest) > 0 {
		rest = bytes.TrimLeft(rest, "\r\n")
		return bytes.HasPrefix(rest, []byte(drawnNext)) || bytes.HasPrefix(rest, []byte(drawnLast))
	}
	text, _, _ := cutLength(string(first))
	quoted, err := strconv.QuotedPrefix(text)
	return err == nil && quoted == text && strings.HasPrefix(text, `"`)
}

// cutLength cuts off a number at the end of a line.
func cutLength(line string) (name string, length float64, found bool) {
	at := strings.LastIndexByte(line, ' ')
	if at < 1 || at+1 == len(line) || line[at+1] < '0' || line[at+1] > '9' {
		return line, 0, false
	}
	x, err := strconv.ParseFloat(line[at+1:], 64)
	if err != nil || !(x >= 0) || x > math.MaxFloat64 {
		return line, 0, false
	}
	return line[:at], x, true
}

// scanText reads a drawing.
func scanText(data []byte, name string) (parts, error) {
	var p parts
	fail := func(line int, message string) (parts, error) {
		return parts{}, &SyntaxError{File: name, Line: line, Message: message}
	}
	var drawn []string
	var above []int // the last node at each depth
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		depth, text := 0, line
		for {
			if rest, ok := strings.CutPrefix(text, drawnBeside); ok {
				depth, text = depth+1, rest
			} else if rest, ok := strings.CutPrefix(text, drawnPast); ok {
				depth, text = depth+1, rest
			} else {
				break
			}
		}
		rest, next := strings.CutPrefix(text, drawnNext)
		rest, last := strings.CutPrefix(rest, drawnLast)
		branch := next || last
		if branch {
			depth++
		}
		switch {
		case depth > 0 && !branch:
			return fail(number, "a name without ├── or └── before it, in steps of four characters")
		case depth == 0 && len(p.name) > 0:
			return fail(number, "a second root; want one tree a file")
		case depth > len(above):
			return fail(number, "a node that hangs below nothing: its line goes in more than one step deeper than the line above")
		}
		if rest == "" {
			return fail(number, "a node without a name")
		}
		above = above[:depth]
		parent := -1
		if depth > 0 {
			parent = above[depth-1]
		}
		above = append(above, p.add(parent, -1, ""))
		p.line = append(p.line, number)
		drawn = append(drawn, rest)
	}
	if len(drawn) == 0 {
		return fail(1, "nothing drawn, want a tree")
	}
	if !slices.ContainsFunc(drawn, func(line string) bool { _, _, found := cutLength(line); return !found }) {
		p.length = make([]float64, len(drawn))
	}
	for v, text := range drawn {
		if p.length != nil {
			text, p.length[v], _ = cutLength(text)
		}
		message := p.nameDrawn(v, text)
		if message != "" {
			return fail(p.line[v], message)
		}
	}
	classes := 0
	for v, c := range p.class {
		if c >= 0 {
			p.class[v] = classes
			classes++
		}
	}
	return p, nil
}

// nameDrawn takes a name out of its parentheses and quotes. It marks a class by
// any number.
func (p *parts) nameDrawn(v int, text string) (problem string) {
	if strings.HasPrefix(text, "(") && strings.HasSuffix(text, ")") {
		text = text[1 : len(text)-1]
	} else {
		p.class[v] = 0
	}
	switch {
	case strings.HasPrefix(text, `"`):
		name, err := strconv.Unquote(text)
		if err != nil {
			return "a name that begins with a quote and is not quoted as in Go: " + text
		}
		text = name
	case strings.Contains(text, "…"):
		return "the drawing leaves parts out (" + text + "); draw the whole tree, or quote this name"
	}
	if text == "" {
		return "a node without a name"
	}
	p.name[v] = text
	return ""
}

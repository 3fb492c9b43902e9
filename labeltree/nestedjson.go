package labeltree

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/treeloss/treeloss/internal/input"
)

// value is a JSON value that keeps the order of its keys.
type value struct {
	kind  byte   // one of { [ " 0 n: object, array, text, number or truth value, null
	text  string // of a text, a number or a truth value
	keys  []string
	items []*value
	line  int
}

// item returns the value of a key, nil if there is none.
func (v *value) item(key string) *value {
	for i, k := range v.keys {
		if k == key {
			return v.items[i]
		}
	}
	return nil
}

// readValue reads one JSON value, with a stack of its own.
func readValue(data []byte, name string) (*value, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	place := scanner{data: data}
	var root *value
	var open []*value
	for root == nil || len(open) > 0 {
		token, err := dec.Token()
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, input.Refuse(name, lineOf(data, len(data)), 0, "the JSON ends early; every { and [ must be closed")
		}
		if err != nil {
			return nil, jsonError(err, data, name)
		}
		place.at = int(dec.InputOffset())
		v := &value{line: place.line()}
		var top *value
		if len(open) > 0 {
			top = open[len(open)-1]
		}
		switch t := token.(type) {
		case json.Delim:
			if t == '}' || t == ']' {
				open = open[:len(open)-1]
				continue
			}
			v.kind = byte(t)
		case string:
			if top != nil && top.kind == '{' && len(top.keys) == len(top.items) {
				top.keys = append(top.keys, t)
				continue
			}
			v.kind, v.text = '"', t
		case nil:
			v.kind = 'n'
		default:
			v.kind, v.text = '0', fmt.Sprint(t)
		}
		switch {
		case top != nil:
			top.items = append(top.items, v)
		default:
			root = v
		}
		if v.kind == '{' || v.kind == '[' {
			open = append(open, v)
		}
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, input.Refuse(name, lineOf(data, int(dec.InputOffset())), 0, "more after the end of the JSON, want one tree a file")
	}
	return root, nil
}

// scanNested reads a tree of nested JSON. own tells that the file is JSON of
// this package instead.
func scanNested(data []byte, name string) (p parts, own bool, err error) {
	root, err := readValue(data, name)
	if err != nil {
		return p, false, err
	}
	if format := root.item("format"); format != nil && format.kind == '"' {
		return p, true, nil
	}
	n := nested{parts: &p, name: name, seen: make(map[sibling]int)}
	n.waiting = []task{{root, -1}}
	for len(n.waiting) > 0 {
		next := n.waiting[len(n.waiting)-1]
		n.waiting = n.waiting[:len(n.waiting)-1]
		if err := n.expand(next.value, next.parent); err != nil {
			return p, false, err
		}
	}
	return p, false, nil
}

// nested makes nodes of values.
type nested struct {
	*parts
	name    string
	seen    map[sibling]int
	waiting []task
}

// task is a value whose nodes belong below a parent.
type task struct {
	value  *value
	parent int
}

func (n *nested) fail(line int, format string, args ...any) error {
	return input.Refuse(n.name, line, 0, format, args...)
}

// expand adds the nodes that a value stands for, and leaves what is below them
// to do, first things on top.
func (n *nested) expand(v *value, parent int) error {
	var below []task
	switch v.kind {
	case '[':
		for _, item := range v.items {
			switch item.kind {
			case '"', '{':
				below = append(below, task{item, parent})
			case '0': // a class whose name is a number
				below = append(below, task{&value{kind: '"', text: item.text, line: item.line}, parent})
			default:
				return n.fail(item.line, "%s in a list of names; want names or objects", kindOf(item))
			}
		}
	case '{':
		if !isNamed(v) {
			for i, key := range v.keys {
				child, err := n.node(key, parent, v.items[i].line)
				if err != nil {
					return err
				}
				below = append(below, task{v.items[i], child})
			}
			break
		}
		label := ""
		if item := v.item("name"); item != nil {
			label = item.text
		}
		child := n.add(parent, -1, label)
		n.line = append(n.line, v.line)
		if err := n.once(sibling{parent, label}, v.line, child); err != nil {
			return err
		}
		if children := v.item("children"); children != nil {
			if children.kind != '[' && children.kind != '{' && children.kind != 'n' {
				return n.fail(children.line, "the children of %q are %s, want a list", label, kindOf(children))
			}
			below = append(below, task{children, child})
		}
	case '"':
		if _, err := n.node(v.text, parent, v.line); err != nil {
			return err
		}
	case 'n':
		if parent < 0 {
			return n.fail(v.line, "null, want a tree")
		}
	default:
		return n.fail(v.line, "%s below a name; want null, a name, a list or an object", kindOf(v))
	}
	for i := len(below) - 1; i >= 0; i-- {
		n.waiting = append(n.waiting, below[i])
	}
	return nil
}

// node adds a node with a name.
func (n *nested) node(name string, parent, line int) (int, error) {
	if name == "" {
		return 0, n.fail(line, "a node without a name; name it or remove it")
	}
	v := n.add(parent, -1, name)
	n.line = append(n.line, line)
	return v, n.once(sibling{parent, name}, line, v)
}

// once refuses a name for the second time below a node.
func (n *nested) once(s sibling, line, v int) error {
	if u, twice := n.seen[s]; twice && s.name != "" {
		return n.fail(line, "%q stands already on line %d, below the same node; remove one", s.name, n.line[u])
	}
	n.seen[s] = v
	return nil
}

// isNamed tells {"name": "dog", "children": [...]} from {"dog": [...]}.
func isNamed(v *value) bool {
	name, children := v.item("name"), v.item("children")
	return name != nil && (name.kind == '"' || name.kind == '0') || name == nil && children != nil && children.kind == '['
}

func kindOf(v *value) string {
	switch v.kind {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a text"
	case 'n':
		return "null"
	}
	return v.text
}

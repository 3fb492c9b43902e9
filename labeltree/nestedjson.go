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

// deepest is how deep JSON may be nested: each level takes a few hundred bytes of stack,
// which ends at 1 GB.
const deepest = 500_000

// valueReader reads JSON values in the order of a file.
type valueReader struct {
	scanner
	dec *json.Decoder
}

// token returns the next token and the line on which it ends.
func (r *valueReader) token() (token json.Token, line int, err error) {
	token, err = r.dec.Token()
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, 0, input.Refuse(r.name, lineOf(r.data, len(r.data)), 0, "the JSON ends early; every { and [ must be closed")
	}
	if err != nil {
		return nil, 0, jsonError(err, r.data, r.name)
	}
	r.at = int(r.dec.InputOffset())
	return token, r.line(), nil
}

// value reads one value, depth levels below the root.
func (r *valueReader) value(depth int) (*value, error) {
	token, line, err := r.token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		if depth == deepest {
			return nil, input.Refuse(r.name, line, 0, "nested more than %d deep; give the taxonomy as rows child,parent", deepest)
		}
		v := &value{kind: byte(t), line: line}
		for r.dec.More() {
			if t == '{' {
				key, _, err := r.token()
				if err != nil {
					return nil, err
				}
				v.keys = append(v.keys, key.(string)) // or the decoder has an error
			}
			item, err := r.value(depth + 1)
			if err != nil {
				return nil, err
			}
			v.items = append(v.items, item)
		}
		_, _, err := r.token() // the closing one
		return v, err
	case string:
		return &value{kind: '"', text: t, line: line}, nil
	case nil:
		return &value{kind: 'n', line: line}, nil
	}
	return &value{kind: '0', text: fmt.Sprint(token), line: line}, nil
}

// scanNested reads a tree of nested JSON. own tells that the file is JSON of
// this package instead.
func scanNested(data []byte, name string) (p parts, own bool, err error) {
	r := valueReader{scanner{data: data, name: name}, json.NewDecoder(bytes.NewReader(data))}
	r.dec.UseNumber()
	root, err := r.value(0)
	if err != nil {
		return p, false, err
	}
	if _, err := r.dec.Token(); err != io.EOF {
		return p, false, input.Refuse(name, lineOf(data, int(r.dec.InputOffset())), 0, "more after the end of the JSON, want one tree a file")
	}
	if format := root.item("format"); format != nil && format.kind == '"' {
		return p, true, nil
	}
	n := nested{name: name, seen: make(map[sibling]int)}
	err = n.expand(root, -1)
	return n.parts, false, err
}

// nested makes nodes of values.
type nested struct {
	parts
	name string
	seen map[sibling]int
}

// fail refuses a value with its line.
func (n *nested) fail(v *value, format string, args ...any) error {
	return input.Refuse(n.name, v.line, 0, format, args...)
}

// expand adds the nodes that a value stands for below a parent.
func (n *nested) expand(v *value, parent int) error {
	switch v.kind {
	case '[':
		for _, item := range v.items {
			if item.kind == '0' { // a class whose name is a number
				item.kind = '"'
			}
			if item.kind != '"' && item.kind != '{' {
				return n.fail(item, "%s in a list of names; want names or objects", kindOf(item))
			}
			if err := n.expand(item, parent); err != nil {
				return err
			}
		}
	case '{':
		if isNamed(v) {
			return n.expandNamed(v, parent)
		}
		for i, key := range v.keys {
			child, err := n.node(key, parent, v.items[i])
			if err != nil {
				return err
			}
			if err := n.expand(v.items[i], child); err != nil {
				return err
			}
		}
	case '"':
		_, err := n.node(v.text, parent, v)
		return err
	case 'n':
		if parent < 0 {
			return n.fail(v, "null, want a tree")
		}
	default:
		return n.fail(v, "%s below a name; want null, a name, a list or an object", kindOf(v))
	}
	return nil
}

// expandNamed is expand for {"name": ..., "children": ...}; the name may be missing.
func (n *nested) expandNamed(v *value, parent int) error {
	label := ""
	if item := v.item("name"); item != nil {
		label = item.text
	}
	child, err := n.add(parent, label, v)
	children := v.item("children")
	switch {
	case err != nil || children == nil:
		return err
	case children.kind != '[' && children.kind != '{' && children.kind != 'n':
		return n.fail(children, "the children of %q are %s, want a list", label, kindOf(children))
	}
	return n.expand(children, child)
}

// node adds a node that must have a name.
func (n *nested) node(name string, parent int, at *value) (int, error) {
	if name == "" {
		return 0, n.fail(at, "a node without a name; name it or remove it")
	}
	return n.add(parent, name, at)
}

// add adds a node, and refuses a name for the second time below a parent.
func (n *nested) add(parent int, name string, at *value) (int, error) {
	s := sibling{parent, name}
	if u, twice := n.seen[s]; twice && name != "" {
		return 0, n.fail(at, "%q stands already on line %d, below the same node; remove one", name, n.line[u])
	}
	n.seen[s] = n.parts.add(parent, -1, name, at.line)
	return n.seen[s], nil
}

// isNamed tells {"name": "dog", "children": [...]} from {"dog": [...]}.
func isNamed(v *value) bool {
	name, children := v.item("name"), v.item("children")
	return name != nil && (name.kind == '"' || name.kind == '0') || name == nil && children != nil && children.kind == '['
}

// kindOf names a value in an error.
func kindOf(v *value) string {
	words := map[byte]string{'{': "an object", '[': "a list", '"': "a text", 'n': "null", '0': v.text}
	return words[v.kind]
}

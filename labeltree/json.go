package labeltree

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/treeloss/treeloss/internal/input"
)

// What the head of a file says.
const (
	jsonFormat  = "treeloss-tree"
	jsonVersion = 1
)

// WriteJSON writes the tree as one JSON object, a node on a line, in preorder:
//
//	{
//	  "format": "treeloss-tree",
//	  "version": 1,
//	  "nodes": [
//	    {"name":"pseudo1","parent":-1},
//	    {"name":"truck","parent":0,"class":0},
//	    {"name":"bus","parent":0,"class":1}
//	  ]
//	}
//
// parent is a place in nodes, from 0, or -1 for the root. class is the number of
// the class that sits on the node, whose label is then the name; a pseudoclass
// has none. length stands on every node of a weighted tree and on no other
// tree's. ReadJSON gives back the same tree to the last bit.
func (t *Tree) WriteJSON(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "{\n  \"format\": %q,\n  \"version\": %d,\n  \"nodes\": [", jsonFormat, jsonVersion)
	for v, name := range t.name {
		var quoted bytes.Buffer
		enc := json.NewEncoder(&quoted)
		enc.SetEscapeHTML(false) // labels such as "<5" stay readable
		if err := enc.Encode(name); err != nil {
			return fmt.Errorf("labeltree: name %q: %w", name, err)
		}
		if v > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(out, "\n    {\"name\":%s,\"parent\":%d", bytes.TrimSpace(quoted.Bytes()), t.parent[v])
		if c := t.class[v]; c >= 0 {
			fmt.Fprintf(out, ",\"class\":%d", c)
		}
		if t.length != nil {
			out.WriteString(",\"length\":" + formatLength(t.length[v]))
		}
		out.WriteByte('}')
	}
	out.WriteString("\n  ]\n}\n")
	return out.Flush()
}

// formatLength writes the shortest decimal that reads back as x.
func formatLength(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// ReadJSON reads what WriteJSON writes; see there for the form. Nodes may come
// in any order and are put in preorder. name is the file's name, for errors; a
// file of another format or version, an unknown key, or parts that make no tree
// are a *SyntaxError.
func ReadJSON(r io.Reader, name string) (*Tree, error) {
	data, err := readAll(r, name)
	if err != nil {
		return nil, err
	}
	return readMarked(data, name, scanJSON)
}

// MarshalJSON is WriteJSON, for a tree that is part of a document.
func (t *Tree) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	err := t.WriteJSON(&b)
	return b.Bytes(), err
}

// UnmarshalJSON is ReadJSON.
func (t *Tree) UnmarshalJSON(data []byte) error {
	read, err := ReadJSON(bytes.NewReader(data), "tree")
	if err == nil {
		*t = *read
	}
	return err
}

// scanJSON reads the nodes of a file in the form of WriteJSON. The head is read first, so
// that a newer version is called that and not an unknown key. Whether the nodes make a tree
// is for assemble to see; here a node only must say where it hangs.
func scanJSON(data []byte, name string) (parts, error) {
	fail := func(format string, args ...any) (parts, error) {
		return parts{}, input.Refuse(name, 0, 0, format, args...)
	}
	type jsonHead struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	var head jsonHead
	if err := json.Unmarshal(data, &head); err != nil {
		return parts{}, jsonError(err, data, name)
	}
	if head.Format != jsonFormat {
		return fail("format is %q, want %q: this is JSON, but not a tree of treeloss", head.Format, jsonFormat)
	}
	if head.Version != jsonVersion {
		return fail("version is %d, this program reads version %d; use the program that wrote it, or a newer one", head.Version, jsonVersion)
	}
	var body struct {
		jsonHead
		Nodes []struct {
			Name   string   `json:"name"`
			Parent *int     `json:"parent"`
			Class  *int     `json:"class"`
			Length *float64 `json:"length"`
		} `json:"nodes"`
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&body); err != nil {
		return parts{}, jsonError(err, data, name)
	}
	var p parts
	for v, n := range body.Nodes {
		if n.Parent == nil {
			return fail("node %d (%q) has no parent; the root has -1", v, n.Name)
		}
		p.add(*n.Parent, -1, n.Name, 0)
		if n.Class != nil {
			p.class[v] = *n.Class
		}
		if n.Length != nil {
			p.length[v] = *n.Length
		}
	}
	return p, nil
}

// jsonError gives an error of encoding/json its line.
func jsonError(err error, data []byte, name string) error {
	line := 0
	if bad, ok := errors.AsType[*json.SyntaxError](err); ok {
		line = lineOf(data, int(bad.Offset)-1)
	} else if bad, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		line = lineOf(data, int(bad.Offset)-1)
	}
	return input.At(name, line, err)
}

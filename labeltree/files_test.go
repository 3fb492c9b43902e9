package labeltree

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// format is one way to write a tree and read it back.
type format struct {
	name  string
	write func(*Tree, io.Writer) error
	read  func(io.Reader, string) (*Tree, error)
}

func formats() []format {
	return []format{
		{"JSON", (*Tree).WriteJSON, ReadJSON},
		{"Newick", (*Tree).WriteNewick, Read},
	}
}

// byLabel returns the tree with its classes numbered in the order of their
// labels.
func byLabel(t testing.TB, tree *Tree) *Tree {
	t.Helper()
	labels := tree.Labels()
	slices.Sort(labels)
	p := parts{parent: tree.parent, class: slices.Clone(tree.class), name: tree.name, length: slices.Clone(tree.length)}
	for v, c := range p.class {
		if c >= 0 {
			p.class[v] = slices.Index(labels, p.name[v])
		}
	}
	out, err := p.assemble(nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// roundTrip writes and reads a tree in all formats, by its reader and by Read.
func roundTrip(t testing.TB, tree *Tree) {
	t.Helper()
	for _, f := range formats() {
		var file bytes.Buffer
		if err := f.write(tree, &file); err != nil {
			t.Fatal(err)
		}
		text := file.String()
		// Over the labels of the tree, and of one numbered otherwise, every format
		// gives the tree back.
		for _, want := range []*Tree{tree, byLabel(t, tree)} {
			got, err := ReadTaxonomy(strings.NewReader(text), "tree", want.Labels())
			if err != nil {
				t.Fatalf("%s: %v\n%s", f.name, err, text)
			}
			sameTree(t, got, want)
		}
		got, err := ReadTaxonomy(strings.NewReader(text), "tree", nil)
		if err != nil {
			t.Fatalf("%s: %v\n%s", f.name, err, text)
		}
		sameTree(t, got, byLabel(t, tree))
		for _, read := range []func(io.Reader, string) (*Tree, error){f.read, Read} {
			got, err := read(strings.NewReader(text), "tree")
			if err != nil {
				t.Fatalf("%s: %v\n%s", f.name, err, text)
			}
			if err := got.Check(); err != nil {
				t.Fatal(err)
			}
			sameTree(t, got, tree)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	for seed := range uint64(150) {
		roundTrip(t, randomTree(t, seed))
	}
}

func TestWritersPassErrorsOn(t *testing.T) {
	tree := randomTree(t, 1)
	for _, f := range formats() {
		if err := f.write(tree, broken{}); !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", f.name, err)
		}
		if _, err := f.read(broken{}, "x"); !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", f.name, err)
		}
	}
	if _, err := Read(broken{}, "x"); !errors.Is(err, errBroken) {
		t.Errorf("Read: %v", err)
	}
	for name, write := range map[string]func(io.Writer) error{"DOT": tree.WriteDOT, "SVG": tree.WriteSVG,
		"text": func(w io.Writer) error { return tree.WriteText(w, TextOptions{}) }} {
		if err := write(broken{}); !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReadOthers reads what other programs write.
func TestReadOthers(t *testing.T) {
	for _, tc := range []struct{ name, text, want, lengths string }{
		{"Newick, leaves only", "((a,b),c);", "[pseudo1]([pseudo2](a b) c)", ""},
		{"Newick, one leaf", "a;", "a", ""},
		{"Newick, lengths but for the root", "((a:1,b:2.5)ab:1e-3,c:0);\n", "[pseudo1]([ab](a b) c)", "0 0.001 1 2.5 0"},
		{"Newick, support values twice", "((a,b)100,(c,d)100)100;", "[100]([100_](a b) [100__](c d))", ""},
		{"Newick, an inner name taken by a leaf", "(a,b)a;", "[a_](a b)", ""},
		{"Newick, comments and spaces", "[&R] ( a [x] , 'b c' [y] ) [z] r ;", "[r](a b c)", ""},
		{"Newick, underscores and double quotes", `(pin_change,"it's"":");`, `[pseudo1](pin_change it's":)`, ""},
		{"JSON, out of order", `{"format":"treeloss-tree","version":1,"nodes":[{"name":"a","parent":2,"class":0},{"name":"b","parent":2,"class":1},{"name":"r","parent":-1}]}`, "[r](a b)", ""},
		{"JSON behind a byte-order mark", "\ufeff{\"nodes\":[{\"name\":\"a\",\"parent\":-1,\"class\":0,\"length\":-0.0}],\"version\":1,\"format\":\"treeloss-tree\"}", "a", "0"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tree, err := Read(strings.NewReader(tc.text), "f")
			if err != nil {
				t.Fatal(err)
			}
			if got := outline(tree, 0); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			var lengths []string
			for v := range tree.Len() {
				if tree.Weighted() {
					lengths = append(lengths, fmt.Sprint(tree.Length(v)))
				}
			}
			if got := strings.Join(lengths, " "); got != tc.lengths {
				t.Errorf("lengths %s, want %s", got, tc.lengths)
			}
			roundTrip(t, tree)
		})
	}
}

func TestReadersRefuse(t *testing.T) {
	node := func(nodes string) string { return `{"format":"treeloss-tree","version":1,"nodes":[` + nodes + `]}` }
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", "", "f:1: starts with \"\""},
		{"nested JSON", "{\"animal\": [\"dog\"]}", "this is JSON, but not a tree of treeloss"},
		{"paths", "animal/dog\nanimal/cat\n", "f:1: starts with \"animal/dog"},
		{"one word", "hello\n", "f:1: starts with \"hello"},
		{"SVG", "<svg><g/></svg>", "f:1: a drawing of a tree (SVG, DOT or text)"},
		{"DOT", "digraph \"treeloss-tree\" {\n", "f:1: a drawing of a tree (SVG, DOT or text)"},
		{"text", "(r)\n├── a\n└── b\n", "f:1: a drawing of a tree (SVG, DOT or text)"},
		{"a CSV", "a,b\nc,d\n", "class names"},
		{"not UTF-8", "(a,\n\xff);", "f:2:1: invalid UTF-8: byte 0xff"},
		{"JSON cut off", "{\"format\":\"treeloss-tree\",\n\"ver", "f:2: unexpected end"},
		{"JSON of another kind", `{"a":1}`, `format is "", want "treeloss-tree"`},
		{"JSON of a newer version", `{"format":"treeloss-tree","version":2,"more":[]}`, "version is 2, this program reads version 1"},
		{"JSON with an unknown key", node(`{"name":"a","parent":-1,"class":0,"weight":2}`), "weight"},
		{"JSON with a wrong type", "{\"format\":\"treeloss-tree\",\"version\":1,\n\"nodes\":[{\"name\":\"a\",\"parent\":\"b\"}]}", "f:2: "},
		{"JSON with text behind", node(`{"name":"a","parent":-1,"class":0}`) + "x", "invalid character 'x'"},
		{"JSON without nodes", node(""), "no nodes"},
		{"JSON without a parent", node(`{"name":"a","class":0}`), `node 0 ("a") has no parent`},
		{"JSON without a root", node(`{"name":"a","parent":0,"class":0}`), `node "a" is its own ancestor`},
		{"JSON with two roots", node(`{"name":"a","parent":-1,"class":0},{"name":"b","parent":-1,"class":1}`), `nodes "a" and "b" both have no parent`},
		{"JSON with a parent out of range", node(`{"name":"a","parent":5,"class":0}`), "parent 5"},
		{"JSON with a class twice", node(`{"name":"a","parent":-1,"class":0},{"name":"b","parent":0,"class":0}`), "both have class 0"},
		{"JSON with a class missing", node(`{"name":"a","parent":-1,"class":1}`), "class 1"},
		{"JSON with a name twice", node(`{"name":"a","parent":-1,"class":0},{"name":"a","parent":0,"class":1}`), "two nodes have the name"},
		{"JSON with a length too few", node(`{"name":"a","parent":-1,"class":0,"length":1},{"name":"b","parent":0,"class":1}`), `"b" has no length but others have`},
		{"JSON with a negative length", node(`{"name":"a","parent":-1,"class":0,"length":-1}`), "length -1"},
		{"JSON with a leaf without class", node(`{"name":"r","parent":-1},{"name":"a","parent":0,"class":0},{"name":"b","parent":0}`), `"b" is a leaf without a class`},
		{"Newick cut off", "((a,b),c", "f:1:9: found the end of the file, want , or ) with 1 ( still open"},
		{"Newick without ;", "(a,b)", "want ;"},
		{"Newick with two trees", "(a,b);\n(c,d);", "f:2:1: found '('"},
		{"Newick with a parenthesis too many", "(a,b));", "found ')', want ;"},
		{"Newick with an unnamed leaf", "(a,);", "f:1:4: a leaf without a name"},
		{"Newick with an open quote", "(a,'b);", "f:1:4: a name without its closing quote"},
		{"Newick with an open comment", "(a[b);", "comment"},
		{"Newick with a bad length", "(a:x,b);", `f:1:4: length "x"`},
		{"Newick with a negative length", "(a:-1,b);", `length "-1"`},
		{"Newick with an endless length", "(a:1e999,b);", `length "1e999"`},
		{"Newick with a length missing", "(a:1,b);", `"b" has no length`},
		{"Newick with a name twice", "(a,a);", "two nodes have the name"},
		{"Newick with a bad class", "(a[&class=x],b);", `class "x"`},
		{"Newick with half the classes", "(a[&class=0],b);", `"b" is a leaf without a class`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Read(strings.NewReader(tc.text), "f")
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), "f:") || strings.Contains(err.Error(), "\n") {
				t.Errorf("got  %v\nwant %s", err, tc.want)
			}
			if _, ok := errors.AsType[*SyntaxError](err); !ok {
				t.Errorf("%T, want a *SyntaxError", err)
			}
		})
	}
}

// TestDeepNesting: hostile depth costs memory in proportion, never the stack.
func TestDeepNesting(t *testing.T) {
	const n = 200_000
	newick := strings.Repeat("(", n) + "a" + strings.Repeat(")", n) + ";"
	tree, err := Read(strings.NewReader(newick), "f")
	if err != nil || tree.Height() != n {
		t.Fatalf("Newick: %v", err)
	}
	if err := tree.WriteNewick(io.Discard); err != nil {
		t.Error(err)
	}
	if _, err := Read(strings.NewReader(strings.Repeat("(", n)), "f"); err == nil {
		t.Error("only opening parentheses passed")
	}
	if _, err := Read(strings.NewReader(`{"nodes":`+strings.Repeat("[", n)), "f"); err == nil {
		t.Error("only opening brackets passed")
	}
}

func TestWriteText(t *testing.T) {
	n := func(label string, children ...Nested) Nested { return Nested{label, children} }
	tree, err := FromNested(n("a", n("a"), n("b", n("b"), n("c\nd")), n("e", n("e"), n("f"), n("g"))), VTree)
	if err != nil {
		t.Fatal(err)
	}
	u, err := FromNested(n("a", n("a"), n("b", n("b"), n("c"))), UTree)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		tree *Tree
		opts TextOptions
		want string
	}{
		{"whole", tree, TextOptions{}, "(pseudo1)\n├── a\n├── (pseudo2)\n│   ├── b\n│   └── \"c\\nd\"\n└── (pseudo3)\n    ├── e\n    ├── f\n    └── g\n"},
		{"one level", tree, TextOptions{MaxDepth: 1}, "(pseudo1)\n├── a\n├── (pseudo2) … 2 classes\n└── (pseudo3) … 3 classes\n"},
		{"one child", tree, TextOptions{MaxChildren: 1}, "(pseudo1)\n├── a\n└── … 2 more (5 classes)\n"},
		{"two children", tree, TextOptions{MaxChildren: 2, Lengths: true}, "(pseudo1) 1\n├── a 1\n├── (pseudo2) 1\n│   ├── b 1\n│   └── \"c\\nd\" 1\n└── … 1 more (3 classes)\n"},
		{"the way to a class", tree, TextOptions{Along: "f"}, "(pseudo1)\n├── … 2 more (3 classes)\n└── (pseudo3)\n    ├── … 1 more\n    ├── f\n    └── … 1 more\n"},
		{"and its neighbours", tree, TextOptions{Along: "b", Beside: 1}, "(pseudo1)\n├── a\n├── (pseudo2)\n│   ├── b\n│   └── \"c\\nd\"\n└── (pseudo3) … 3 classes\n"},
		{"to a class on an inner node", u, TextOptions{Along: "b", Beside: 1}, "a\n└── b\n    └── … 1 more\n"},
		{"no further than a depth", tree, TextOptions{Along: "f", MaxDepth: 1}, "(pseudo1)\n├── … 2 more (3 classes)\n└── (pseudo3) … 3 classes\n"},
		{"U-tree", u, TextOptions{}, "a\n└── b\n    └── c\n"},
		{"U-tree, one level", u, TextOptions{MaxDepth: 1}, "a\n└── b … 1 class\n"},
	} {
		var text strings.Builder
		if err := tc.tree.WriteText(&text, tc.opts); err != nil {
			t.Fatal(err)
		}
		if text.String() != tc.want {
			t.Errorf("%s:\n%s\nwant\n%s", tc.name, text.String(), tc.want)
		}
	}
}

func TestWriteTextOfNoClass(t *testing.T) {
	tree, err := FromNested(Nested{"a", []Nested{{"a", nil}, {"b", nil}}}, VTree)
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.WriteText(io.Discard, TextOptions{Along: "none such"}); err == nil || !strings.Contains(err.Error(), `"none such"`) {
		t.Errorf("an unknown class: %v", err)
	}
}

// fuzzReader: whatever the bytes, an error, or a tree that keeps its laws and
// comes back the same from every format.
func fuzzReader(f *testing.F, which format) {
	for seed := range uint64(6) {
		var file bytes.Buffer
		if err := which.write(randomTree(f, seed), &file); err != nil {
			f.Fatal(err)
		}
		f.Add(file.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tree, err := which.read(bytes.NewReader(data), "f")
		if err != nil {
			if _, ok := errors.AsType[*SyntaxError](err); !ok {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		if err := tree.Check(); err != nil {
			t.Fatal(err)
		}
		roundTrip(t, tree)
		if err := tree.WriteText(io.Discard, TextOptions{MaxDepth: 3, MaxChildren: 2, Lengths: true}); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzReadJSON(f *testing.F)   { fuzzReader(f, formats()[0]) }
func FuzzReadNewick(f *testing.F) { fuzzReader(f, formats()[1]) }

// TestSVG looks at what a viewer gets: XML that is well formed, needs nothing
// from elsewhere, has every name, and no two names on one another.
func TestSVG(t *testing.T) {
	for _, k := range []int{1, 10, 150} {
		labels := numbered(k)
		labels[0] = "<b>&\"" + strings.Repeat("long ", 30)
		tree, err := Linkage(randomSpace(uint64(k), k, false), labels)
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := tree.WriteSVG(&file); err != nil {
			t.Fatal(err)
		}
		type box struct{ x, y, right int }
		var boxes []box
		dec := xml.NewDecoder(&file)
		texts := 0
		for {
			token, err := dec.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			start, ok := token.(xml.StartElement)
			if !ok {
				continue
			}
			for _, a := range start.Attr {
				if strings.Contains(a.Value, "http") && a.Name.Local != "xmlns" || a.Name.Local == "href" {
					t.Errorf("%s refers to %s", start.Name.Local, a.Value)
				}
			}
			if start.Name.Local != "text" {
				continue
			}
			var text struct {
				X    int    `xml:"x,attr"`
				Y    int    `xml:"y,attr"`
				Text string `xml:",chardata"`
			}
			if err := dec.DecodeElement(&text, &start); err != nil {
				t.Fatal(err)
			}
			if want := shorten(tree.Name(texts)); text.Text != want {
				t.Errorf("name %d is %q, want %q", texts, text.Text, want)
			}
			boxes = append(boxes, box{text.X, text.Y, text.X + textWidth(text.Text)})
			texts++
		}
		if texts != tree.Len() {
			t.Errorf("%d names for %d nodes", texts, tree.Len())
		}
		for i, a := range boxes {
			for _, b := range boxes[:i] {
				if max(a.x, b.x) < min(a.right, b.right) && a.y-b.y < 9 && b.y-a.y < 9 && tree.IsLeaf(i) && k > 1 {
					t.Fatalf("k = %d: names at %v and %v overlap", k, a, b)
				}
			}
		}
	}
}

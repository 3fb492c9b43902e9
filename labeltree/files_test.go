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
		{"DOT", (*Tree).WriteDOT, ReadDOT},
		{"Newick", (*Tree).WriteNewick, ReadNewick},
		{"SVG", (*Tree).WriteSVG, ReadSVG},
		{"text", drawn, ReadText},
	}
}

func drawn(t *Tree, w io.Writer) error {
	return t.WriteText(w, TextOptions{Lengths: t.Weighted(), Digits: -1})
}

// byLabel returns the tree with its classes numbered in the order of their
// labels, and lengths of 1 for what a drawing without lengths is read as.
func byLabel(t testing.TB, tree *Tree) *Tree {
	t.Helper()
	labels := tree.Labels()
	slices.Sort(labels)
	p := parts{parent: tree.parent, class: slices.Clone(tree.class), name: tree.name, length: tree.length}
	for v, c := range p.class {
		if c >= 0 {
			p.class[v] = slices.Index(labels, p.name[v])
		}
	}
	out, err := assemble(p)
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
			want := tree
			if f.name == "text" {
				want = byLabel(t, tree)
			}
			sameTree(t, got, want)
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
	if err := tree.WriteText(broken{}, TextOptions{}); !errors.Is(err, errBroken) {
		t.Errorf("WriteText: %v", err)
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
		{"DOT, no classes", "digraph { a -> b; a -> c -> d\n c -> e }", "[a](b [c](d e))", ""},
		{"DOT, all kinds of statement", "strict digraph G { // x\n graph [ranksep=-1.5]; node [shape=box, style=\"filled\"]; edge []\n rankdir = LR\n # y\n \"n 1\" [label=\"the root\"][color=red]\n/* z */\"n 1\" -> x [label=\"edge\"]; \"n 1\" -> y; x [label=\"q\\\"\\\\\"; class=1] y [class=\"0\"] }", `[the root](q"\ y)`, ""},
		{"DOT, lengths", "digraph{r->a;r->b;a[length=2]b[length=\"0.5\"]}", "[r](a b)", "0 2 0.5"},
		{"DOT, children before parents", "digraph{b;c;a->b;a->c}", "[a](b c)", ""},
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
		{"a drawing of a part", "(r)\n├── a\n└── … 2 more\n", "f:3: the drawing leaves parts out (… 2 more)"},
		{"a drawing of some levels", "(r)\n├── a\n└── (b) … 2 classes\n", "f:3: the drawing leaves parts out"},
		{"a drawing with a hole", "(r)\n├── a\n│   │   └── b\n", "f:3: a node that hangs below nothing"},
		{"a drawing with two roots", "(r)\n├── a\nb\n", "f:3: a second root"},
		{"a drawing without a line", "(r)\n├── a\n    b\n", "f:3: a name without ├── or └──"},
		{"a drawing without a name", "(r)\n├── a\n├── \n└── b\n", "f:3: a node without a name"},
		{"a drawing with empty parentheses", "(r)\n├── a\n├── ()\n└── b\n", "f:3: a node without a name"},
		{"a drawing with a broken quote", "(r)\n├── a\n├── \"b\n└── c\n", "f:3: a name that begins with a quote"},
		{"a drawing with a name twice", "(r)\n├── a\n└── a\n", "two nodes have the name"},
		{"a drawing with a pseudoclass as a leaf", "(r)\n├── a\n└── (b)\n", "\"b\" is a leaf without a class"},
		{"SVG of another program", "<svg><g/></svg>", "f: this picture carries no tree"},
		{"SVG cut off", "<svg>\n<metadata id=\"treeloss-tree\">{", "f:"},
		{"SVG with an empty tree", "<svg><metadata id=\"treeloss-tree\">{}</metadata></svg>", "format is \"\""},
		{"not SVG", "<svg><", "f:1: not an SVG file"},
		{"a CSV", "a,b\nc,d\n", "class names"},
		{"not UTF-8", "(a,\n\xff);", "f:2: text is not UTF-8"},
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
		{"JSON with a length too few", node(`{"name":"a","parent":-1,"class":0,"length":1},{"name":"b","parent":0,"class":1}`), "1 of 2 nodes have a length"},
		{"JSON with a negative length", node(`{"name":"a","parent":-1,"class":0,"length":-1}`), "length -1"},
		{"JSON with a leaf without class", node(`{"name":"r","parent":-1},{"name":"a","parent":0,"class":0},{"name":"b","parent":0}`), `"b" is a leaf without a class`},
		{"Newick cut off", "((a,b),c", "f:1: column 9: found the end of the file, want , or ) with 1 ( still open"},
		{"Newick without ;", "(a,b)", "want ;"},
		{"Newick with two trees", "(a,b);\n(c,d);", "f:2: column 1: found '('"},
		{"Newick with a parenthesis too many", "(a,b));", "found ')', want ;"},
		{"Newick with an unnamed leaf", "(a,);", "column 4: a leaf without a name"},
		{"Newick with an open quote", "(a,'b);", "column 4: a name without its closing quote"},
		{"Newick with an open comment", "(a[b);", "comment"},
		{"Newick with a bad length", "(a:x,b);", `column 4: length "x"`},
		{"Newick with a negative length", "(a:-1,b);", `length "-1"`},
		{"Newick with an endless length", "(a:1e999,b);", `length "1e999"`},
		{"Newick with a length missing", "(a:1,b);", `"b" has no length`},
		{"Newick with a name twice", "(a,a);", "two nodes have the name"},
		{"Newick with a bad class", "(a[&class=x],b);", `class "x"`},
		{"Newick with half the classes", "(a[&class=0],b);", `"b" is a leaf without a class`},
		{"DOT that is not directed", "graph { a -- b }", "want digraph"},
		{"DOT cut off", "digraph { a -> b", "found the end of the file"},
		{"DOT without {", "digraph x y", "want {"},
		{"DOT with an open string", "digraph { \"a }", "closing quote"},
		{"DOT with an open comment", "digraph { /* }", "comment"},
		{"DOT with an open list", "digraph { a [label=b }", "found '}'"},
		{"DOT with an attribute without value", "digraph { a [label] }", "want ="},
		{"DOT with text behind", "digraph { a } b", "after the closing }"},
		{"DOT with a subgraph", "digraph { subgraph { a } }", "subgraph"},
		{"DOT with HTML", "digraph { a [label=<b>] }", "found '<'"},
		{"DOT with two parents", "digraph { a -> c;\n b -> c }", `f:2: column 7: node "c" has two parents, "a" and "b"; keep one`},
		{"DOT with two roots", "digraph { a; b }", `nodes "a" and "b" both have no parent`},
		{"DOT with a cycle", "digraph { a -> b -> a }", "is its own ancestor"},
		{"DOT with nothing in it", "digraph {}", "no nodes"},
		{"DOT with a bad class", "digraph { a [class=x] }", `class "x"`},
		{"DOT with a bad length", "digraph { a [length=NaN] }", `length "NaN"`},
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
	if _, err := Read(strings.NewReader("digraph {"+strings.Repeat("a[", n)), "f"); err == nil {
		t.Error("only opening lists passed")
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
		{"digits", tree, TextOptions{MaxDepth: 1, Lengths: true, Digits: -1}, "(pseudo1) 1\n├── a 1\n├── (pseudo2) 1 … 2 classes\n└── (pseudo3) 1 … 3 classes\n"},
		{"one level", tree, TextOptions{MaxDepth: 1}, "(pseudo1)\n├── a\n├── (pseudo2) … 2 classes\n└── (pseudo3) … 3 classes\n"},
		{"one child", tree, TextOptions{MaxChildren: 1}, "(pseudo1)\n├── a\n└── … 2 more (5 classes)\n"},
		{"two children", tree, TextOptions{MaxChildren: 2, Lengths: true}, "(pseudo1) 1\n├── a 1\n├── (pseudo2) 1\n│   ├── b 1\n│   └── \"c\\nd\" 1\n└── … 1 more (3 classes)\n"},
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
func FuzzReadDOT(f *testing.F)    { fuzzReader(f, formats()[1]) }
func FuzzReadNewick(f *testing.F) { fuzzReader(f, formats()[2]) }
func FuzzReadSVG(f *testing.F)    { fuzzReader(f, formats()[3]) }
func FuzzReadText(f *testing.F)   { fuzzReader(f, formats()[4]) }

// TestDrawnLikeMeasured: names that all end in a number are no lengths.
func TestDrawnLikeMeasured(t *testing.T) {
	tree, err := FromNested(Nested{"class 0", []Nested{{Label: "class 0"}, {Label: "class 1"}}}, UTree)
	if err != nil {
		t.Fatal(err)
	}
	roundTrip(t, tree)
	var text strings.Builder
	if err := drawn(tree, &text); err != nil {
		t.Fatal(err)
	}
	if want := "\"class 0\"\n└── class 1\n"; text.String() != want {
		t.Errorf("%s, want %s", text.String(), want)
	}
}

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

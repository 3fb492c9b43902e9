package labeltree

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestForms reads one taxonomy in every form, over labels of which one sits on
// an inner node and without two leaves that are no classes.
func TestForms(t *testing.T) {
	labels := []string{"husky", "boxer", "cat", "dog", "bus"}
	const want = "[root]([animal](cat [dog (group)](dog husky boxer)) bus)"
	for _, tc := range []struct{ name, text string }{
		{"child,parent", "child,parent\ncat,animal\ndog,animal\nhusky,dog\nboxer,dog\nbus,vehicle\nx,dog\ny,vehicle\n"},
		{"paths", "animal/cat\nanimal/dog\nanimal/dog/husky\nanimal/dog/boxer\nvehicle/bus\nvehicle/y\nanimal/dog/x\n"},
		{"paths without inner rows", "/animal/cat/\n/animal/dog/husky\n/animal/dog/boxer\nvehicle/bus\n"},
		{"paths with arrows", "# a comment, of what/ever\n\nanimal\nanimal > cat\nanimal > dog\nanimal > dog > husky\nanimal > dog > boxer\nvehicle > bus\n"},
		{"paths as a column", "id,path,rows\n1,animal/cat,5\n2,animal/dog/husky,6\n3,\"animal/dog/boxer\",7\n4,vehicle/bus,\n"},
		{"paths and labels", "label,path\ncat,animal\nhusky,animal/dog\nboxer,animal/dog/boxer\nbus,vehicle\n"},
		{"paths with tabs", "path\tlabel\nanimal > cat\tcat\nanimal > dog\tdog\nanimal > dog\thusky\nanimal > dog\tboxer\nvehicle\tbus\n"},
		{"a header and nothing else", "Path\r\nanimal/cat\r\nanimal/dog/husky\r\nanimal/dog/boxer\r\nvehicle/bus\r\n"},
		{"nested JSON", `{"animal": {"cat": null, "dog": ["husky", "boxer", "x"]}, "vehicle": "bus"}`},
		{"nested JSON, a list above", `["z", {"animal": ["cat", {"dog": {"husky": {}, "boxer": []}}]}, {"vehicle": ["bus"]}]`},
		{"nested JSON with names", "\ufeff[{\"name\": \"animal\", \"children\": [{\"name\": \"cat\"}, {\"children\": [{\"name\": \"husky\", \"id\": 7}, \"boxer\"], \"name\": \"dog\"}]}, {\"name\": \"vehicle\", \"children\": {\"bus\": null}}]"},
		{"nested JSON without a name above", `{"children": [{"name": "animal", "children": ["cat", {"name": "dog", "children": ["husky", "boxer"]}]}, "bus"]}`},
		{"Newick", "((cat,(husky,boxer,x)dog)animal,(bus,y)vehicle);"},
		{"Newick with lengths", "((cat:1,(husky:1,boxer:1)dog:1)animal:1,(bus:1,y:1)vehicle:1);"},
		{"JSON of ours", `{"format":"treeloss-tree","version":1,"nodes":[{"name":"top","parent":-1},{"name":"animal","parent":0},{"name":"cat","parent":1,"class":0},{"name":"dog","parent":1,"class":1},{"name":"husky","parent":3,"class":2},{"name":"boxer","parent":3,"class":3},{"name":"bus","parent":0,"class":4},{"name":"x","parent":0,"class":5}]}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tree, err := ReadTaxonomy(strings.NewReader(tc.text), "f", labels)
			if err != nil {
				t.Fatal(err)
			}
			if err := tree.Check(); err != nil {
				t.Error(err)
			}
			got := outline(tree, 0)
			got = strings.NewReplacer("[top]", "[root]", "[pseudo1]", "[root]").Replace(got)
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			if tree.Weighted() != strings.Contains(tc.name, "lengths") {
				t.Errorf("weighted: %v", tree.Weighted())
			}
		})
	}
}

// TestPathsWithEqualNames: in paths, lists and Newick a name may stand in
// several places, if no class has it; labels may be whole paths.
func TestPathsWithEqualNames(t *testing.T) {
	for _, tc := range []struct{ name, text, labels, want string }{
		{"inner nodes", "animal/other/emu\nanimal/cat\nvehicle/other/ski\nvehicle/bus\nanimal/other/owl\nvehicle/other/sledge\n", "emu owl cat bus ski sledge",
			"[root]([animal]([other](emu owl) cat) [vehicle]([other_](ski sledge) bus))"},
		{"labels that are paths", "a/x\na/y\nb/x\nb/y\n", "a/x b/x b/y", "[root](a/x [b](b/x b/y))"},
		{"labels that are paths, with a slash before", "/a/x\n/a/y\n", "/a/x a/y", "[a](/a/x a/y)"},
		{"a slash in a name", "web > tcp/ip\nweb > http\n", "tcp/ip http", "[web](tcp/ip http)"},
		{"commas in paths with arrows", "food, drinks > tea, coffee\nfood, drinks > bread\n", "bread|tea, coffee", "[food, drinks](tea, coffee bread)"},
		{"JSON", `{"a": ["x", "p"], "b": ["x", "q"]}`, "p q", "[root](p q)"},
		{"numbers as names", `{"even": [2, 4], "odd": [1, 3]}`, "1 2 4", "[root]([even](2 4) 1)"},
		{"Newick, inner nodes without names", "(((a,b),(c,d)),e);", "a b c d", "[pseudo1]([pseudo2](a b) [pseudo3](c d))"},
		{"Newick, a name in quotes", "(('(other)',b)x,c);", "(other) b c", "[pseudo1]([x]((other) b) c)"},
		{"a first name in parentheses", "(other),x\nb,x\n", "(other) b", "[x]((other) b)"},
		{"a first name like a drawing's", "graph,x\ndigraph\u00e9,x\n", "graph digraph\u00e9", "[x](graph digraph\u00e9)"},
		{"a first name with a slash", "tcp/ip,net\nhttp,net\n", "tcp/ip http", "[net](tcp/ip http)"},
		{"one class, one path", "animal/dog\n", "dog", "dog"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			labels := strings.Split(tc.labels, "|")
			if len(labels) == 1 {
				labels = strings.Fields(tc.labels)
			}
			tree, err := ReadTaxonomy(strings.NewReader(tc.text), "f", labels)
			if err != nil {
				t.Fatal(err)
			}
			if got := outline(tree, 0); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// TestLengthsStay: what two classes share does not change when others are
// pruned, nor when a class gets a leaf.
func TestLengthsStay(t *testing.T) {
	const newick = "(((a:1,x:9)p:2,b:3)q:4,(c:5,d:6)r:7)s:8;"
	tree, err := ReadTaxonomy(strings.NewReader(newick), "f", []string{"a", "b", "c", "r"})
	if err != nil {
		t.Fatal(err)
	}
	if got := outline(tree, 0); got != "[s]([q](a b) [r (group)](r c))" {
		t.Fatal(got)
	}
	for c, want := range []float64{1 + 2 + 4 + 8, 3 + 4 + 8, 5 + 7 + 8, 0 + 7 + 8} {
		sum := 0.0
		for _, v := range tree.Path(c) {
			sum += tree.Length(v)
		}
		if sum != want {
			t.Errorf("class %s: %v to the root, want %v", tree.Labels()[c], sum, want)
		}
	}
	_, err = ReadTaxonomy(strings.NewReader("(a:1,b,x:2);"), "f", []string{"a", "b"})
	if err == nil || !strings.Contains(err.Error(), `"b" has no length but others have`) {
		t.Errorf("half the lengths: %v", err)
	}
}

// TestManyEqualNames: thousands of groups of one name stay short, and quick.
func TestManyEqualNames(t *testing.T) {
	var text strings.Builder
	var labels []string
	for i := range 20_000 {
		for _, c := range "xy" {
			label := fmt.Sprintf("%c%d", c, i)
			labels = append(labels, label)
			fmt.Fprintf(&text, "shop%d/other/%s\n", i, label)
		}
		fmt.Fprintf(&text, "shop%d/z%d\n", i, i)
		labels = append(labels, fmt.Sprint("z", i))
	}
	tree, err := ReadTaxonomy(strings.NewReader(text.String()), "f", labels)
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Check(); err != nil {
		t.Error(err)
	}
	for v := range tree.Len() {
		if len(tree.Name(v)) > len("other_20000") {
			t.Fatalf("name %q", tree.Name(v))
		}
	}
}

// TestLeavesAsClasses: without labels the leaves are the classes.
func TestLeavesAsClasses(t *testing.T) {
	for text, want := range map[string]string{
		"b,r\na,r\nr,top\nc,top\n":     "[top]([r](b a) c)",
		"r/b\nr/a\nc\n":                "[root]([r](b a) c)",
		`{"r": ["b", "a"], "c": null}`: "[root]([r](b a) c)",
		"((b,a)r,c);":                  "[pseudo1]([r](b a) c)",
	} {
		tree, err := ReadTaxonomy(strings.NewReader(text), "f", nil)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := outline(tree, 0); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
		if labels := tree.Labels(); labels[0] != "a" || labels[1] != "b" {
			t.Errorf("%q: classes %q, want them in the order of bytes", text, labels)
		}
	}
}

func TestFormsRefuse(t *testing.T) {
	for _, tc := range []struct{ name, labels, text, want string }{
		{"a path twice", "a b", "r/a\nr/b\n\nr/a/\n", `f:4: the path "r/a/" stands already on line 1; remove one`},
		{"a class at two places", "a b", "r/a\nr/b\nq/a\n", `f:3: "a" has two parents, it stands at "r/a" (line 1) and at "q/a"; keep one, or rename one`},
		{"a class above itself", "a b", "r/b\na/r/a\n", `f:2: "a" is its own ancestor: "a/r/a"; rename one of the two`},
		{"a class missing from paths", "a b", "r/a\nr/c\n", `f: class "b" is at the end of no path; add a path for it; "c" is a leaf there but no class`},
		{"an empty name in a path", "a b", "r/a\nr//b\n", `f:2: path "r//b" has an empty name`},
		{"nothing but a slash", "a b", "r/a\n/\n", `f:2: path "/" has an empty name`},
		{"a row too wide", "a b", "path,n\nr/a,1\nr/b,1,2\n", `f:3: row of 3 cells, want 2 as in the header`},
		{"a path with a comma", "a b", "path\nr/a\nr/b, c\n", `f:3: row of 2 cells, want 1 as in the header; quote a path that holds a comma`},
		{"an empty label", "a b", "path,label\nr,a\nr,\n", `f:3: the label of path "r" is empty`},
		{"a header alone", "a b", "path,label\n", `f: no paths, want one for each class`},
		{"a stray quote in a table of paths", "a b", "path\nr/a\n\"r/b\n", `f:`},
		{"a path and a whole path", "a r/a", "r/a\nq/b\n", `f: labels "a" and "r/a" mean the same node, "r/a"; rename one`},
		{"a leaf twice, without labels", "", "r/a\nq/a\n", `f:2: "a" has two parents`},

		{"JSON cut off", "a b", "{\"r\": [\"a\",\n\"b\"", `f:2: the JSON ends early`},
		{"JSON with two values", "a b", `{"r": ["a", "b"]} {}`, `f:1: more after the end of the JSON`},
		{"JSON with a stray comma", "a b", "{\"r\": [\"a\",\n]}", `f:`},
		{"a key twice", "a b", "{\"r\": {\"a\": null,\n\"b\": null,\n\"a\": []}}", `f:3: "a" stands already on line 1, below the same node; remove one`},
		{"a name twice in a list", "a b", "{\"r\": [\"a\", \"b\",\n \"b\"]}", `f:2: "b" stands already on line 1`},
		{"a class at two places in JSON", "a b", "{\"r\": [\"a\", \"b\"],\n\"q\": [\"a\"]}", `f:2: "a" has two parents, it stands at "r/a" (line 1) and at "q/a"`},
		{"a class above itself in JSON", "a b", "{\"a\": {\"b\":\n {\"a\": null}}}", `f:2: "a" is its own ancestor: "a/b/a"`},
		{"a number below a name", "a b", `{"r": {"a": 12, "b": 3}}`, `f:1: 12 below a name; want null, a name, a list or an object`},
		{"a list in a list", "a b", `{"r": ["a", ["b"]]}`, `f:1: a list in a list of names`},
		{"a null in a list", "a b", `{"r": ["a", null]}`, `f:1: null in a list of names`},
		{"children that are a text", "a b", `{"name": "r", "children": "a"}`, `f:1: the children of "r" are a text, want a list`},
		{"an empty name in JSON", "a b", `{"r": ["a", "b", ""]}`, `f:1: a node without a name`},
		{"an empty object", "a", `{}`, `f: class "a" is not in the tree; add a node for it`},
		{"a class missing from JSON", "a b", `{"r": ["a", "c"]}`, `f: class "b" is not in the tree; add a node for it; "c" is a leaf there but no class`},
		{"JSON of ours, newer", "a", `{"format":"treeloss-tree","version":2}`, `f: version is 2`},

		{"Newick without its end", "a b", "(a,b)", `want ; at the end`},
		{"a class twice in Newick", "a b", "((a,b)r,(a,c)q);", `f:1: "a" has two parents, it stands at "?/r/a" (line 1) and at "?/q/a"`},
		{"a cycle in JSON of ours", "a", `{"format":"treeloss-tree","version":1,"nodes":[{"name":"r","parent":1},{"name":"q","parent":0},{"name":"a","parent":0}]}`, `is its own ancestor`},
		{"a parent out of range in JSON of ours", "a", `{"format":"treeloss-tree","version":1,"nodes":[{"name":"a","parent":7}]}`, `f: node 0 has the parent 7`},
		{"a drawing as DOT", "a b", "digraph { r -> a; r -> b }", `f:1: a drawing of a tree (SVG, DOT or text)`},
		{"a drawing as text", "a b", "(r)\n├── a\n└── b\n", `f:1: a drawing of a tree`},
		{"a drawing as SVG", "a", "<svg></svg>", `f:1: a drawing of a tree`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			labels := strings.Fields(tc.labels)
			if tc.labels == "" {
				labels = nil
			}
			_, err := ReadTaxonomy(strings.NewReader(tc.text), "f", labels)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got  %v\nwant %s", err, tc.want)
			}
			if _, ok := errors.AsType[*SyntaxError](err); !ok {
				t.Errorf("%T, want a *SyntaxError", err)
			}
		})
	}
}

// TestWordNetAsPaths writes the real hierarchy of tiny-imagenet as paths and as
// a tree, and gets the same tree.
func TestWordNetAsPaths(t *testing.T) {
	const data = "../../shared/data/"
	labels := column(t, data+"tiny-imagenet/classes.csv", 0)
	edges, err := os.ReadFile(data + "tiny-imagenet/hierarchy.csv")
	if err != nil {
		t.Skipf("the real data of ../shared is not beside the repository: %v", err)
	}
	want, err := ReadTaxonomy(strings.NewReader(string(edges)), "hierarchy.csv", labels)
	if err != nil {
		t.Fatal(err)
	}
	parent := make(map[string]string)
	var children []string
	for line := range strings.Lines(string(edges)) {
		child, up, _ := strings.Cut(strings.TrimSpace(line), ",")
		if child != "child" {
			parent[child] = up
			children = append(children, child)
		}
	}
	var paths strings.Builder
	for _, v := range children {
		path := v
		for up := parent[v]; up != ""; up = parent[up] {
			path = up + " > " + path
		}
		paths.WriteString(path + "\n")
	}
	got, err := ReadTaxonomy(strings.NewReader(paths.String()), "paths.txt", labels)
	if err != nil {
		t.Fatal(err)
	}
	if got.Len() != want.Len() || Distance(got).Distance(3, 77) != Distance(want).Distance(3, 77) {
		t.Errorf("%d nodes, want %d", got.Len(), want.Len())
	}
	roundTrip(t, want)
}

// TestDeepForms: hostile depth costs memory in proportion, never the stack.
func TestDeepForms(t *testing.T) {
	const n = 30_000
	for name, text := range map[string]string{
		"paths": strings.Repeat("x/", n) + "a\n" + strings.Repeat("x/", n) + "b\n",
		"JSON":  strings.Repeat(`{"x":`, n) + `["a","b"]` + strings.Repeat("}", n),
		"lists": strings.Repeat("[", n),
	} {
		tree, err := ReadTaxonomy(strings.NewReader(text), "f", []string{"a", "b"})
		if name == "lists" {
			if err == nil {
				t.Error("only opening brackets passed")
			}
			continue
		}
		if err != nil || outline(tree, 0) != "[x](a b)" {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := ReadTaxonomy(strings.NewReader(text), "f", []string{"x"}); err == nil || len(err.Error()) > 200 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

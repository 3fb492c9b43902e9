package labeltree

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// outline writes a tree as name(child child ...), classes as they are,
// pseudoclasses in brackets.
func outline(t *Tree, v int) string {
	name := t.Name(v)
	if t.Class(v) < 0 {
		name = "[" + name + "]"
	}
	if t.IsLeaf(v) {
		return name
	}
	var below []string
	for _, c := range t.Children(v) {
		below = append(below, outline(t, c))
	}
	return name + "(" + strings.Join(below, " ") + ")"
}

func TestReadTaxonomy(t *testing.T) {
	for _, tc := range []struct{ name, labels, csv, want string }{
		{"one root", "a b", "a,r\nb,r\n", "[r](a b)"},
		{"several roots get one above", "a b c d", "a,x\nb,x\nc,y\nd,y\n", "[root]([x](a b) [y](c d))"},
		{"the name root is taken", "root b c d", "root,x\nb,x\nc,y\nd,y\n", "[root_]([x](root b) [y](c d))"},
		{"a header", "a b", "Label,Parent\na,r\nb,r\n", "[r](a b)"},
		{"another header", "a b", "child,parent\na,r\nb,r\n", "[r](a b)"},
		{"a class on an inner node", "a b c", "a,c\nb,c\n", "[c (group)](c a b)"},
		{"that name is taken", "a|b|c|c (group)", "a,c\nb,c\nc (group),r\nc,r\n", "[r]([c (group)_](c a b) c (group))"},
		{"a class over one class", "a c", "a,c\n", "[c (group)](c a)"},
		{"a class on an inner node whose others are no classes", "a c", "a,r\nc,r\nx,c\ny,c\n", "[r](a c)"},
		{"nodes without classes go", "a b", "a,r\nb,r\nx,r\ny,x\n", "[r](a b)"},
		{"a chain keeps its upper name", "a b c", "a,low\nb,low\nlow,mid\nmid,high\nhigh,r\nc,r\n", "[r]([high](a b) c)"},
		{"a chain above the root", "a b", "a,low\nb,low\nlow,top\n", "[top](a b)"},
		{"a chain down to a leaf", "a b", "a,x\nx,y\ny,r\nb,r\n", "[r](a b)"},
		{"a chain onto a class on an inner node", "a b c", "a,c\nc,x\nx,r\nb,r\n", "[r]([x](c a) b)"},
		{"one class", "a", "a,x\nx,y\n", "a"},
		{"one class at the root", "a", "x,a\n", "a"},
		{"a second root without classes goes", "a b", "a,r\nb,r\nx,y\n", "[r](a b)"},
		{"parents may come first", "a b", "x,r\na,x\nb,x\n", "[r](a b)"},
		{"byte-order mark, CRLF, spaces, tabs", "a b", "\ufeffchild\tparent\r\na\t r\r\nb \tr\r\n", "[r](a b)"},
		{"quoted commas and line breaks", "a, b|c\nd", "\"a, b\",r\n\"c\nd\",r\n", "[r](a, b c\nd)"},
		{"spaces after the comma", "a b", "a, r\nb, r\n", "[r](a b)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			labels := strings.Split(tc.labels, "|")
			if len(labels) == 1 {
				labels = strings.Split(tc.labels, " ")
			}
			tree, err := ReadTaxonomy(strings.NewReader(tc.csv), "t.csv", labels)
			if err != nil {
				t.Fatal(err)
			}
			if err := tree.Check(); err != nil {
				t.Error(err)
			}
			if got := outline(tree, 0); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			for c, label := range tree.Labels() {
				if label != labels[c] {
					t.Errorf("class %d is %q, want %q", c, label, labels[c])
				}
			}
		})
	}
}

func TestReadTaxonomyRefuses(t *testing.T) {
	for _, tc := range []struct{ name, labels, csv, want string }{
		{"two parents", "a b", "a,r\nb,r\n\na,q\n", `t.csv:4: "a" has two parents, "r" (line 1) and "q"; keep one`},
		{"a row twice", "a b", "a,r\nb,r\na,r\n", `t.csv:3: the row "a", "r" stands already on line 1; remove one`},
		{"its own parent", "a b", "a,r\nr,r\n", `t.csv:2: "r" is its own parent; remove this row`},
		{"a cycle", "a b", "a,x\nx,y\ny,z\nz,x\nb,r\n", `t.csv:4: "z" is its own ancestor: "z" -> "x" -> "y" -> "z"; remove or mend one of these 3 rows`},
		{"nothing but a cycle", "a b", "a,b\nb,a\n", `t.csv:2: "b" is its own ancestor: "b" -> "a" -> "b"`},
		{"a long cycle is cut short", "n0", long(40), `"n7" -> "n8" -> … -> "n39"; remove or mend one of these 40 rows`},
		{"a class missing", "a b dog", "a,r\nb,r\ndgo,r\n", `t.csv: class "dog" has no row; add a row child,parent for it; "dgo" is a leaf there but no class`},
		{"many classes missing", "a b c d e f g", "a,r\n", `classes "b", "c", "d", "e", "f" and 1 more have no row`},
		{"three cells", "a b", "a,r\nb,r,x\n", "t.csv:2: row of 3 cells, want two"},
		{"one cell", "a b", "a r\n", "t.csv:1: row of 1 cells"},
		{"empty child", "a b", "a,r\n,r\n", `t.csv:2: the child of "r" is empty`},
		{"empty parent", "a b", "a,r\nr,\n", `t.csv:2: the parent of "r" is empty; name it, or remove the row if "r" is the root`},
		{"a stray quote", "a b", "a,r\nb,\"r\n", "t.csv:"},
		{"not UTF-8", "a b", "a,r\nb,\xff\n", "t.csv:2:3: invalid UTF-8: byte 0xff; save the file as UTF-8"},
		{"empty file", "a", "", "t.csv: no rows"},
		{"header only", "a", "child,parent\n", "t.csv: no rows"},
		{"labels that differ by spaces", "a| a", "a,r\n", "rename one"},
		{"no labels", "|", "a,r\n", "label"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			labels := strings.Split(tc.labels, "|")
			if len(labels) == 1 {
				labels = strings.Split(tc.labels, " ")
			}
			_, err := ReadTaxonomy(strings.NewReader(tc.csv), "t.csv", labels)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got  %v\nwant %s", err, tc.want)
			}
			if _, ok := errors.AsType[*SyntaxError](err); !ok && tc.name != "no labels" {
				t.Errorf("%T, want a *SyntaxError", err)
			}
		})
	}
	if _, err := ReadTaxonomy(io.MultiReader(strings.NewReader("a,r\n"), broken{}), "t.csv", []string{"a"}); !errors.Is(err, errBroken) {
		t.Errorf("a broken disk: %v", err)
	}
}

var errBroken = errors.New("broken disk")

type broken struct{}

func (broken) Read([]byte) (int, error)  { return 0, errBroken }
func (broken) Write([]byte) (int, error) { return 0, errBroken }

func long(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "n%d,n%d\n", i, (i+1)%n)
	}
	return b.String()
}

func TestFromParents(t *testing.T) {
	parents := map[string]string{"bear": "animal", "husky": "dog", "boxer": "dog", "dog": "animal"}
	tree, err := FromParents(parents, []string{"husky", "bear", "boxer"})
	if err != nil {
		t.Fatal(err)
	}
	if got := outline(tree, 0); got != "[animal](bear [dog](boxer husky))" {
		t.Errorf("got %s", got)
	}
	parents["animal"] = "dog"
	if _, err := FromParents(parents, []string{"husky"}); err == nil || !strings.Contains(err.Error(), `labeltree: "animal" is its own ancestor: "animal" -> "dog" -> "animal"`) {
		t.Errorf("cycle: %v", err)
	}
	if _, err := FromParents(nil, []string{"husky"}); err == nil {
		t.Error("no parents at all passed")
	}
}

// column reads one column of a CSV file with a header, without repeats.
func column(t *testing.T, path string, n int) []string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Skipf("the real data of ../shared is not beside the repository: %v", err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	seen := make(map[string]bool)
	for _, row := range rows[1:] {
		if !seen[row[n]] {
			seen[row[n]] = true
			values = append(values, row[n])
		}
	}
	return values
}

func TestRealTaxonomies(t *testing.T) {
	const data = "../../shared/data/"
	for _, tc := range []struct {
		name, labels, taxonomy       string
		column                       int
		classes, nodes, height, path int
		class                        string
	}{
		// 10 domains of 15 intents, and a root above that the file does not have.
		{"clinc150", "clinc150/train.csv", "clinc150/taxonomy.csv", 1, 150, 161, 2, 3, "freeze_account"},
		// 213 inner nodes, of which 115 have a single child.
		{"tiny-imagenet", "tiny-imagenet/classes.csv", "tiny-imagenet/hierarchy.csv", 0, 200, 298, 11, 6, "n01443537"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			labels := column(t, data+tc.labels, tc.column)
			f, err := os.Open(data + tc.taxonomy)
			if err != nil {
				t.Skipf("the real data of ../shared is not beside the repository: %v", err)
			}
			defer f.Close()
			tree, err := ReadTaxonomy(f, tc.taxonomy, labels)
			if err != nil {
				t.Fatal(err)
			}
			if err := tree.Check(); err != nil {
				t.Error(err)
			}
			path, err := tree.PathNames(tc.class)
			if err != nil {
				t.Fatal(err)
			}
			if tree.Classes() != tc.classes || tree.Len() != tc.nodes || tree.Height() != tc.height || len(path) != tc.path {
				t.Errorf("%d classes, %d nodes, height %d, path %q; want %d, %d, %d and %d names", tree.Classes(), tree.Len(), tree.Height(), path, tc.classes, tc.nodes, tc.height, tc.path)
			}
		})
	}
}

func FuzzReadTaxonomy(f *testing.F) {
	f.Add("a,r\nb,r\n", "a|b")
	f.Add("a,r\nb,a\nr,b\n", "a|b")
	f.Add("child,parent\na,x\nb,y\nx,r\n\"c\nd\",y\n", "a|b|c\nd|x")
	f.Add("\ufeffa\tr\r\na\tq\n", "a")
	f.Add("r/a\nr/b\nq > c\n", "a|b")
	f.Add("label,path\na,r/s\nb,r\n", "a|b|s")
	f.Add(`{"r": {"a": null, "q": ["b", "c", {"name": "d", "children": [1]}]}}`, "a|c|1")
	f.Add("((a:1,b:2)r:3,(c:4)q:5);", "a|c|r")
	f.Add("digraph { r -> a -> b; r -> c }", "a|c")
	f.Add("(r)\n├── a\n└── \"b\\n\"\n", "a")
	f.Fuzz(func(t *testing.T, text, joined string) {
		labels := strings.Split(joined, "|")
		tree, err := ReadTaxonomy(strings.NewReader(text), "t.csv", labels)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("an error on several lines: %q", err)
			}
			return
		}
		if err := tree.Check(); err != nil {
			t.Fatal(err)
		}
		roundTrip(t, tree)
		if _, err := Read(strings.NewReader(text), "t.csv"); err == nil {
			return // a tree of ours, which may have any form
		}
		if tree.Len() > 2*len(labels)-1 || tree.Classes() != len(labels) {
			t.Fatalf("%d nodes for %d classes", tree.Len(), len(labels))
		}
		for v := range tree.Len() {
			if tree.Class(v) >= 0 != tree.IsLeaf(v) {
				t.Fatalf("node %d is not of V form", v)
			}
		}
	})
}

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/internal/treefile"
	"github.com/treeloss/treeloss/internal/treetest"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/softmax"
)

var deskLabels = []string{"lost a card", "opening hours", "pay a fine", "renew a loan", "reserve a room", "return a book"}

func TestTreeBuild(t *testing.T) {
	names := file(t, "names.txt", "\ufeff"+strings.Join(deskLabels, "\r\n")+"\r\n\r\nopening hours\r\n")
	for _, tc := range []struct {
		name    string
		args    []string
		classes float64
	}{
		{"v-tree of names", []string{"--data", desk}, 6},
		{"file of labels", []string{"--labels", names}, 6},
		{"u-tree", []string{"--data", desk, "--kind", "u-tree", "--base", "2"}, 6},
		{"linkage", []string{"--data", desk, "--kind", "linkage"}, 6},
		{"taxonomy itself", []string{"--data", desk, "--from", "taxonomy", "--taxonomy", deskGroups}, 6},
		{"v-tree of a taxonomy", []string{"--data", desk, "--from", "taxonomy", "--taxonomy", deskGroups, "--kind", "v-tree"}, 6},
		{"means of texts", []string{"--data", desk, "--from", "means"}, 6},
		{"means of numbers", []string{"--data", breads, "--label", "bread", "--from", "means", "--kind", "linkage"}, 4},
		{"labels of an array", []string{"--data", file(t, "x.npy", npy("(2, 1)", []float64{1, 2})), "--labels", file(t, "y.txt", "a\nb\n")}, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			args := append([]string{"tree", "build"}, tc.args...)
			drawn := succeed(t, args...).out
			if lines := strings.Count(drawn, "\n"); lines < int(tc.classes) {
				t.Errorf("%d lines for %v classes:\n%s", lines, tc.classes, drawn)
			}
			facts := parse(t, succeed(t, append(args, "--json")...).out)
			if facts["classes"] != tc.classes || facts["nodes"].(float64) < tc.classes || facts["height"].(float64) < 1 {
				t.Errorf("facts %v, want %v classes", facts, tc.classes)
			}
			if facts["tree"].(map[string]any)["format"] != "treeloss-tree" {
				t.Errorf("facts %v, want the tree in them", facts)
			}
			// JSON and Newick can be read back, to the same tree at the last bit.
			dir := t.TempDir()
			var first *labeltree.Tree
			for _, ending := range []string{".json", ".dot", ".nwk", ".newick", ".gv", ".txt", ".svg"} {
				path := filepath.Join(dir, "tree"+ending)
				if o := succeed(t, append(args, "--out", path)...); !strings.Contains(o.out, "nodes") {
					t.Errorf("%q, want how large the tree is", o.out)
				}
				if ending == ".dot" || ending == ".gv" || ending == ".txt" || ending == ".svg" {
					if o := call(t, "tree", "show", path); o.status != 1 || !strings.Contains(o.log, "a drawing of a tree") {
						t.Errorf("%s: status %d, %q", ending, o.status, o.log)
					}
					continue
				}
				if o := succeed(t, "tree", "show", path); o.out != drawn {
					t.Errorf("%s holds\n%s, want\n%s", ending, o.out, drawn)
				}
				tree, err := treefile.Read(path, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first = tree
				}
				requireSameDistances(t, ending, tree, first)
			}
			if files, err := os.ReadDir(dir); err != nil || len(files) != 7 {
				t.Errorf("the folder holds %v, want the seven trees", files)
			}
		})
	}
	labels := succeed(t, "tree", "build", "--labels", names).out
	if data := succeed(t, "tree", "build", "--data", desk).out; labels != data {
		t.Errorf("from the labels\n%s, from the data\n%s", labels, data)
	}
}

// requireSameDistances compares two trees over the same labels, by edges and by
// lengths.
func requireSameDistances(t *testing.T, what string, got, want *labeltree.Tree) {
	t.Helper()
	if g, w := got.Labels(), want.Labels(); !slices.Equal(g, w) || got.Weighted() != want.Weighted() {
		t.Fatalf("%s: labels %q, want %q; lengths %v, want %v", what, g, w, got.Weighted(), want.Weighted())
	}
	for i := range want.Classes() {
		for j := range i {
			if g, w := labeltree.Distance(got).Distance(i, j), labeltree.Distance(want).Distance(i, j); g != w {
				t.Errorf("%s: %d edges between classes %d and %d, want %d", what, int(g), i, j, int(w))
			}
			if g, w := treetest.LengthDistance(got).Distance(i, j), treetest.LengthDistance(want).Distance(i, j); g != w {
				t.Errorf("%s: classes %d and %d are %v apart, want %v", what, i, j, g, w)
			}
		}
	}
}

func TestTreeGoesToTraining(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tree.json")
	succeed(t, "tree", "build", "--data", desk, "--kind", "linkage", "--out", path)
	model := trainOn(t, "--data", desk, "--taxonomy", path, "--sharing", "taxonomy")
	if got, want := succeed(t, "tree", "show", model).out, succeed(t, "tree", "show", path).out; got != want {
		t.Errorf("the model's tree is\n%s, want\n%s", got, want)
	}
	o := call(t, "train", "--quiet", "--data", breads, "--label", "bread", "--taxonomy", path, "--model", filepath.Join(t.TempDir(), "m"))
	if o.status != 1 || !strings.Contains(o.log, path) {
		t.Errorf("a tree over other classes: status %d, %q", o.status, o.log)
	}
}

func TestTreeShow(t *testing.T) {
	model := trainOn(t, "--data", desk, "--taxonomy", deskGroups, "--sharing", "taxonomy")
	want := `(library)
├── (books)
│   ├── return a book
│   └── renew a loan
├── (account)
│   ├── pay a fine
│   └── lost a card
└── (house)
    ├── reserve a room
    └── opening hours
`
	if o := succeed(t, "tree", "show", model); o.out != want || o.log != "" {
		t.Errorf("drawn as\n%swant\n%s", o.out, want)
	}
	if o := succeed(t, "tree", "show", deskGroups); o.out != want {
		t.Errorf("the taxonomy is drawn as\n%swant\n%s", o.out, want)
	}
	if o := succeed(t, "tree", "show", model, "--depth", "1"); strings.Contains(o.out, "fine") || !strings.Contains(o.out, "(account) … 2 classes") {
		t.Errorf("one level is drawn as\n%s", o.out)
	}
	if o := succeed(t, "tree", "show", model, "--path", "pay a fine"); o.out != "(library)\n├── … 1 more (2 classes)\n├── (account)\n│   ├── pay a fine\n│   └── … 1 more\n└── … 1 more (2 classes)\n" {
		t.Errorf("the way to a class is drawn as\n%s", o.out)
	}
	if o := succeed(t, "tree", "show", model, "--around", "pay a fine"); !strings.Contains(o.out, "lost a card") || !strings.Contains(o.out, "(house) … 2 classes") {
		t.Errorf("a class and its neighbours are drawn as\n%s", o.out)
	}
	if o := call(t, "tree", "show", model, "--path", "none such"); o.status != 1 || !strings.Contains(o.log, `no class "none such"`) {
		t.Errorf("no such class: status %d, %q", o.status, o.log)
	}
	if o := succeed(t, "tree", "show", model, "--width", "2"); strings.Contains(o.out, "house") || !strings.Contains(o.out, "…") {
		t.Errorf("two children are drawn as\n%s", o.out)
	}
	json := succeed(t, "tree", "show", model, "--json").out
	parse(t, json)
	if again := callWith(t, json, "tree", "show", "-"); again.out != want {
		t.Errorf("its JSON on standard input is drawn as\n%s", again.out)
	}
	if o := succeed(t, "tree", "show", model, "--format", "dot"); !strings.HasPrefix(o.out, "digraph") {
		t.Errorf("DOT %q", o.out)
	}
	if o := succeed(t, "tree", "show", model, "--format", "newick"); !strings.HasSuffix(o.out, ";\n") {
		t.Errorf("Newick %q", o.out)
	}
}

func TestTreeCheck(t *testing.T) {
	tabs := file(t, "groups.tsv", strings.ReplaceAll(string(content(t, deskGroups)), ",", "\t"))
	names := file(t, "names.txt", strings.Join(deskLabels, "\n"))
	nested := file(t, "groups.json", `{"library": {"books": ["return a book", "renew a loan"], "account": ["pay a fine", "lost a card"], "house": ["reserve a room", "opening hours"]}}`)
	for _, args := range [][]string{
		{deskGroups},
		{tabs},
		{nested},
		{nested, "--labels", names},
		{deskGroups, "--data", desk},
		{deskGroups, "--labels", names},
		{trainOn(t, "--data", desk, "--sharing", "taxonomy", "--taxonomy", deskGroups), "--labels", names},
	} {
		o := succeed(t, append([]string{"tree", "check"}, args...)...)
		if want := "10 nodes, 6 classes, 4 inner nodes with 2 to 3 children (mean 2.2), height 2, mean depth of a class 2.0"; !strings.Contains(o.out, want) {
			t.Errorf("%v: %q, want %q", args, o.out, want)
		}
		facts := parse(t, succeed(t, append([]string{"tree", "check", "--json"}, args...)...).out)
		fan := facts["fan_out"].(map[string]any)
		if facts["nodes"] != 10.0 || facts["classes"] != 6.0 || facts["height"] != 2.0 || fan["min"] != 2.0 || fan["max"] != 3.0 || fan["mean"] != 2.25 || facts["mean_depth"] != 2.0 {
			t.Errorf("%v: facts %v", args, facts)
		}
	}
	tree := filepath.Join(t.TempDir(), "tree.json")
	succeed(t, "tree", "build", "--labels", names, "--out", tree)
	for _, tc := range []struct{ name, labels, want string }{
		{"a label that the tree lacks", strings.Join(append(deskLabels, "get a snack"), "\n"), `"get a snack" is not in the tree`},
		{"a class too many", strings.Join(deskLabels[1:], "\n"), `"lost a card" of the tree is not among`},
	} {
		o := call(t, "tree", "check", "--quiet", tree, "--labels", file(t, "labels.txt", tc.labels))
		if o.status != 1 || !strings.Contains(o.log, tree) || !strings.Contains(o.log, tc.want) {
			t.Errorf("%s: status %d, %q; want %q", tc.name, o.status, o.log, tc.want)
		}
	}
	// A taxonomy may know more than the labels, and classes may be its groups.
	some := file(t, "some.txt", "lost a card\nbooks\n")
	for _, taxonomy := range []string{deskGroups, file(t, "paths.txt", "library/books/renew\nlibrary/account/lost a card\n"), file(t, "t.nwk", "((x,y)books,'lost a card',z);")} {
		o := call(t, "tree", "check", "--quiet", taxonomy, "--labels", some)
		if extra := strings.HasSuffix(taxonomy, ".nwk"); extra != (o.status == 1) || extra && !strings.Contains(o.log, `"x" of the tree is not among`) {
			t.Errorf("%s: status %d, %q%q", taxonomy, o.status, o.out, o.log)
		}
	}
	cycle := file(t, "cycle.csv", "child,parent\na,b\nb,a\n")
	if o := call(t, "tree", "check", cycle); o.status != 1 || !strings.Contains(o.log, cycle) {
		t.Errorf("a cycle without labels: status %d, %q", o.status, o.log)
	}
}

func TestTreeShowRefusesAModelOnStandardInput(t *testing.T) {
	model := trainOn(t, "--data", desk, "--sharing", "v-tree")
	if o := callWith(t, string(content(t, model)), "tree", "show", "-"); o.status != 1 || !strings.Contains(o.log, "name its file") {
		t.Errorf("status %d, %q", o.status, o.log)
	}
}

// A model that was trained without a tree is drawn by its weights, and the log says so.
func TestTreeOfWeights(t *testing.T) {
	model := trainOn(t, "--data", desk, "--sharing", "none")
	o := succeed(t, "tree", "show", model)
	if !strings.Contains(o.log, "trained without a tree") || !strings.Contains(o.log, "linkage of its class weights") {
		t.Errorf("the log does not say what tree this is: %q", o.log)
	}
	m, err := softmax.Load(model)
	if err != nil {
		t.Fatal(err)
	}
	for _, label := range m.Labels {
		if !strings.Contains(o.out, label) {
			t.Errorf("no class %q in\n%s", label, o.out)
		}
	}
}

package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/internal/treetest"
	"github.com/treeloss/treeloss/metric"
	"github.com/treeloss/treeloss/softmax"

	"github.com/treeloss/treeloss/internal/treefile"
)

// deskDistances is a list of distances between the classes of desk: 1 within a
// group of two, 2 between groups.
func deskDistances(t *testing.T) string {
	t.Helper()
	group := map[string]string{"return a book": "books", "renew a loan": "books", "pay a fine": "account", "lost a card": "account",
		"reserve a room": "house", "opening hours": "house"}
	list := "one\tother\tdistance\nelsewhere\topening hours\t7\n" // a name that the data does not have
	for i, a := range deskLabels {
		for _, b := range deskLabels[i+1:] {
			d := 2
			if group[a] == group[b] {
				d = 1
			}
			list += fmt.Sprintf("%s\t%s\t%d\n", b, a, d)
		}
	}
	return file(t, "distances.tsv", list)
}

// Every command that takes knowledge of the classes takes the new sources.
func TestDistancesAndWeightsAreSources(t *testing.T) {
	distances, model := deskDistances(t), quickModel(t)
	for _, flag := range [][2]string{{"--distances", distances}, {"--weights-model", model}} {
		source := map[string]string{"--distances": "distances", "--weights-model": "weights"}[flag[0]]
		t.Run(source, func(t *testing.T) {
			for _, sharing := range []string{source, source + "+names", "v-tree", "linkage"} {
				path := filepath.Join(t.TempDir(), "m.safetensors")
				succeed(t, "train", "--quiet", "--data", desk, "--model", path, flag[0], flag[1], "--sharing", sharing, "--from", source)
				m, err := softmax.Load(path)
				if err != nil {
					t.Fatal(err)
				}
				if m.Training.Sharing != sharing || m.Training.Options[strings.TrimPrefix(flag[0], "--")] != "given" {
					t.Errorf("training record: sharing %q, options %v", m.Training.Sharing, m.Training.Options)
				}
				if tree := sharing == "v-tree" || sharing == "linkage"; tree != (m.Tree != nil) {
					t.Errorf("%s: tree %v", sharing, m.Tree)
				}
			}
			o := succeed(t, "compare", "--quiet", "--data", desk, "--test", deskTest, flag[0], flag[1], "--methods", source+",names+"+source+",v-tree,soft-labels,auto")
			if !strings.Contains(o.out, "names+"+source) {
				t.Errorf("%q lacks a line", o.out)
			}
			auto := succeed(t, "train", "--data", desk, "--model", filepath.Join(t.TempDir(), "m"), flag[0], flag[1])
			if !strings.Contains(auto.out, "\n"+source+" ") {
				t.Errorf("auto does not try %s:\n%s", source, auto.out)
			}
			tuned := succeed(t, "tune", "--quiet", "--data", desk, flag[0], flag[1], "--trials", "9")
			if !strings.Contains(tuned.out, "--sharing "+source+" ") || !strings.Contains(tuned.out, flag[0]+" "+flag[1]) {
				t.Errorf("tune does not try %s, or its command does not name it:\n%s", source, tuned.out)
			}
			if o := succeed(t, "cv", "--quiet", "--data", desk, flag[0], flag[1], "--sharing", source, "--folds", "2"); !strings.Contains(o.out, source) {
				t.Errorf("cv: %s", o.out)
			}
			// Trees: the default with the flag, the same with --from, from the data or a list of names.
			names := file(t, "names.txt", strings.Join(deskLabels, "\n"))
			tree := succeed(t, "tree", "build", "--data", desk, flag[0], flag[1], "--kind", "linkage").out
			if again := succeed(t, "tree", "build", "--labels", names, flag[0], flag[1], "--from", source, "--kind", "linkage").out; again != tree {
				t.Errorf("from names\n%swant\n%s", again, tree)
			}
			if byNames := succeed(t, "tree", "build", "--data", desk, "--kind", "linkage").out; byNames == tree {
				t.Errorf("the tree is that of the names:\n%s", tree)
			}
			out, _, err := runDoctor(t, "", "--data", desk, flag[0], flag[1], "--from", source)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"the given", "cannot be said of 6 classes", "doubling dimension"} {
				if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
					t.Errorf("doctor: no %q in\n%s", want, out)
				}
			}
		})
	}
	// The distances are what the list says: pairs first, at half the height.
	tree := succeed(t, "tree", "build", "--data", desk, "--distances", distances, "--kind", "linkage").out
	for _, pair := range []string{"return a book", "pay a fine", "reserve a room"} {
		if strings.Count(tree, pair) != 1 {
			t.Errorf("%s is not once in\n%s", pair, tree)
		}
	}
	json := parse(t, succeed(t, "tree", "build", "--data", desk, "--distances", distances, "--kind", "linkage", "--json").out)
	if json["height"].(float64) < 2 || json["weighted"] != true {
		t.Errorf("facts %v", json)
	}
}

func TestMistakesInDistancesAndWeights(t *testing.T) {
	list := string(content(t, deskDistances(t)))
	bad := func(from, to string) string { return file(t, "bad.tsv", strings.Replace(list, from, to, 1)) }
	hierarchy := trainOn(t, "--data", desk, "--loss", "hierarchical-softmax")
	bread := breadModel(t)
	whole := deskDistances(t)
	for _, tc := range []badInput{
		{"a class is not in the list", []string{"compare", "--data", desk, "--distances", file(t, "few.tsv", "lost a card\topening hours\t2\n")}, 1,
			[]string{"few.tsv", "4 of the 6 labels do not occur", `"pay a fine"`}},
		{"a pair is missing", []string{"compare", "--data", desk, "--distances", bad("pay a fine\tlost a card\t1\n", "")}, 1,
			[]string{"1 of the 15 pairs", `"lost a card" and "pay a fine"`}},
		{"the two ways differ", []string{"compare", "--data", desk, "--distances", file(t, "bad.tsv", list+"lost a card\tpay a fine\t3\n")}, 1,
			[]string{"bad.tsv:18", "on a line before"}},
		{"NaN", []string{"compare", "--data", desk, "--distances", bad("lost a card\t1", "lost a card\tNaN")}, 1, []string{"bad.tsv:", `"NaN"`, "finite"}},
		{"packed", []string{"compare", "--data", desk, "--distances", file(t, "d.xz", "\xfd7zXZ\x00")}, 1, []string{"xz", "unpack"}},
		{"no such list", []string{"compare", "--data", desk, "--distances", "nowhere.tsv"}, 1, []string{"nowhere.tsv", "--distances"}},
		{"no such model", []string{"compare", "--data", desk, "--weights-model", "nowhere"}, 1, []string{"nowhere", "--weights-model"}},
		{"no model at all", []string{"compare", "--data", desk, "--weights-model", desk}, 1, []string{"desk.csv is no model"}},
		{"a model of other classes", []string{"compare", "--data", desk, "--weights-model", bread}, 1, []string{"no weights for 6 of the 6 classes", `"lost a card"`, "and 1 more"}},
		{"a model of nodes", []string{"compare", "--data", desk, "--weights-model", hierarchy}, 1, []string{"hierarchical softmax", "--loss"}},
		{"from distances without any", []string{"compare", "--data", desk, "--from", "distances"}, 2, []string{"--distances"}},
		{"from weights without any", []string{"tree", "build", "--data", desk, "--from", "weights"}, 2, []string{"--weights-model"}},
		{"sharing distances without any", []string{"compare", "--data", desk, "--methods", "distances"}, 2, []string{"--distances FILE"}},
		{"sharing weights without any", []string{"compare", "--data", desk, "--methods", "weights"}, 2, []string{"--weights-model MODEL"}},
		{"two sources of a tree", []string{"tree", "build", "--data", desk, "--distances", whole, "--weights-model", bread}, 2, []string{"one source", "--distances", "--weights-model"}},
		{"distances for another tree", []string{"tree", "build", "--data", desk, "--distances", whole, "--from", "means"}, 2, []string{"--from distances"}},
		{"a taxonomy without --from", []string{"tree", "build", "--data", desk, "--taxonomy", deskGroups}, 2, []string{"--from taxonomy"}},
		{"two streams", []string{"train", "--data", "-", "--label-vectors", "-", "--model", "m"}, 2, []string{"--data and --label-vectors", "standard input"}},
		{"two streams for compare", []string{"compare", "--data", "-", "--distances", "-"}, 2, []string{"--data and --distances", "standard input"}},
		{"two streams for doctor", []string{"doctor", "--data", "-", "--label-vectors", "-"}, 2, []string{"--data and --label-vectors"}},
		{"two streams for cv", []string{"cv", "--data", "-", "--label-vectors", "-"}, 2, []string{"--data and --label-vectors"}},
		{"two streams for tune", []string{"tune", "--data", "-", "--distances", "-"}, 2, []string{"--data and --distances"}},
		{"two streams for a tree", []string{"tree", "build", "--data", "-", "--label-vectors", "-"}, 2, []string{"--data and --label-vectors"}},
		{"two streams of knowledge", []string{"train", "--data", desk, "--label-vectors", "-", "--distances", "-", "--model", "m"}, 2, []string{"--label-vectors and --distances"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := call(t, append([]string{"--quiet"}, tc.args...)...)
			if o.status != tc.status || o.out != "" || strings.Count(o.log, "\n") != 1 {
				t.Errorf("status %d, %q, %q; want %d and one line", o.status, o.out, o.log, tc.status)
			}
			for _, want := range tc.want {
				if !strings.Contains(o.log, want) {
					t.Errorf("log %q, want %q in it", o.log, want)
				}
			}
		})
	}
}

// Lists and vectors may come from a pipe, as from xz -dc.
func TestKnowledgeFromStandardInput(t *testing.T) {
	list := deskDistances(t)
	want := succeed(t, "tree", "build", "--data", desk, "--distances", list).out
	if o := callWith(t, string(content(t, list)), "tree", "build", "--data", desk, "--distances", "-"); o.status != 0 || o.out != want {
		t.Errorf("status %d, %q, drawn\n%s, want\n%s", o.status, o.log, o.out, want)
	}
	data, _, vectors, _ := petFiles(t)
	want = succeed(t, "tree", "build", "--data", data, "--label-vectors", vectors, "--unknown", "root").out
	if o := callWith(t, string(content(t, vectors)), "tree", "build", "--data", data, "--label-vectors", "-", "--unknown", "root"); o.status != 0 || o.out != want {
		t.Errorf("status %d, %q, drawn\n%s, want\n%s", o.status, o.log, o.out, want)
	}
}

// The real list: 200 classes among 1,372 nodes, through a pipe.
func TestImageNetDistances(t *testing.T) {
	packed := filepath.Join("..", "..", "..", "shared", "data", "label-vectors", "imagenet-1k-distances.txt.xz")
	xz, err := exec.LookPath("xz")
	if _, missing := os.Stat(packed); missing != nil || err != nil {
		t.Skip("the real data of ../shared is not beside the repository, or xz, which unpacks it, is not installed")
	}
	list, err := exec.CommandContext(t.Context(), xz, "-dc", packed).Output()
	if err != nil {
		t.Fatal(err)
	}
	classes, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "data", "tiny-imagenet", "classes.csv"))
	if err != nil {
		t.Fatal(err)
	}
	var names strings.Builder
	for _, line := range strings.Split(string(classes), "\n")[1:] {
		name, _, _ := strings.Cut(line, ",")
		names.WriteString(name + "\n")
	}
	labels := file(t, "wnids.txt", names.String())
	path := filepath.Join(t.TempDir(), "tree.json")
	o := callWith(t, string(list), "tree", "build", "--labels", labels, "--distances", "-", "--kind", "linkage", "--out", path)
	if o.status != 0 || strings.Contains(o.log, "no metric") {
		t.Fatalf("status %d, %q", o.status, o.log)
	}
	tree, err := treefile.Read(path, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	// The distances are an ultrametric, so the linkage has them: the squares of
	// its lengths' sums, up to the factor 2 of the way up and down again.
	space, err := metric.ReadDistances(bytes.NewReader(list), "list", tree.Labels())
	if err != nil {
		t.Fatal(err)
	}
	if tree.Classes() != 200 {
		t.Fatalf("%d classes, want 200", tree.Classes())
	}
	way := treetest.LengthDistance(tree)
	for i := range 200 {
		for j := range i {
			if got, want := way.Distance(i, j), 2*space.Distance(i, j)*space.Distance(i, j); math.Abs(got-want) > 1e-6*want {
				t.Fatalf("%s and %s: %v along the tree, want %v", tree.Name(tree.Node(i)), tree.Name(tree.Node(j)), got, want)
			}
		}
	}
}

// Distances that break the triangle inequality are told of, and used.
func TestDistancesThatAreNoMetric(t *testing.T) {
	list := strings.Replace(string(content(t, deskDistances(t))), "pay a fine\tlost a card\t1\n", "pay a fine\tlost a card\t99\n", 1)
	o := succeed(t, "tree", "build", "--data", desk, "--distances", file(t, "d.tsv", list))
	if !strings.Contains(o.log, "no metric") || !strings.Contains(o.log, "are 99 apart") {
		t.Errorf("log %q", o.log)
	}
}

// A file of vectors with a word twice: the first counts, and the log says so.
func TestVectorsWithAWordTwice(t *testing.T) {
	data, _, _, _ := petFiles(t)
	twice := file(t, "v.txt", "4 2\ncat 1 0\ndog 0.9 0.1\ncat -1 0\nbus 0 1\n")
	o := succeed(t, "tree", "build", "--data", data, "--label-vectors", twice, "--unknown", "drop", "--kind", "linkage")
	once := succeed(t, "tree", "build", "--data", data, "--label-vectors", file(t, "v.txt", "3 2\ncat 1 0\ndog 0.9 0.1\nbus 0 1\n"), "--unknown", "drop", "--kind", "linkage")
	if o.out != once.out || !strings.Contains(o.log, "1 words stand there again; their first vectors count") {
		t.Errorf("log %q, drawn\n%s, want\n%s", o.log, o.out, once.out)
	}
}

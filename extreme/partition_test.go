package extreme

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/treeloss/treeloss/matrix"
)

// groups returns unit vectors of k classes around so many centres, class c at centre
// c % centres, so that numbers say nothing about nearness.
func groups(k, centres int) *matrix.Dense {
	const d = 16
	random := rand.New(rand.NewPCG(1, 1))
	around := matrix.NewDense(centres, d)
	for i := range around.Data {
		around.Data[i] = float32(random.NormFloat64())
	}
	m := matrix.NewDense(k, d)
	for c := range k {
		for j := range d {
			m.Row(c)[j] = around.Row(c % centres)[j] + 0.2*float32(random.NormFloat64())
		}
		unit(m.Row(c))
	}
	return m
}

func TestCluster(t *testing.T) {
	for _, tc := range []struct {
		name   string
		k      int
		shape  Shape
		leaves int
		levels int
	}{
		{"one class", 1, Shape{}, 1, 1},
		{"one leaf", 100, Shape{}, 1, 1},
		{"one more", 101, Shape{}, 2, 2},
		{"leaves of one", 9, Shape{MaxLeaf: 1}, 9, 2},
		{"two levels of inner nodes", 1000, Shape{MaxLeaf: 10, MaxWidth: 16}, 100, 3},
		{"a number without divisors", 997, Shape{MaxLeaf: 7, MaxWidth: 6}, 143, 4},
		{"binary", 64, Shape{MaxLeaf: 2, MaxWidth: 2}, 32, 6},
	} {
		t.Run(tc.name, func(t *testing.T) {
			vectors := groups(tc.k, 8)
			p := Cluster(vectors, tc.shape, 1, 1)
			if err := p.Check(); err != nil {
				t.Fatal(err)
			}
			if p.Leaves() != tc.leaves || p.Levels() != tc.levels {
				t.Errorf("%d leaves on level %d, want %d and %d", p.Leaves(), p.Levels(), tc.leaves, tc.levels)
			}
			shape := tc.shape.withDefaults()
			for v, n := range p.Nodes {
				if n.Leaf() && n.Classes() > shape.MaxLeaf || n.Children > shape.MaxWidth {
					t.Errorf("node %d has %d classes and %d children", v, n.Classes(), n.Children)
				}
			}
			if other := Cluster(vectors, tc.shape, 1, 4); !reflect.DeepEqual(p, other) {
				t.Error("four goroutines make another partition than one")
			}
		})
	}
}

// Classes around one centre are in one leaf.
func TestClusterFindsGroups(t *testing.T) {
	const k, centres = 160, 8
	p := Cluster(groups(k, centres), Shape{MaxLeaf: k / centres}, 1, 2)
	whole := 0
	for _, n := range p.Nodes {
		if !n.Leaf() {
			continue
		}
		same := true
		for _, c := range p.Order[n.First:n.End] {
			same = same && int(c)%centres == int(p.Order[n.First])%centres
		}
		if same {
			whole++
		}
	}
	if whole < centres-2 {
		t.Errorf("%d of %d leaves have the classes of one centre, want %d and more", whole, centres, centres-2)
	}
}

// Equal vectors are no reason to end anywhere but in a balanced tree.
func TestClusterOfEqualVectors(t *testing.T) {
	for name, m := range map[string]*matrix.Dense{"zeros": matrix.NewDense(50, 4), "ones": {Columns: 4, Data: slices.Repeat([]float32{1}, 200)}} {
		if p := Cluster(m, Shape{MaxLeaf: 10}, 1, 1); p.Check() != nil || p.Leaves() != 5 {
			t.Errorf("%s: %d leaves, %v", name, p.Leaves(), p.Check())
		}
	}
}

func TestPartitionCheck(t *testing.T) {
	good := func() *Partition {
		return Sequence([]int32{2, 0, 1, 3}, Shape{MaxLeaf: 2})
	}
	if err := good().Check(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(p *Partition){
		"no classes":             func(p *Partition) { p.Order = nil },
		"no nodes":               func(p *Partition) { p.Nodes = nil },
		"a class twice":          func(p *Partition) { p.Order[0] = 0 },
		"a class out of range":   func(p *Partition) { p.Order[0] = 4 },
		"a root of some classes": func(p *Partition) { p.Nodes[0].End = 3 },
		"an empty leaf":          func(p *Partition) { p.Nodes[1].End = 0 },
		"a gap":                  func(p *Partition) { p.Nodes[2].First = 3 },
		"its own child":          func(p *Partition) { p.Nodes[0].Child = 0 },
		"children beyond":        func(p *Partition) { p.Nodes[0].Children = 3 },
		"fewer than no children": func(p *Partition) { p.Nodes[1].Children = -1 },
		"a node without parent":  func(p *Partition) { p.Nodes = append(p.Nodes, p.Nodes[2]) },
	} {
		p := good()
		if spoil(p); p.Check() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// The tree to draw has every class below its group, whatever the classes are called.
func TestLabelTree(t *testing.T) {
	p := Sequence([]int32{3, 0, 2, 1}, Shape{MaxLeaf: 2})
	m := &Model{Partition: p, Labels: []string{"group 1", "root", "b", "group 1'"}}
	tree, err := m.LabelTree()
	if err != nil {
		t.Fatal(err)
	}
	for label, want := range map[string][]string{
		"group 1'": {"group 1'", "group 1''", "root'"}, "group 1": {"group 1", "group 1''", "root'"},
		"b": {"b", "group 2", "root'"}, "root": {"root", "group 2", "root'"}} {
		if path, err := tree.PathNames(label); err != nil || !slices.Equal(path, want) {
			t.Errorf("%s: path %q, want %q (%v)", label, path, want, err)
		}
	}
	if !slices.Equal(tree.Labels(), m.Labels) {
		t.Errorf("labels %q", tree.Labels())
	}
}

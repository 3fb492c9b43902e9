package extreme

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
)

// Partition puts k classes into the leaves of a shallow tree.
type Partition struct {
	// Order has the classes leaf by leaf, so that those of a node stand together.
	Order []int32
	// Nodes has the root first, then level by level; the children of a node stand
	// together.
	Nodes []Node
}

// Node is a set of classes that stand together.
type Node struct {
	First, End int // its classes are Order[First:End]
	Child      int // its children are Nodes[Child : Child+Children]
	Children   int // 0 for a leaf, whose classes are its choices
}

// Leaf tells whether the choices of the node are classes.
func (n Node) Leaf() bool { return n.Children == 0 }

// Classes returns the number of classes at or below the node.
func (n Node) Classes() int { return n.End - n.First }

// Outputs returns the number of choices of the node, "none of these" not counted.
func (n Node) Outputs() int {
	if n.Leaf() {
		return n.Classes()
	}
	return n.Children
}

// Leaves returns the number of leaves.
func (p *Partition) Leaves() int {
	leaves := 0
	for _, n := range p.Nodes {
		if n.Leaf() {
			leaves++
		}
	}
	return leaves
}

// Levels returns the number of nodes on the way from the root to each leaf, itself counted.
func (p *Partition) Levels() int {
	levels := 1
	for n := p.Nodes[0]; !n.Leaf(); n = p.Nodes[n.Child] {
		levels++
	}
	return levels
}

// Positions returns the place of each class in Order.
func (p *Partition) Positions() []int32 {
	at := make([]int32, len(p.Order))
	for n, c := range p.Order {
		at[c] = int32(n)
	}
	return at
}

// Check returns an error unless every class is in one leaf, every node but the root the
// child of one node before it, and no node has more than MaxOutputs choices.
func (p *Partition) Check() error {
	k := len(p.Order)
	if k == 0 || len(p.Nodes) == 0 {
		return fmt.Errorf("extreme: a partition of %d classes in %d nodes, want at least one of each", k, len(p.Nodes))
	}
	seen := make([]bool, k)
	for n, c := range p.Order {
		if c < 0 || int(c) >= k || seen[c] {
			return fmt.Errorf("extreme: class %d at place %d, want each of 0 to %d once", c, n, k-1)
		}
		seen[c] = true
	}
	if root := p.Nodes[0]; root.First != 0 || root.End != k {
		return fmt.Errorf("extreme: the root has the classes %d to %d, want all %d", root.First, root.End, k)
	}
	next := 1 // the first node that is no child yet
	for v, n := range p.Nodes {
		if n.First < 0 || n.First >= n.End || n.End > k || n.Outputs() > MaxOutputs {
			return fmt.Errorf("extreme: node %d has the places %d to %d and %d choices, want some of %d places and at most %d choices", v, n.First, n.End, n.Outputs(), k, MaxOutputs)
		}
		if n.Leaf() {
			continue
		}
		if n.Child != next || n.Child <= v || n.Children < 0 || n.Children > len(p.Nodes)-n.Child {
			return fmt.Errorf("extreme: node %d has %d children from node %d on, want them from node %d on, of %d nodes", v, n.Children, n.Child, next, len(p.Nodes))
		}
		next += n.Children
		at := n.First
		for _, c := range p.Nodes[n.Child:next] {
			if c.First != at {
				return fmt.Errorf("extreme: a child of node %d begins at place %d, want %d", v, c.First, at)
			}
			at = c.End
		}
		if at != n.End {
			return fmt.Errorf("extreme: the children of node %d end at place %d, want %d", v, at, n.End)
		}
	}
	if next != len(p.Nodes) {
		return fmt.Errorf("extreme: %d nodes, of which %d hang in the tree", len(p.Nodes), next)
	}
	return nil
}

// Shape says how wide the nodes of a partition are. The zero value is the default.
type Shape struct {
	MaxLeaf  int // classes of a leaf; 0 means 100
	MaxWidth int // children of an inner node; 0 means 128
}

// MaxOutputs is the most choices that a node may have: one byte numbers them and "none of
// these".
const MaxOutputs = 255

// withDefaults fills in what 0 stands for.
func (s Shape) withDefaults() Shape {
	return Shape{min(cmp.Or(s.MaxLeaf, 100), MaxOutputs), min(cmp.Or(s.MaxWidth, 128), MaxOutputs)}
}

// Cluster makes a partition by balanced bisection: the classes of a node are cut in two by
// spherical 2-means over their vectors (k x dimensions), in halves of fixed sizes, and
// these again until there are as many parts as the node has children. Leaves differ by one
// class at most. It takes O(k log k) for the cuts, each of some passes over the vectors, on
// so many goroutines; neither they nor the order of the classes' numbers enter the result
// beyond the seed's choice of where each cut begins.
func Cluster(vectors *matrix.Dense, shape Shape, seed uint64, threads int) *Partition {
	k := vectors.Rows()
	order := make([]int32, k)
	for c := range order {
		order[c] = int32(c)
	}
	b := &bisection{vectors: vectors, order: order, seed: seed}
	return cut(order, shape.withDefaults(), threads, b.split)
}

// Sequence makes a partition of classes in a given order, such as that of the leaves of a
// taxonomy: nodes are runs of equal length.
func Sequence(order []int32, shape Shape) *Partition {
	return cut(order, shape.withDefaults(), 1, func(lo, hi int, _ []int) {})
}

// cut makes a partition of order; arrange puts order[lo:hi] in an order in which runs of
// the given sizes are similar.
func cut(order []int32, shape Shape, threads int, arrange func(lo, hi int, sizes []int)) *Partition {
	k := len(order)
	leaves := (k + shape.MaxLeaf - 1) / shape.MaxLeaf
	levels := 0 // of inner nodes
	for n := 1; n < leaves; n *= shape.MaxWidth {
		levels++
	}
	p := &Partition{Order: order, Nodes: []Node{{End: k}}}
	below := []int{leaves} // leaves below each node
	for from := 0; levels > 0; levels-- {
		end := len(p.Nodes)
		children := make([][]int, end-from) // the leaves below each child
		kernel.Parallel(threads, end-from, 1, func(n, _, _ int) {
			v := from + n
			if below[v] == 1 {
				return
			}
			width := int(math.Ceil(math.Pow(float64(below[v]), 1/float64(levels)) - 1e-9))
			children[n] = shares(below[v], width)
			arrange(p.Nodes[v].First, p.Nodes[v].End, sizesOf(p.Nodes[v].Classes(), children[n]))
		})
		for n, leaves := range children {
			if leaves == nil {
				continue
			}
			v := from + n
			p.Nodes[v].Child, p.Nodes[v].Children = len(p.Nodes), len(leaves)
			at := p.Nodes[v].First
			for i, size := range sizesOf(p.Nodes[v].Classes(), leaves) {
				p.Nodes = append(p.Nodes, Node{First: at, End: at + size})
				below = append(below, leaves[i])
				at += size
			}
		}
		from = end
	}
	return p
}

// shares deals n things to parts that differ by one at most.
func shares(n, parts int) []int {
	out := make([]int, parts)
	for i := range out {
		out[i] = (i+1)*n/parts - i*n/parts
	}
	return out
}

// sizesOf deals n classes to parts in proportion to their leaves, rounded so that no leaf
// gets more than n / leaves, rounded up.
func sizesOf(n int, leaves []int) []int {
	all := 0
	for _, l := range leaves {
		all += l
	}
	out := make([]int, len(leaves))
	at, done := 0, 0
	for i, l := range leaves {
		done += l
		end := done * n / all
		out[i], at = end-at, end
	}
	return out
}

// bisection cuts sets of classes in two, again and again.
type bisection struct {
	vectors *matrix.Dense
	order   []int32
	seed    uint64
}

const (
	// bisectionRounds is the most passes of 2-means of a cut; most end after five.
	bisectionRounds = 12
	// farSample is the number of classes among which the second centre of a cut begins.
	farSample = 64
	// streamBisection is the stream of random numbers of where cuts begin.
	streamBisection = 0xb15ec7
)

// split arranges order[lo:hi] in parts of the given sizes.
func (b *bisection) split(lo, hi int, sizes []int) {
	if len(sizes) < 2 {
		return
	}
	half, at := len(sizes)/2, lo
	for _, n := range sizes[:half] {
		at += n
	}
	b.bisect(lo, at, hi)
	b.split(lo, at, sizes[:half])
	b.split(at, hi, sizes[half:])
}

// bisect puts the classes of order[lo:hi] that are nearer to one of two centres into
// order[lo:at], the others behind it.
func (b *bisection) bisect(lo, at, hi int) {
	list, d := b.order[lo:hi], b.vectors.Columns
	random := rand.New(rand.NewPCG(b.seed^streamBisection, uint64(lo)<<32|uint64(hi)))
	first := b.vectors.Row(int(list[random.IntN(len(list))]))
	second, least := first, float32(math.Inf(1))
	for range farSample {
		v := b.vectors.Row(int(list[random.IntN(len(list))]))
		if s := kernel.Dot(first, v); s < least {
			second, least = v, s
		}
	}
	direction := make([]float32, d)
	for j := range direction {
		direction[j] = first[j] - second[j]
	}
	type entry struct {
		score float32
		class int32
	}
	entries := make([]entry, len(list))
	before := make([]int32, len(list))
	a, z := make([]float32, d), make([]float32, d)
	for range bisectionRounds {
		copy(before, list)
		for n, c := range list {
			entries[n] = entry{kernel.Dot(direction, b.vectors.Row(int(c))), c}
		}
		slices.SortFunc(entries, func(x, y entry) int {
			return cmp.Or(cmp.Compare(y.score, x.score), cmp.Compare(x.class, y.class))
		})
		for n, e := range entries {
			list[n] = e.class
		}
		if slices.Equal(before, list) {
			return
		}
		clear(a)
		clear(z)
		for _, c := range list[:at-lo] {
			kernel.Add(b.vectors.Row(int(c)), a)
		}
		for _, c := range list[at-lo:] {
			kernel.Add(b.vectors.Row(int(c)), z)
		}
		unit(a)
		unit(z)
		for j := range direction {
			direction[j] = a[j] - z[j]
		}
	}
}

// unit scales x to length 1; zeros stay.
func unit(x []float32) {
	if norm := math.Sqrt(float64(kernel.Dot(x, x))); norm > 0 {
		kernel.Scale(float32(1/norm), x)
	}
}

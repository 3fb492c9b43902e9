package covertree

// explicit lists the nodes of the tree in preorder: for each point one node
// for each level at which it has children, and a leaf. It keeps its own stack,
// as a tree of k points can be k levels deep.
func (t *Tree) explicit() []Node {
	// A visit is what is left of a point: its children from number from on.
	type visit struct{ point, from, parent int }
	nodes := make([]Node, 0, 2*len(t.points)-1)
	numbers := make([]int, 2*len(t.points)-2) // for all lists of children
	stack := []visit{{point: t.root, parent: -1}}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		number := len(nodes)
		nodes = append(nodes, Node{Point: v.point, Level: Bottom, Parent: v.parent})
		if v.parent >= 0 {
			up := &nodes[v.parent]
			up.Children = append(up.Children, number)
		}
		children := t.points[v.point].children
		if v.from == len(children) {
			continue
		}
		top := t.points[children[v.from].point].top
		end := v.from
		for end < len(children) && t.points[children[end].point].top == top {
			end++
		}
		if top != Bottom {
			nodes[number].Level = top + 1
		}
		size := 1 + end - v.from
		nodes[number].Children, numbers = numbers[:0:size], numbers[size:]
		for n := end - 1; n >= v.from; n-- { // the stack turns the order round
			stack = append(stack, visit{point: int(children[n].point), parent: number})
		}
		stack = append(stack, visit{point: v.point, from: end, parent: number})
	}
	return nodes
}

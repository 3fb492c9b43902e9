// Package labeltree holds the trees over class labels that decide which classes
// share parameters (Wang and Izbicki 2022, Section 3), and that measure how bad
// a mistake is.
//
//	cover tree --U, V-------------+
//	tree as drawn --FromNested----+
//	nodes --New-------------------+
//	distances --Linkage-----------+--> Tree --> sharing, loss, score
//	taxonomy --ReadTaxonomy,------+      |
//	           FromParents        |      +--> WriteJSON, WriteNewick
//	file --Read-------------------+      +--> WriteText, WriteDOT, WriteSVG
//
// JSON and Newick are for keeping a tree, the others for looking at one. Read tells
// the first two apart, and ReadTaxonomy, which also reads taxonomies of other forms,
// fits any of them to the classes at hand.
//
// Each class sits on a node of its own. Nodes on which no class sits are
// pseudoclasses. The path of a class runs from its node up to the root, and the
// class's weights are the sum of the rows of V on its path.
//
//   - A U-tree has a node for each class and no others: classes also sit on
//     inner nodes. Its paths are those of the paper's Section 3.1.
//   - A V-tree has each class on a leaf, and pseudoclasses above, at most k-1 of
//     them (Section 3.2). Linkage and taxonomies give trees of this form.
//
// Every tree is numbered in preorder: a parent comes before its children, and
// the nodes at or below v are v, v+1, ..., End(v)-1. A node has a length, which
// scales its column of the matrix A of package sharing; it is 1 unless the tree
// says otherwise, for the root too.
//
// A tree never changes once built and may be used by several goroutines.
package labeltree

// Package covertree builds a cover tree over a finite metric space: the
// structure from which the tree loss takes its label trees (Wang and Izbicki
// 2022, Section 3; Beygelzimer, Kakade and Langford 2006).
//
//	metric.Space --New--> Tree --Nodes--> labeltree.U, labeltree.V
//
// # Levels
//
// The levels are 0, -1, -2, ... Level l has the radius R base^l, where R is the
// largest distance from the root point to any other, so level 0 always
// covers all and multiplying all distances by one number changes nothing.
// (The paper's "base^-depth" counts levels the other way round and supposes
// R = 1.) Each point has a topmost level; the tree keeps four laws:
//
//   - Nesting: a point is at its topmost level and at all levels below.
//   - Covering: a point topmost at level l has a parent at level l+1, within
//     that level's radius.
//   - Separation: any two points at a level are farther apart than its radius,
//     whether or not they have the same parent.
//   - Nearest parent: of all points at level l+1 that came before, the parent
//     is the nearest; of several, the one that came first.
//
// Points at distance 0 cannot be separated at any level: all but the first of
// them become children of the first, below all levels, at level Bottom.
//
// # Form
//
// A point that is at many levels but has other points as children at only a
// few of them would make long chains. The tree stores a chain of single
// children as one node, so each inner node has two or more children, one of
// which is the same point again; there are at most 2k-1 nodes. This is the
// left half of the paper's figure 1, where truck is a child of truck.
package covertree

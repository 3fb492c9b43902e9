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
//
// # Cost
//
// A new point asks for the distances to those points of the tree that could
// still be its parent, the nearest point that covers it. How many these are
// is up to the data:
//
//   - If a ball of twice the radius holds at most a fixed number of times as
//     many points (a bounded expansion constant) and the logarithm of the
//     largest over the smallest distance is of the order of log k, the number
//     grows like log k for each point, O(k log k) in all. The constant grows
//     quickly with the dimension: clusters within clusters take some 30
//     distances a point at k = 100,000; a curved sheet of five dimensions takes
//     some 600, and is still on its way to that law, growing like k^0.3.
//   - sqrt k clusters that are each without any structure in many dimensions are
//     sqrt k stars of sqrt k points: the number grows like sqrt k.
//   - Points spread over as many dimensions as they have columns are all about
//     equally far from each other: the tree is a star, and a point must be
//     compared with nearly all before, k^2/2 distances in all.
//
// Beyond some 10,000 points most of the time goes into waiting for memory, not
// into arithmetic, so the points are kept in the order of insertion and asked
// for several at a time. New runs on one processor and takes, beside the space,
// a copy of its rows and some 400 bytes a point.
//
// # What may differ between processors
//
// The tree depends on the distances only, and not on threads. Distances of dense
// rows agree between AVX-512 and AVX2 to the last bit; plain Go can differ in
// the last digits of a float64 (see metric.Euclidean). So a tree built elsewhere
// has the same shape unless two distances, or a distance and a radius, are that
// close without being equal. Rows of whole numbers are measured exactly
// everywhere, so their ties are ties everywhere.
package covertree

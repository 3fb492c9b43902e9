// Command _gen writes the float32 assembly of package kernel and its Go
// declarations, with avo. It is a module of its own, so that whoever uses
// treeloss never downloads avo. From this folder:
//
//	go run . -out ../kernel_amd64.s -stubs ../kernel_amd64.go -pkg kernel
//
// check.sh fails if that would change the files.
//
// Every kernel is written once, for a vector length that is a parameter, and
// printed for AVX-512 and for AVX2 with FMA. Both do the same operations on
// each number and add up in the same order, so their results are equal to the
// last bit; a test of package kernel holds them to that.
package main

import . "github.com/mmcloughlin/avo/build"

func main() {
	ConstraintExpr("amd64,!noasm")
	for _, m := range []isa{{"AVX512", 16}, {"AVX2", 8}} {
		axpy(m)
		add(m)
		scale(m)
		advance(m)
		stepRow(m)
		stepOuter(m)
		scaleAdd(m)
		dot(m)
		squaredDistance(m)
		scaledSquares(m)
		combineRows(m, true)
		combineRows(m, false)
		addToRows(m)
		addWideRows(m)
		expKernel(m)
		softmax(m)
		wrightOmega(m)
		moveMass(m)
		subtractAbove(m)
		tile(m, byRows)
		tile(m, byCols)
		stepTile(m)
		copyRows(m)
		transpose(m)
		columnsTop(m)
		columnsExp(m)
		scaleColumns(m)
		sumChildren(m)
		addParents(m)
		addPackedRows(m)
		extent(m)
	}
	fetchRows(isa{"", 0})
	pause()
	Generate()
}

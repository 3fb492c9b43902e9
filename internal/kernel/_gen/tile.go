package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// tileRows returns how many rows of a product stay in registers: with two
// vectors a row that is 28 of 32 registers with AVX-512 and 12 of 16 with AVX2.
// The others hold two vectors of b and one or two numbers of a.
func (m isa) tileRows() int {
	if m.wide() {
		return 14
	}
	return 6
}

// layout is how the numbers of a lie in memory.
type layout int

const (
	byRows   layout = iota // those of a row follow each other
	byCols                 // those of a column follow each other
	inPanels               // panels as of b, with as many columns: rows of a panel follow each other
)

func (l layout) kernel() (name, doc string) {
	switch l {
	case byRows:
		return "tileByRows", "The numbers of a row of a follow each other, the rows are aStride bytes apart."
	case byCols:
		return "tileByCols", "The numbers of a column of a follow each other, the columns are aStride bytes apart."
	default:
		return "tileInPanels", "a is cut into panels of as many columns as b has, the rows of one follow each other, the panels are aStride bytes apart."
	}
}

// fetches tells whether a tile of this layout asks for cache lines.
func (l layout) fetches() bool { return l != byCols }

// unrolled is how many columns of a a loop takes at a time.
const unrolled = 4

// tile multiplies a piece of a by a panel of b. The panel has two vectors a
// row; a is read where it lies, a number at a time, so that it need not be
// packed. Each number of c is one chain of multiply-adds in the order of the
// inner index, which begins with c itself if add is set: it depends neither on
// how the inner index is cut into pieces nor on the size of the tile.
//
// What a core has too few of, when it shares itself with another thread, is
// places for operations. So columns are unrolled, and with AVX-512 every second
// number of a is read by the instructions that multiply it. These count as one
// operation only if its address has no index, which is why rows have so many
// pointers; were they to read all numbers there would be too many reads.
func tile(m isa, l layout) {
	fetch, fetches := "", ""
	if l.fetches() {
		fetch = ", ahead *int, aheadStep int, base *float32"
		fetches = fmt.Sprintf(" With each of %d rows of b a cache line is asked for, that ahead[i] bytes from base, and then ahead goes on by aheadStep bytes; a rest of b, and a piece of up to %d rows or %d columns, asks for none.", unrolled, m.tileRows()/2, m.lanes)
	}
	name, doc := l.kernel()
	m.text(name, "func(height, inner int, a *float32, aStride int, b *float32, bStride int, c *float32, stride, cols int, add bool"+fetch+")",
		fmt.Sprintf("sets c (height x cols) to a b, or adds that to c. %s The rows of b (inner x %d) are bStride bytes apart and those of c stride bytes. height is 1 to %d, inner at least 1, cols 1 to %d.%s",
			doc, 2*m.lanes, m.tileRows(), 2*m.lanes, fetches))
	p := pointers("a", "b")
	t := tiler{m: m, layout: l, a: p[0], b: p[1], inner: length("inner"), aStride: length("aStride"), bStride: length("bStride")}
	switch l {
	case byRows:
		t.pairs = pairsOfRows(t.a, t.aStride, m.tileRows())
	case inPanels:
		t.panel = GP64()
	}
	if l.fetches() {
		p := pointers("ahead", "base")
		t.ahead, t.base = p[0], p[1]
	}
	cols := length("cols")
	t.mask = m.tailMasks(cols, m.lanes, 2)
	narrow := label("narrow")
	CMPQ(cols, U32(m.lanes))
	JLE(LabelRef(narrow))
	t.choose(2, 0, m.tileRows())
	Label(narrow)
	t.choose(1, 0, m.tileRows())
}

type tiler struct {
	m                isa
	layout           layout
	a, b             GPVirtual
	aStride, bStride GPVirtual
	inner            GPVirtual
	pairs            []GPVirtual // where rows 0, 2, 4... of a are, for byRows
	panel            GPVirtual   // how many columns of a panel are left, for inPanels
	ahead, base      GPVirtual
	mask             []Op
}

// pairsOfRows returns pointers to every second of some rows.
func pairsOfRows(first, stride GPVirtual, rows int) []GPVirtual {
	pairs := []GPVirtual{first}
	for i := 2; i < rows; i += 2 {
		p := GP64()
		LEAQ(Mem{Base: pairs[i/2-1], Index: stride, Scale: 2}, p)
		pairs = append(pairs, p)
	}
	return pairs
}

// rowOf returns where row i is, of rows with pointers to every second.
func rowOf(pairs []GPVirtual, stride GPVirtual, i int) Mem {
	if i%2 == 0 {
		return Mem{Base: pairs[i/2]}
	}
	return Mem{Base: pairs[i/2], Index: stride, Scale: 1}
}

// choose emits a search for the code of a height above lo and up to hi, and
// that code.
func (t tiler) choose(vectors, lo, hi int) {
	if hi-lo == 1 {
		t.product(vectors, hi)
		return
	}
	mid := (lo + hi) / 2
	upper, height := label("atLeast"), GP64()
	Load(Param("height"), height)
	CMPQ(height, U32(mid))
	JG(LabelRef(upper))
	t.choose(vectors, lo, mid)
	Label(upper)
	t.choose(vectors, mid, hi)
}

// product emits the code of one height and its end.
func (t tiler) product(vectors, height int) {
	m := t.m
	Comment(fmt.Sprintf("%d rows of %d vectors.", height, vectors))
	sum := m.zeros(vectors * height)
	fresh := label("fresh")
	flag := GP64()
	Load(Param("add"), flag.As8())
	TESTB(flag.As8(), flag.As8())
	JZ(LabelRef(fresh))
	t.eachOfC(vectors, height, func(n int, at access, c GPVirtual) { at.load(c, sum[n]) })
	Label(fresh)
	if t.layout == inPanels {
		panel, width := label("panel"), GP64()
		Label(panel)
		MOVQ(U32(2*m.lanes), width)
		MOVQ(t.inner, t.panel)
		CMPQ(t.inner, width)
		CMOVQGT(width, t.panel)
		SUBQ(t.panel, t.inner)
		t.columns(t.panel, vectors, height, sum)
		LEAQ(Mem{Base: t.a, Index: t.aStride, Scale: 1, Disp: -4 * 2 * m.lanes}, t.a)
		TESTQ(t.inner, t.inner)
		JNZ(LabelRef(panel))
	} else {
		t.columns(t.inner, vectors, height, sum)
	}
	t.eachOfC(vectors, height, func(n int, at access, c GPVirtual) { at.store(sum[n], c) })
	finish()
}

// columns emits the code that goes over the next n columns of a.
func (t tiler) columns(n GPVirtual, vectors, height int, sum []VecVirtual) {
	single, done := label("column"), label("done")
	if vectors == 2 && height > t.m.tileRows()/2 {
		loop, rest := label("columns"), label("rest")
		SUBQ(U32(unrolled), n)
		JL(LabelRef(rest))
		Label(loop)
		for l := range unrolled {
			if t.layout.fetches() {
				line := GP64()
				MOVQ(Mem{Base: t.ahead, Disp: 8 * l}, line)
				PREFETCHT0(Mem{Base: t.base, Index: line, Scale: 1})
			}
			if t.layout == byCols {
				t.column(0, vectors, height, sum)
				t.move(1, height)
			} else {
				t.column(l, vectors, height, sum)
			}
		}
		if t.layout != byCols {
			t.move(unrolled, height)
		}
		if t.layout.fetches() {
			ADDQ(argument("aheadStep"), t.ahead)
		}
		SUBQ(U32(unrolled), n)
		JGE(LabelRef(loop))
		Label(rest)
		ADDQ(U32(unrolled), n)
		JZ(LabelRef(done))
	}
	Label(single)
	t.column(0, vectors, height, sum)
	t.move(1, height)
	DECQ(n)
	JNZ(LabelRef(single))
	Label(done)
}

// column adds to the sums column l of a, counted from where the pointers are,
// times a row of b.
func (t tiler) column(l, vectors, height int, sum []VecVirtual) {
	b := make([]VecVirtual, vectors)
	for s := range b {
		b[s] = t.m.vec()
		VMOVUPS(Mem{Base: t.b, Disp: s * t.m.lanes * 4}, b[s])
	}
	for i := range height {
		if t.m.wide() && vectors == 2 && i%2 == 0 {
			for s := range b {
				VFMADD231PS_BCST(t.at(i, l), b[s], sum[i*vectors+s])
			}
			continue
		}
		x := t.m.vec()
		VBROADCASTSS(t.at(i, l), x)
		for s := range b {
			VFMADD231PS(b[s], x, sum[i*vectors+s])
		}
	}
	ADDQ(t.bStride, t.b)
}

// at returns where the number of row i in column l is.
func (t tiler) at(i, l int) Mem {
	switch t.layout {
	case byRows:
		row := rowOf(t.pairs, t.aStride, i)
		row.Disp = 4 * l
		return row
	case byCols:
		return Mem{Base: t.a, Disp: 4 * i}
	default:
		return Mem{Base: t.a, Disp: 4 * (2*t.m.lanes*i + l)}
	}
}

// move moves the pointers to a by columns, as many as height rows need; for
// byCols by one.
func (t tiler) move(columns, height int) {
	switch t.layout {
	case byRows:
		for _, p := range t.pairs[:(height+1)/2] {
			ADDQ(U32(4*columns), p)
		}
	case byCols:
		ADDQ(t.aStride, t.a)
	default:
		ADDQ(U32(4*columns), t.a)
	}
}

// eachOfC calls visit for each vector of c.
func (t tiler) eachOfC(vectors, height int, visit func(n int, at access, c GPVirtual)) {
	c := pointers("c")[0]
	stride := length("stride")
	for i := range height {
		for s := range vectors {
			visit(i*vectors+s, access{m: t.m, at: s * t.m.lanes * 4, mask: t.mask[s]}, c)
		}
		if i < height-1 {
			ADDQ(stride, c)
		}
	}
}

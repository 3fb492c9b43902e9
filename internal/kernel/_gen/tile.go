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
	inPanels               // panels of two vectors: rows of a panel follow each other
)

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
	size := fmt.Sprintf("The rows of b (inner x %d) are bStride bytes apart and those of c stride bytes. height is 1 to %d, inner at least 1, cols 1 to %d.",
		2*m.lanes, m.tileRows(), 2*m.lanes)
	if l == byRows {
		m.text("tileByRows", "func(height, inner int, a *float32, aStride int, b *float32, bStride int, c *float32, stride, cols int, add bool, ahead *int, aheadStep int, base *float32)",
			"sets c (height x cols) to a b, or adds that to c. The numbers of a row of a follow each other, the rows are aStride bytes apart. "+size+" "+m.fetching("base"))
	} else {
		m.text("tileByCols", "func(height, inner int, a *float32, aStride int, b *float32, bStride int, c *float32, stride, cols int, add bool)",
			"sets c (height x cols) to a b, or adds that to c. The numbers of a column of a follow each other, the columns are aStride bytes apart. "+size)
	}
	p := pointers("a", "b")
	t := tiler{m: m, layout: l, a: p[0], b: p[1], inner: length("inner"), aStride: length("aStride"), bStride: length("bStride")}
	if l == byRows {
		t.pairs = pairsOfRows(t.a, t.aStride, m.tileRows())
		p := pointers("ahead", "base")
		t.ahead, t.base = p[0], p[1]
	}
	if m.wide() {
		t.mask = m.tailMasks(length("cols"), m.lanes, 2)
	}
	t.eachSize(func(vectors, height int) {
		sum := m.zeros(vectors * height)
		fresh := label("fresh")
		flag := GP64()
		Load(Param("add"), flag.As8())
		TESTB(flag.As8(), flag.As8())
		JZ(LabelRef(fresh))
		t.eachOfC(vectors, height, func(n int, at access, c GPVirtual) { at.load(c, sum[n]) })
		Label(fresh)
		t.columns(t.inner, vectors, height, sum)
		t.eachOfC(vectors, height, func(n int, at access, c GPVirtual) { at.store(sum[n], c) })
	})
}

// stepTile is a tile of the gradient that goes from the registers into a step on
// the weights: it is written nowhere.
func stepTile(m isa) {
	m.text("stepTile", "func(height, inner int, grad *float32, gradStride int, x, w, v *float32, stride, cols int, factor *float32, ahead *int, aheadStep int)",
		fmt.Sprintf("makes an SGD step on weights w and velocities v (height x cols) with the gradient grad x. grad (height x inner) lies in panels of %d columns, gradStride bytes apart; x (inner x %d) is a panel. Rows of w and v are stride bytes apart and whole registers long; factor has the 6 factors of the step, %d times each. height is 1 to %d, inner at least 1, cols 1 to %d. %s",
			2*m.lanes, 2*m.lanes, stepFactors, m.tileRows(), 2*m.lanes, m.fetching("w")))
	p := pointers("grad", "x", "ahead", "w")
	t := tiler{m: m, layout: inPanels, a: p[0], b: p[1], inner: length("inner"), ahead: p[2], base: p[3]}
	t.eachSize(func(vectors, height int) {
		sum := m.zeros(vectors * height)
		panel, left, width := label("panel"), GP64(), GP64()
		Label(panel)
		MOVQ(U32(2*m.lanes), width)
		MOVQ(t.inner, left)
		CMPQ(left, width)
		CMOVQGT(width, left)
		SUBQ(left, t.inner)
		t.columns(left, vectors, height, sum)
		ADDQ(argument("gradStride"), t.a)
		SUBQ(U32(m.panelRow()), t.a)
		TESTQ(t.inner, t.inner)
		JNZ(LabelRef(panel))
		t.step(vectors, height, sum)
	})
}

// fetching tells of the cache lines that a tile asks for.
func (m isa) fetching(base string) string {
	return fmt.Sprintf("With each of %d steps of the inner index it asks for a cache line, that ahead[i] bytes from %s, and then ahead goes on by aheadStep bytes; in a rest, and with up to %d rows or %d columns, it asks for none.",
		unrolled, base, m.tileRows()/2, m.lanes)
}

type tiler struct {
	m                isa
	layout           layout
	a, b             GPVirtual
	aStride, bStride GPVirtual // of panels: nil
	inner            GPVirtual
	pairs            []GPVirtual // where rows 0, 2, 4... of a are, for byRows
	ahead, base      GPVirtual
	mask             []Op // of the columns of c, where registers hold masks at no cost
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

// eachSize emits the code of each height and number of vectors a row, and the
// search for it.
func (t tiler) eachSize(body func(vectors, height int)) {
	narrow := label("narrow")
	CMPQ(length("cols"), U32(t.m.lanes))
	JLE(LabelRef(narrow))
	choose(2, 0, t.m.tileRows(), body)
	Label(narrow)
	choose(1, 0, t.m.tileRows(), body)
}

// choose emits a search for the code of a height above lo and up to hi, and
// that code.
func choose(vectors, lo, hi int, body func(vectors, height int)) {
	if hi-lo == 1 {
		Comment(fmt.Sprintf("%d rows of %d vectors.", hi, vectors))
		body(vectors, hi)
		finish()
		return
	}
	mid := (lo + hi) / 2
	upper, height := label("atLeast"), GP64()
	Load(Param("height"), height)
	CMPQ(height, U32(mid))
	JG(LabelRef(upper))
	choose(vectors, lo, mid, body)
	Label(upper)
	choose(vectors, mid, hi, body)
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
			if t.ahead != nil {
				line := GP64()
				MOVQ(Mem{Base: t.ahead, Disp: 8 * l}, line)
				PREFETCHT0(Mem{Base: t.base, Index: line, Scale: 1})
			}
			t.column(l, vectors, height, sum)
		}
		t.move(unrolled, height)
		if t.ahead != nil {
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
		at := Mem{Base: t.b, Disp: s * t.m.lanes * 4}
		if t.layout == inPanels {
			at.Disp += l * t.m.panelRow()
		}
		b[s] = t.m.vec()
		VMOVUPS(at, b[s])
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
	if t.layout != inPanels {
		ADDQ(t.bStride, t.b)
	}
	if t.layout == byCols {
		ADDQ(t.aStride, t.a)
	}
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
		return Mem{Base: t.a, Disp: i*t.m.panelRow() + 4*l}
	}
}

// move moves the pointers that column leaves behind, to a as many as height
// rows need.
func (t tiler) move(columns, height int) {
	switch t.layout {
	case byRows:
		for _, p := range t.pairs[:(height+1)/2] {
			ADDQ(U32(4*columns), p)
		}
	case inPanels:
		ADDQ(U32(4*columns), t.a)
		ADDQ(U32(columns*t.m.panelRow()), t.b)
	}
}

// step makes the step on the rows of w and v with the sums as their gradient.
func (t tiler) step(vectors, height int, sum []VecVirtual) {
	m, w, v := t.m, t.base, pointers("v")[0]
	stride, factor := length("stride"), pointers("factor")[0]
	f := make([]Op, 6)
	for i := range f {
		f[i] = Mem{Base: factor, Disp: i * stepFactors * 4}
	}
	for i := range height {
		if i*vectors == len(f) { // the sums so far have left as many registers
			for n, at := range f {
				f[n] = m.vec()
				VMOVUPS(at, f[n])
			}
		}
		for s := range vectors {
			at := access{m: m, at: s * m.lanes * 4}
			x, y := m.vec(), m.vec()
			at.load(w, x)
			at.load(v, y)
			x, y = m.step(f, x, y, sum[i*vectors+s])
			at.store(x, w)
			at.store(y, v)
		}
		if i < height-1 {
			ADDQ(stride, w)
			ADDQ(stride, v)
		}
	}
}

// eachOfC calls visit for each vector of c. With AVX2 masks are vectors, and sums,
// b and a number of a leave no register for two of them: they are read here.
func (t tiler) eachOfC(vectors, height int, visit func(n int, at access, c GPVirtual)) {
	c := pointers("c")[0]
	stride := length("stride")
	mask := t.mask
	if mask == nil {
		mask = t.m.tailMasks(length("cols"), t.m.lanes, vectors)
	}
	for i := range height {
		for s := range vectors {
			visit(i*vectors+s, access{m: t.m, at: s * t.m.lanes * 4, mask: mask[s]}, c)
		}
		if i < height-1 {
			ADDQ(stride, c)
		}
	}
}

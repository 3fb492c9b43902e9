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

// tile multiplies a piece of a by a panel of b. The panel has two vectors a
// row; a is read where it lies, a number at a time, so that it need not be
// packed. Each number of c is one chain of multiply-adds in the order of the
// inner index, which begins with c itself if add is set: it depends neither on
// how the inner index is cut into pieces nor on the size of the tile.
func tile(m isa) {
	m.text("tile", "func(height, inner int, a *float32, rowStride, innerStride, run, skip int, b *float32, bStride int, c *float32, stride, cols int, add bool, ahead *int, aheadStep int, base *float32)",
		fmt.Sprintf("sets c (height x cols) to a b, or adds that to c. a (height x inner) has its numbers rowStride and innerStride bytes apart, and skip bytes more after each run columns, the rows of b (inner x %d) are bStride bytes apart and those of c stride bytes. height is 1 to %d, inner and run at least 1, cols 1 to %d. With each row of b a cache line is asked for, ahead[0] bytes from base, and ahead goes aheadStep bytes on.",
			2*m.lanes, m.tileRows(), 2*m.lanes))
	p := pointers("a", "b", "ahead", "base")
	t := tiler{m: m, a: p[0], b: p[1], ahead: p[2], base: p[3], inner: length("inner"), step: length("innerStride")}
	row := length("rowStride")
	t.multiple = map[int]GPVirtual{1: row}
	for i := 3; i < min(half, m.tileRows()); i += 2 {
		t.multiple[i] = GP64()
		LEAQ(Mem{Base: t.multiple[i-2], Index: row, Scale: 2}, t.multiple[i])
	}
	if m.tileRows() > half {
		t.lower = GP64()
		LEAQ(Mem{Base: t.multiple[3], Index: row, Scale: 4}, t.lower)
		ADDQ(t.a, t.lower)
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

// half is how many rows of a are found from one pointer.
const half = 7

type tiler struct {
	m           isa
	a, b        GPVirtual
	lower       GPVirtual // row half of a; nil: all are found from a
	ahead, base GPVirtual
	inner, step GPVirtual
	multiple    map[int]GPVirtual // of the distance of rows, by odd factors
	mask        []Op
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

// at returns where number i of a column of a is.
func (t tiler) at(i int) Mem {
	from := t.a
	if t.lower != nil && i >= half {
		from, i = t.lower, i-half
	}
	if i == 0 {
		return Mem{Base: from}
	}
	scale := uint8(1)
	for i%2 == 0 {
		i, scale = i/2, scale*2
	}
	return Mem{Base: from, Index: t.multiple[i], Scale: scale}
}

// move moves the pointers to a, as many as height rows need.
func (t tiler) move(height int, by Op) {
	ADDQ(by, t.a)
	if height > half {
		ADDQ(by, t.lower)
	}
}

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

	run, piece, loop := length("run"), label("run"), label("inner")
	left := GP64()
	Label(piece)
	// The next run columns, or what is left.
	MOVQ(t.inner, left)
	CMPQ(left, run)
	CMOVQGT(run, left)
	SUBQ(left, t.inner)
	Label(loop)
	b := make([]VecVirtual, vectors)
	for s := range b {
		b[s] = m.vec()
		VMOVUPS(Mem{Base: t.b, Disp: s * m.lanes * 4}, b[s])
	}
	line := GP64()
	MOVQ(Mem{Base: t.ahead}, line)
	PREFETCHT0(Mem{Base: t.base, Index: line, Scale: 1})
	ADDQ(argument("aheadStep"), t.ahead)
	for i := range height {
		x := m.vec()
		VBROADCASTSS(t.at(i), x)
		for s := range b {
			VFMADD231PS(b[s], x, sum[i*vectors+s])
		}
	}
	ADDQ(argument("bStride"), t.b)
	t.move(height, t.step)
	DECQ(left)
	JNZ(LabelRef(loop))
	t.move(height, length("skip"))
	TESTQ(t.inner, t.inner)
	JNZ(LabelRef(piece))

	t.eachOfC(vectors, height, func(n int, at access, c GPVirtual) { at.store(sum[n], c) })
	finish()
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

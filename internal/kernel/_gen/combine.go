package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// panel returns how many vectors of y stay in registers over all rows. One
// register is left for the factor, with AVX2 two more for the masked vector.
func (m isa) panel() int {
	if m.wide() {
		return 16
	}
	return 12
}

// combineRows adds value[i] * row i to y for all i, in that order, where row i
// is named by index[i] or, without an index, follows row i-1. y is cut into
// panels that fit the registers; a panel stays there over all rows, so that a
// row costs one load and one multiply-add a vector. There is one loop for
// each number of vectors in a panel; its last vector is always masked.
//
// Nothing is prefetched: the processor runs so many rows ahead that it has all
// the cache misses under way that it can. Fetching rows 2 to 16 ahead, into
// any level, whole or every second or fourth line, changed no time by more
// than the noise.
func combineRows(m isa, indexed bool) { combine{m: m, indexed: indexed}.emit() }

// addToRows adds to rows instead: the panel of y stays in registers, and each
// row is loaded, changed and stored.
func addToRows(m isa) { combine{m: m, indexed: true, scatter: true}.emit() }

func (c combine) emit() {
	m, indexed := c.m, c.indexed
	if c.scatter {
		m.text("addToRows", "func(index *int32, value *float32, n int, rows *float32, stride, limit int, y *float32, cols int) (ok bool)",
			"adds value[i]*y to rows[index[i]]. stride and limit are in bytes. It stops and returns false, some rows changed, when a row starts after limit. n and cols are at least 1.")
	} else if indexed {
		m.text("combineRows", "func(index *int32, value *float32, n int, rows *float32, stride, limit int, y *float32, cols int) (ok bool)",
			"adds value[i]*rows[index[i]] to y. stride and limit are in bytes. It stops and returns false, y partly changed, when a row starts after limit. n and cols are at least 1.")
	} else {
		m.text("combineAllRows", "func(value *float32, n int, rows *float32, stride int, y *float32, cols int)",
			"adds value[i]*rows[i] to y. stride is in bytes. n and cols are at least 1.")
	}
	if indexed {
		c.index, c.limit = pointers("index")[0], length("limit")
	}
	p := pointers("value", "rows", "y")
	c.value, c.rows, c.y = p[0], p[1], p[2]
	c.n, c.stride, c.cols = length("n"), length("stride"), length("cols")

	most := m.panel()
	if c.scatter && !m.wide() {
		most -= 2 // for the rows
	}
	width := most * m.lanes
	panel, narrow := label("panel"), label("narrow")
	Label(panel)
	CMPQ(c.cols, U32(width))
	JLE(LabelRef(narrow))
	c.mask = m.fullMask()
	c.rowLoop(most)
	ADDQ(U32(width*4), c.y)
	ADDQ(U32(width*4), c.rows)
	SUBQ(U32(width), c.cols)
	JMP(LabelRef(panel))

	Label(narrow)
	rest := GP64()
	vectors := GP64()
	LEAQ(Mem{Base: c.cols, Disp: -1}, vectors)
	MOVQ(vectors, rest)
	ANDQ(U32(m.lanes-1), rest)
	INCQ(rest)
	SHRQ(U8(map[int]int{8: 3, 16: 4}[m.lanes]), vectors)
	c.mask = m.tailMasks(rest, m.lanes, 1)[0]
	c.choose(vectors, 0, most)
	if indexed {
		Label("outside")
		c.finish(0)
	}
}

// finish ends the kernel; ok is its result, if it has one.
func (c *combine) finish(ok uint8) {
	if c.indexed {
		p, err := Return("ok").Resolve()
		if err != nil {
			panic(err)
		}
		MOVB(U8(ok), p.Addr)
	}
	finish()
}

func (m isa) fullMask() Op {
	if m.wide() {
		KXNORW(K1, K1, K1)
		return K1
	}
	v := YMM()
	VPCMPEQD(v, v, v)
	return v
}

type combine struct {
	m                      isa
	indexed, scatter       bool
	index, value, rows, y  GPVirtual
	n, stride, limit, cols GPVirtual
	mask                   Op
}

// choose emits a search for the loop over vectors+1 vectors, which is at least
// lo+1 and at most hi, and these loops.
func (c *combine) choose(vectors GPVirtual, lo, hi int) {
	if hi-lo == 1 {
		c.rowLoop(hi)
		c.finish(1)
		return
	}
	mid := (lo + hi) / 2
	upper := label("atLeast")
	CMPQ(vectors, U32(mid))
	JGE(LabelRef(upper))
	c.choose(vectors, lo, mid)
	Label(upper)
	c.choose(vectors, mid, hi)
}

// rowLoop goes over all rows for a panel of the given number of vectors.
func (c *combine) rowLoop(vectors int) {
	m := c.m
	Comment(fmt.Sprintf("A panel of %d vectors.", vectors))
	at := func(s int) access {
		a := access{m: m, at: s * m.lanes * 4}
		if s == vectors-1 {
			a.mask = c.mask
		}
		return a
	}
	sum := make([]VecVirtual, vectors)
	for s := range sum {
		sum[s] = m.vec()
		at(s).load(c.y, sum[s])
	}
	row, i, factor := GP64(), GP64(), m.vec()
	XORQ(i, i)
	if !c.indexed {
		MOVQ(c.rows, row)
	}
	loop := label("row")
	Label(loop)
	if c.indexed {
		MOVLQSX(Mem{Base: c.index, Index: i, Scale: 4}, row)
		IMULQ(c.stride, row)
		CMPQ(row, c.limit)
		JHI(LabelRef("outside"))
		ADDQ(c.rows, row)
	}
	VBROADCASTSS(Mem{Base: c.value, Index: i, Scale: 4}, factor)
	for s := range sum {
		a := at(s)
		if c.scatter {
			x := m.vec()
			a.load(row, x)
			VFMADD231PS(sum[s], factor, x)
			a.store(x, row)
			continue
		}
		if a.mask != nil && m.wide() {
			VFMADD231PS(a.mem(row), factor, a.mask, sum[s])
			continue
		}
		VFMADD231PS(a.operand(row), factor, sum[s])
	}
	if !c.indexed {
		ADDQ(c.stride, row)
	}
	INCQ(i)
	CMPQ(i, c.n)
	JLT(LabelRef(loop))
	for s := range sum {
		if !c.scatter {
			at(s).store(sum[s], c.y)
		}
	}
}

// wideRows is how many rows addWideRows takes at a time.
const wideRows = 8

// addWideRows keeps y in memory and reads a few rows at a time from end to
// end: the way for rows that come from beyond the second cache, since the
// processor fetches ahead along a row. The order of summation is that of
// combineAllRows.
func addWideRows(m isa) {
	m.text("addWideRows", "func(value, rows *float32, stride int, y *float32, cols int)",
		fmt.Sprintf("adds value[i]*rows[i], for the %d rows, to y. stride is in bytes. cols is at least 1.", wideRows))
	p := pointers("value", "rows", "y")
	row, y := p[1], p[2]
	stride := length("stride")
	pairs := pairsOfRows(row, stride, wideRows)
	factor := make([]VecVirtual, wideRows)
	for i := range factor {
		factor[i] = m.vec()
		VBROADCASTSS(Mem{Base: p[0], Disp: 4 * i}, factor[i])
	}
	m.pass(length("cols"), m.lanes, blocks, append([]GPVirtual{y}, pairs...), func(at access) {
		sum := m.vec()
		at.load(y, sum)
		for i, f := range factor {
			x := rowOf(pairs, stride, i)
			x.Disp = at.at
			switch {
			case at.mask == nil:
				VFMADD231PS(x, f, sum)
			case m.wide():
				VFMADD231PS(x, f, at.mask, sum)
			default:
				v := m.vec()
				VMASKMOVPS(x, at.mask, v)
				VFMADD231PS(v, f, sum)
			}
		}
		at.store(sum, y)
	})
	finish()
}

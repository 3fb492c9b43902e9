package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The kernels of this file work on a panel: rows of two registers each, one
// after the other. A row belongs to a class or node, a lane to an example, so
// that nothing is added up across a register.

// panelRow is the length of a row in bytes.
func (m isa) panelRow() int { return 2 * m.lanes * 4 }

// pair returns the two vectors of a row at p.
func (m isa) pair(p Mem) [2]Mem {
	second := p
	second.Disp += m.lanes * 4
	return [2]Mem{p, second}
}

// loadPair loads the two vectors of a row.
func (m isa) loadPair(p Mem) (v [2]VecVirtual) {
	for s, at := range m.pair(p) {
		v[s] = m.vec()
		VMOVUPS(at, v[s])
	}
	return v
}

// shiftOfRow is the binary logarithm of panelRow.
func (m isa) shiftOfRow() U8 { return U8(math.Log2(float64(m.panelRow()))) }

// rowAt returns where the row begins whose number is in memory.
func (m isa) rowAt(panel GPVirtual, number Mem) Mem {
	at := GP64()
	MOVLQSX(number, at)
	SHLQ(m.shiftOfRow(), at)
	return Mem{Base: panel, Index: at, Scale: 1}
}

func columnsTop(m isa) {
	m.text("columnsTop", "func(z, bias *float32, rows int, top *float32)",
		"adds bias to the rows of the panel z, one number a row, and sets top to the largest number of each column. rows is at least 1.")
	p := pointers("z", "bias", "top")
	z, bias, top := p[0], p[1], p[2]
	rows := length("rows")
	largest := [2][2]VecVirtual{}
	for i := range largest {
		for s := range largest[i] {
			largest[i][s] = m.vec()
			VMOVUPS(constant(float32(math.Inf(-1))), largest[i][s])
		}
	}
	one := func(i int) {
		b := m.vec()
		VBROADCASTSS(Mem{Base: bias, Disp: 4 * i}, b)
		for s, at := range m.pair(Mem{Base: z, Disp: i * m.panelRow()}) {
			x := m.vec()
			VADDPS(at, b, x)
			VMOVUPS(x, at)
			VMAXPS(x, largest[i][s], largest[i][s])
		}
	}
	twice, once, done := label("rows"), label("row"), label("done")
	Label(twice)
	CMPQ(rows, U32(2))
	JLT(LabelRef(once))
	one(0)
	one(1)
	ADDQ(U32(2*m.panelRow()), z)
	ADDQ(U32(8), bias)
	SUBQ(U32(2), rows)
	JMP(LabelRef(twice))
	Label(once)
	TESTQ(rows, rows)
	JZ(LabelRef(done))
	one(0)
	Label(done)
	for s, at := range m.pair(Mem{Base: top}) {
		VMAXPS(largest[1][s], largest[0][s], largest[0][s])
		VMOVUPS(largest[0][s], at)
	}
	finish()
}

func columnsExp(m isa) {
	m.text("columnsExp", "func(z *float32, rows int, top *float32, sum *float64)",
		"replaces the panel z by exp(z-top) and sets sum to the sum of each column, four at a time in float32, these in float64. rows is at least 1.")
	p := pointers("z", "top", "sum")
	z, top, to := p[0], p[1], p[2]
	rows := length("rows")
	c := m.loadConstants()
	tops := m.pair(Mem{Base: top})
	sum := m.zeros(4)
	some := func(n int) {
		for s := range 2 {
			var part VecVirtual
			for i := range n {
				at := m.pair(Mem{Base: z, Disp: i * m.panelRow()})[s]
				x := m.vec()
				VMOVUPS(at, x)
				VSUBPS(tops[s], x, x)
				x = m.exp(x, nil, c)
				VMOVUPS(x, at)
				if i == 0 {
					part = x
				} else {
					VADDPS(x, part, part)
				}
			}
			m.addDoubles(part, sum[2*s:2*s+2])
		}
	}
	four, once, done := label("rows"), label("row"), label("done")
	Label(four)
	CMPQ(rows, U32(4))
	JLT(LabelRef(once))
	some(4)
	ADDQ(U32(4*m.panelRow()), z)
	SUBQ(U32(4), rows)
	JMP(LabelRef(four))
	Label(once)
	TESTQ(rows, rows)
	JZ(LabelRef(done))
	some(1)
	ADDQ(U32(m.panelRow()), z)
	DECQ(rows)
	JMP(LabelRef(once))
	Label(done)
	for i, x := range sum {
		VMOVUPD(x, Mem{Base: to, Disp: i * m.lanes * 4})
	}
	finish()
}

func scaleColumns(m isa) {
	m.text("scaleColumns", "func(z *float32, rows int, factor, sum *float32)",
		"multiplies the rows of the panel z by factor, one number a column, and sets sum[i] to the sum of the first 16 numbers of row i, sum[rows+i] to that of the next 16, if there are. rows is at least 1.")
	p := pointers("z", "factor", "sum")
	z, sum := p[0], p[2]
	rows := length("rows")
	factor := m.loadPair(Mem{Base: p[1]})
	left := clone(rows)
	loop := label("row")
	Label(loop)
	v := make([]VecVirtual, 2)
	for s, at := range m.pair(Mem{Base: z}) {
		v[s] = m.vec()
		VMULPS(at, factor[s], v[s])
		VMOVUPS(v[s], at)
	}
	if m.wide() {
		VMOVSS(m.fold(v[1:], false, VADDPS).AsX(), Mem{Base: sum, Index: rows, Scale: 4})
		v = v[:1]
	}
	VMOVSS(m.fold(v, false, VADDPS).AsX(), Mem{Base: sum})
	ADDQ(U32(m.panelRow()), z)
	ADDQ(U32(4), sum)
	DECQ(left)
	JNZ(LabelRef(loop))
	finish()
}

// addRows replaces n rows from z on by length times them plus the row parent of
// the panel.
func (m isa) addRows(panel, z, parent, weight, n GPVirtual) {
	loop := label("row")
	Label(loop)
	c := m.vec()
	VBROADCASTSS(Mem{Base: weight}, c)
	x := m.loadPair(m.rowAt(panel, Mem{Base: parent}))
	for s, at := range m.pair(Mem{Base: z}) {
		VFMADD231PS(at, c, x[s])
		VMOVUPS(x[s], at)
	}
	ADDQ(U32(m.panelRow()), z)
	ADDQ(U32(4), parent)
	ADDQ(U32(4), weight)
	DECQ(n)
	JNZ(LabelRef(loop))
}

func sumChildren(m isa) {
	m.text("sumChildren", "func(z *float32, first int, start, child *int32, nodes int)",
		"sets row first+i of the panel z, for i from nodes-1 down to 0, to the sum of the rows child[start[i]:start[i+1]]. nodes is at least 1.")
	p := pointers("z", "start", "child")
	z, start, child := p[0], p[1], p[2]
	first, i := length("first"), length("nodes")
	to := GP64()
	LEAQ(Mem{Base: first, Index: i, Scale: 1}, to)
	SHLQ(m.shiftOfRow(), to)
	ADDQ(z, to)
	node, loop, done := label("node"), label("child"), label("done")
	Label(node)
	DECQ(i)
	SUBQ(U32(m.panelRow()), to)
	n, end := GP64(), GP64()
	MOVLQSX(Mem{Base: start, Index: i, Scale: 4}, n)
	MOVLQSX(Mem{Base: start, Index: i, Scale: 4, Disp: 4}, end)
	sum := m.zeros(2)
	CMPQ(n, end)
	JGE(LabelRef(done))
	Label(loop)
	for s, at := range m.pair(m.rowAt(z, Mem{Base: child, Index: n, Scale: 4})) {
		VADDPS(at, sum[s], sum[s])
	}
	INCQ(n)
	CMPQ(n, end)
	JLT(LabelRef(loop))
	Label(done)
	for s, at := range m.pair(Mem{Base: to}) {
		VMOVUPS(sum[s], at)
	}
	TESTQ(i, i)
	JNZ(LabelRef(node))
	finish()
}

func addParents(m isa) {
	m.text("addParents", "func(z *float32, first int, parent *int32, length *float32, nodes int)",
		"replaces row first+i of the panel z, for i from 0 to nodes-1, by length[i] times it plus row parent[i]. nodes is at least 1.")
	p := pointers("z", "parent", "length")
	z, parent, weight := p[0], p[1], p[2]
	first, nodes := length("first"), length("nodes")
	SHLQ(m.shiftOfRow(), first)
	ADDQ(z, first)
	m.addRows(z, first, parent, weight, nodes)
	finish()
}

// stepFactors is how often each factor of a step stands in memory.
const stepFactors = 16

// stepOf loads the factors of a step from where factor points to.
func (m isa) stepOf(factor GPVirtual) []Op {
	f := make([]Op, 6)
	for i := range f {
		v := m.vec()
		VMOVUPS(Mem{Base: factor, Disp: i * stepFactors * 4}, v)
		f[i] = v
	}
	return f
}

// step is the linear map of one vector: w becomes ww w + wv v + wg g, v becomes
// vw w + vv v + vg g.
func (m isa) step(f []Op, w, v, g VecVirtual) (newW, newV VecVirtual) {
	newW, newV = m.vec(), m.vec()
	VMULPS(f[0], w, newW)
	VFMADD231PS(f[1], v, newW)
	VFMADD231PS(f[2], g, newW)
	VMULPS(f[3], w, newV)
	VFMADD231PS(f[4], v, newV)
	VFMADD231PS(f[5], g, newV)
	return newW, newV
}

func fetchRows(m isa) {
	m.text("fetchRows", "func(p *float32, stride, rows, lines int)",
		"asks for the first lines cache lines of rows that are stride bytes apart. rows and lines are at least 1.")
	row := pointers("p")[0]
	stride, rows, lines := length("stride"), length("rows"), length("lines")
	loop, line := label("row"), label("line")
	Label(loop)
	at, left := clone(row), clone(lines)
	Label(line)
	PREFETCHT0(Mem{Base: at})
	ADDQ(U32(64), at)
	DECQ(left)
	JNZ(LabelRef(line))
	ADDQ(stride, row)
	DECQ(rows)
	JNZ(LabelRef(loop))
	RET()
}

func pause() {
	TEXT("pause", NOSPLIT, "func()")
	Doc("pause leaves the core to its other thread for a moment.")
	PAUSE()
	RET()
}

package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// copyRows copies short rows into a packed panel.
func copyRows(m isa) {
	m.text("copyRows", "func(dst *float32, dstStride int, src *float32, srcStride, rows, cols int)",
		"copies rows rows of cols numbers. Strides are in bytes; rows is at least 1, cols 1 to 2 registers.")
	p := pointers("dst", "src")
	dst, src := p[0], p[1]
	dstStride, srcStride, rows, cols := length("dstStride"), length("srcStride"), length("rows"), length("cols")
	m.shortRows(rows, cols, func(row []access) {
		for _, at := range row {
			x := m.vec()
			at.load(src, x)
			at.store(x, dst)
		}
		ADDQ(srcStride, src)
		ADDQ(dstStride, dst)
	})
}

// shortRows emits a loop over rows of cols numbers, once for rows of two
// registers and once for rows of one, and returns from the function behind
// each. body gets the places in a row and moves its pointers to the next one.
func (m isa) shortRows(rows, cols GPVirtual, body func(row []access)) {
	mask := m.tailMasks(cols, m.lanes, 2)
	narrow := label("narrow")
	CMPQ(cols, U32(m.lanes))
	JLE(LabelRef(narrow))
	for vectors := 2; vectors >= 1; vectors-- {
		if vectors == 1 {
			Label(narrow)
		}
		loop := label("row")
		Label(loop)
		var row []access
		for s := range vectors {
			row = append(row, access{m: m, at: s * m.lanes * 4, mask: mask[s]})
		}
		body(row)
		DECQ(rows)
		JNZ(LabelRef(loop))
		finish()
	}
}

// transpose transposes as many rows as a register has lanes, a square at a
// time, in registers.
func transpose(m isa) {
	m.text("transpose", "func(dst *float32, dstStride int, src *float32, srcStride, rows, cols int)",
		"sets dst (cols x rows) to the transpose of src (rows x cols). Strides are in bytes; rows is 1 to 1 register, cols at least 1.")
	p := pointers("dst", "src")
	dst, src := p[0], p[1]
	dstStride, srcStride, rows, cols := length("dstStride"), length("srcStride"), length("rows"), length("cols")
	rowMask := m.tailMasks(rows, m.lanes, 1)[0]
	if m.wide() {
		KMOVW(K1, K3)
		rowMask = K3
	}
	loop, tail, done := label("square"), label("tail"), label("done")
	Label(loop)
	CMPQ(cols, U32(m.lanes))
	JLT(LabelRef(tail))
	v := m.loadSquare(src, srcStride, rows, nil)
	v = m.transposed(v)
	for _, x := range v {
		access{m: m, mask: rowMask}.store(x, dst)
		ADDQ(dstStride, dst)
	}
	ADDQ(U32(m.lanes*4), src)
	SUBQ(U32(m.lanes), cols)
	JMP(LabelRef(loop))

	Label(tail)
	TESTQ(cols, cols)
	JZ(LabelRef(done))
	colMask := m.tailMasks(cols, m.lanes, 1)[0]
	v = m.transposed(m.loadSquare(src, srcStride, rows, colMask))
	for _, x := range v {
		access{m: m, mask: rowMask}.store(x, dst)
		ADDQ(dstStride, dst)
		DECQ(cols)
		JZ(LabelRef(done))
	}
	Label(done)
	finish()
}

// loadSquare loads a register from each row; where there are too few rows, the
// last one again.
func (m isa) loadSquare(src, stride, rows GPVirtual, mask Op) []VecVirtual {
	row, next := clone(src), GP64()
	v := make([]VecVirtual, m.lanes)
	for i := range v {
		v[i] = m.vec()
		if i > 0 {
			LEAQ(Mem{Base: row, Index: stride, Scale: 1}, next)
			CMPQ(rows, U32(i))
			CMOVQGT(next, row)
		}
		access{m: m, mask: mask}.load(row, v[i])
	}
	return v
}

// transposed returns the columns of the square whose rows are v.
func (m isa) transposed(v []VecVirtual) []VecVirtual {
	pairs := func(v []VecVirtual, step int, low, high func(...Op)) []VecVirtual {
		out := make([]VecVirtual, len(v))
		for i := range v {
			if i&step != 0 {
				continue
			}
			a, b := m.vec(), m.vec()
			low(v[i+step], v[i], a)
			high(v[i+step], v[i], b)
			out[i], out[i+step] = a, b
		}
		return out
	}
	v = pairs(v, 1, VUNPCKLPS, VUNPCKHPS)
	// v[4q+0] has columns 0, 1 of rows 4q, 4q+1 in each group of 4, v[4q+1]
	// columns 2, 3; after this v[4q+c] holds column c of rows 4q..4q+3.
	quads := make([]VecVirtual, len(v))
	for q := 0; q < len(v); q += 4 {
		for half := range 2 {
			a, b := m.vec(), m.vec()
			VUNPCKLPD(v[q+2+half], v[q+half], a)
			VUNPCKHPD(v[q+2+half], v[q+half], b)
			quads[q+2*half], quads[q+2*half+1] = a, b
		}
	}
	v = quads
	out := make([]VecVirtual, len(v))
	for c := range 4 {
		if !m.wide() {
			out[c], out[c+4] = m.vec(), m.vec()
			VPERM2F128(U8(0x20), v[4+c], v[c], out[c])
			VPERM2F128(U8(0x31), v[4+c], v[c], out[c+4])
			continue
		}
		var even, odd [2]VecVirtual // groups 0, 2 and 1, 3 of two quads of rows
		for h := range 2 {
			even[h], odd[h] = m.vec(), m.vec()
			VSHUFF32X4(U8(0x88), v[8*h+4+c], v[8*h+c], even[h])
			VSHUFF32X4(U8(0xdd), v[8*h+4+c], v[8*h+c], odd[h])
		}
		for g, pair := range [][2]VecVirtual{even, odd} {
			out[c+4*g], out[c+4*g+8] = m.vec(), m.vec()
			VSHUFF32X4(U8(0x88), pair[1], pair[0], out[c+4*g])
			VSHUFF32X4(U8(0xdd), pair[1], pair[0], out[c+4*g+8])
		}
	}
	return out
}

package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// fold leaves in the low number of the result what op makes of all numbers of
// the vectors v, pairwise: first whole groups of 64 bytes, then halves, so
// that one long register and two short ones go the same way. double says that
// the numbers are float64.
func (m isa) fold(v []VecVirtual, double bool, op func(...Op)) VecVirtual {
	perGroup := 16 / m.lanes
	for len(v) > perGroup {
		half := make([]VecVirtual, 0, len(v)/2)
		for g := 0; g < len(v); g += 2 * perGroup {
			for i := range perGroup {
				op(v[g+perGroup+i], v[g+i], v[g+i])
				half = append(half, v[g+i])
			}
		}
		v = half
	}
	other := YMM()
	low := v[0].AsY().(VecVirtual)
	if m.wide() {
		VEXTRACTF64X4(U8(1), v[0], other)
		op(other, low, low)
	} else {
		op(v[1], low, low)
	}
	x, y := low.AsX(), other.AsX()
	VEXTRACTF128(U8(1), low, y)
	op(y, x, x)
	VPERMILPD(U8(1), x, y) // the upper 8 bytes
	op(y, x, x)
	if !double {
		VMOVSHDUP(x, y) // the second of two float32
		op(y, x, x)
	}
	return v[0]
}

func dot(m isa) {
	m.text("dot", "func(x, y *float32, n int) (sum float32)", "returns the sum of x*y, in 64 partial sums.")
	p, n := pointers("x", "y"), length("n")
	sum := m.zeros(64 / m.lanes)
	m.pass(n, m.lanes, blocks, p, func(at access) {
		x := m.vec()
		at.load(p[0], x)
		VFMADD231PS(at.operand(p[1]), x, sum[at.slot])
	})
	storeResult("sum", m.fold(sum, false, VADDPS), VMOVSS)
	finish()
}

// doubles is the number of float64 in a register.
func (m isa) doubles() int { return m.lanes / 2 }

// loadDoubles reads float32 numbers, half a register of them, as float64.
func (a access) loadDoubles(p GPVirtual, v VecVirtual) {
	switch {
	case a.mask == nil:
		VCVTPS2PD(a.mem(p), v)
	case a.m.wide():
		VCVTPS2PD_Z(a.mem(p), a.mask, v)
	default:
		x := XMM()
		VMASKMOVPS(a.mem(p), a.mask, x)
		VCVTPS2PD(x, v)
	}
}

func squaredDistance(m isa) {
	m.text("squaredDistance", "func(x, y *float32, n int) (sum float64)",
		"returns the sum of the squares of x-y in float64, in 32 partial sums.")
	p, n := pointers("x", "y"), length("n")
	sum := m.zeros(32 / m.doubles())
	m.pass(n, m.doubles(), []int{32, 8}, p, func(at access) {
		x, y := m.vec(), m.vec()
		at.loadDoubles(p[0], x)
		at.loadDoubles(p[1], y)
		VSUBPD(y, x, x)
		VFMADD231PD(x, x, sum[at.slot])
	})
	storeResult("sum", m.fold(sum, true, VADDPD), VMOVSD)
	finish()
}

func scaledSquares(m isa) {
	m.text("scaledSquares", "func(a float64, x *float32, b float64, y *float32, n int) (difference, sum float64)",
		"returns the sums of the squares of a*x-b*y and of a*x+b*y in float64, in 16 partial sums each.")
	p, n := pointers("x", "y"), length("n")
	factor := func(name string) VecVirtual {
		v := m.vec()
		c, err := Param(name).Resolve()
		if err != nil {
			panic(err)
		}
		VBROADCASTSD(c.Addr, v)
		return v
	}
	a, b := factor("a"), factor("b")
	difference, sum := m.zeros(16/m.doubles()), m.zeros(16/m.doubles())
	m.pass(n, m.doubles(), []int{16, 8}, p, func(at access) {
		x, y, d := m.vec(), m.vec(), m.vec()
		at.loadDoubles(p[0], x)
		at.loadDoubles(p[1], y)
		VMULPD(a, x, x)
		VMULPD(b, y, y)
		VSUBPD(y, x, d)
		VADDPD(y, x, x)
		VFMADD231PD(d, d, difference[at.slot])
		VFMADD231PD(x, x, sum[at.slot])
	})
	storeResult("difference", m.fold(difference, true, VADDPD), VMOVSD)
	storeResult("sum", m.fold(sum, true, VADDPD), VMOVSD)
	finish()
}

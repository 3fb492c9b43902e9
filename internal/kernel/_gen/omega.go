package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// wrightOmega computes ω(x - shift), ω + ln ω = x. Below 0 it is a rational
// function of e^x. A register with a lane of at least 0 also takes two Newton
// steps for the logarithm, from a line that touches ω near 0.
func wrightOmega(m isa) {
	m.text("wrightOmega", "func(w, x *float32, n int, shift float32) (sum, slope float32)",
		"sets w to ω(x-shift), Wright's omega function; sum is the sum of w and slope that of w/(1+w), in 16 partial sums each.")
	p, n := pointers("w", "x"), length("n")
	shift := m.broadcastParam("shift")
	c := m.loadConstants()
	zero := m.zeros(1)[0]
	sum, slope := m.zeros(16/m.lanes), m.zeros(16/m.lanes)
	lowest := constant(float32(math.Inf(-1))) // of which ω is 0
	m.pass(n, m.lanes, []int{16}, p, func(at access) {
		x := m.vec()
		switch {
		case at.mask == nil:
			VMOVUPS(at.mem(p[1]), x)
		case m.wide():
			VMOVUPS(lowest, x)
			VMOVUPS(at.mem(p[1]), at.mask, x)
		default:
			at.load(p[1], x)
			VBLENDVPS(at.mask, x, m.register(lowest), x)
		}
		VSUBPS(shift, x, x)

		z := m.vec()
		VMINPS(x, zero, z) // in this order NaN stays
		z = m.exp(z, nil, c)
		above, below, both := m.vec(), m.vec(), m.vec()
		m.polynomial(above, z, constant(omegaAbove[0]), constant(omegaAbove[1]), constant(1))
		m.polynomial(below, z, constant(omegaBelow[0]), constant(omegaBelow[1]), constant(1))
		VMULPS(above, z, above)
		// With one division: w = above/below, w/(1+w) = above/both.
		VADDPS(above, below, both)
		inverse := m.vec()
		VMULPS(below, both, inverse)
		VDIVPS(inverse, m.register(c.one), inverse)
		VMULPS(above, inverse, inverse)
		w, s := m.vec(), m.vec()
		VMULPS(both, inverse, w)
		VMULPS(below, inverse, s)

		small, lanes := label("small"), GP32()
		var large Op
		const atLeast = 0x1d // and ordered
		if m.wide() {
			VCMPPS(U8(atLeast), zero, x, K5)
			KMOVW(K5, lanes)
			large = K5
		} else {
			v := m.vec()
			VCMPPS(U8(atLeast), zero, x, v)
			VMOVMSKPS(v, lanes)
			large = v
		}
		TESTL(lanes, lanes)
		JZ(LabelRef(small))
		y := m.vec()
		VMOVUPS(constant(0.433), y)
		VFMADD213PS(constant(0.567), x, y)
		over := m.vec() // 1 + w
		for range 2 {
			ln := m.log(y)
			VSUBPS(ln, x, ln)
			VADDPS(c.one, ln, ln)
			VADDPS(c.one, y, over)
			VDIVPS(over, ln, ln)
			VMULPS(ln, y, y)
		}
		VADDPS(c.one, y, over)
		VDIVPS(over, y, over)
		if m.wide() {
			VMOVAPS(y, large, w)
			VMOVAPS(over, large, s)
		} else {
			VBLENDVPS(large, y, w, w)
			VBLENDVPS(large, over, s, s)
		}
		Label(small)
		VADDPS(w, sum[at.slot], sum[at.slot])
		VADDPS(s, slope[at.slot], slope[at.slot])
		at.store(w, p[0])
	})
	storeResult("sum", m.fold(sum, false, VADDPS), VMOVSS)
	storeResult("slope", m.fold(slope, false, VADDPS), VMOVSS)
	finish()
}

// W(z)/z for z from 0 to 1 is about (1+az+bz²)/(1+cz+dz²), to 1.2e-5, where W is
// Lambert's function; b, a and d, c, for the least largest relative error.
var (
	omegaAbove = [2]float32{0.09930669, 1.3826066}
	omegaBelow = [2]float32{0.994217, 2.3818982}
)

// polynomial sets y to the polynomial in x with the given coefficients, the
// highest first.
func (m isa) polynomial(y, x VecVirtual, coefficient ...Op) {
	VMOVUPS(coefficient[0], y)
	for _, a := range coefficient[1:] {
		VFMADD213PS(a, x, y)
	}
}

// log returns ln x for normal x above 0, to 2e-5: with x = 2^n (1+f), 1+f from
// √½ to √2, it is n ln 2 + ln(1+f).
func (m isa) log(x VecVirtual) VecVirtual {
	n, f, y := m.vec(), m.vec(), m.vec()
	lowest := constant(math.Float32frombits(0x3f3504f3)) // √½
	VMOVUPS(lowest, y)
	VPSUBD(y, x, n)
	VPSRAD(U8(23), n, n)
	VPSLLD(U8(23), n, f)
	VPSUBD(f, x, f)
	VSUBPS(m.register(constant(1)), f, f)
	VCVTDQ2PS(n, n)
	// ln(1+f)/f, interpolated at Chebyshev's points.
	m.polynomial(y, f, constant(0.17348632), constant(-0.2701023), constant(0.3366878), constant(-0.49950212), constant(0.99996215))
	VMULPS(f, y, y)
	VFMADD231PS(constant(math.Ln2), n, y)
	return y
}

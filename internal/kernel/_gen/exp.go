package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// constant returns memory that holds x once a lane of the longest register.
func constant(x float32) Mem {
	bits := math.Float32bits(x)
	return sharedData(fmt.Sprintf("c%08x", bits), func() {
		for i := range 16 {
			DATA(4*i, U32(bits)) // not F32: the assembler would take $(1) for an integer
		}
	})
}

// expConstants are what exp needs: in registers with AVX-512, in memory with
// AVX2, which has too few.
type expConstants struct {
	low, high, log2e, shift, ln2High, ln2Low, one Op
	coefficient                                   []Op // of r^6 down to r^2
}

// The range of exp: below low the result rounds to 0, above high it overflows.
const low, high = -104, 89

// shift rounds to an integer whatever is added to it and taken away again: its
// last bit counts as 1.
const shift = 3 << 22

// loadConstants returns the constants of exp.
func (m isa) loadConstants() expConstants {
	get := func(x float32) Op {
		if !m.wide() {
			return constant(x)
		}
		v := m.vec()
		VMOVUPS(constant(x), v)
		return v
	}
	c := expConstants{
		low: get(low), high: get(high), one: get(1), shift: get(shift),
		log2e: get(math.Log2E),
		// ln 2 in two parts, the first with 9 bits, so that n times it is exact.
		ln2High: get(0.693359375), ln2Low: get(float32(math.Ln2 - 0.693359375)),
	}
	// (e^r-1-r)/r^2 by a polynomial with the least largest relative error of
	// e^r over |r| <= ln(2)/2: 3.7e-9, a sixteenth of a rounding.
	for _, bits := range []uint32{0x3ab511e6, 0x3c091d10, 0x3d2aac79, 0x3e2aaa49, 0x3efffffe} {
		c.coefficient = append(c.coefficient, get(math.Float32frombits(bits)))
	}
	return c
}

// exp replaces x, at most high or NaN, by e^x: with n the integer next to
// x/ln 2 and r = x - n ln 2 it is 2^n e^r. Lanes outside the mask become 0.
func (m isa) exp(x VecVirtual, mask Op, c expConstants) VecVirtual {
	VMAXPS(x, m.register(c.low), x) // in this order NaN stays
	n, q := m.vec(), m.vec()
	VMOVAPS(m.register(c.shift), n)
	VFMADD231PS(c.log2e, x, n)
	integer := m.vec()
	if !m.wide() {
		VPSUBD(c.shift, n, integer)
	}
	VSUBPS(c.shift, n, n)
	VFNMADD231PS(c.ln2High, n, x)
	VFNMADD231PS(c.ln2Low, n, x)
	VMOVAPS(c.coefficient[0], q)
	for _, a := range c.coefficient[1:] {
		VFMADD213PS(a, x, q)
	}
	VFMADD213PS(c.one, x, q)
	VFMADD213PS(c.one, x, q)
	if m.wide() {
		if mask == nil {
			VSCALEFPS(n, q, q)
		} else {
			VSCALEFPS_Z(n, q, mask, q)
		}
		return q
	}
	// 2^n in two factors, since neither 2^128 nor 2^-150 is a float32; the
	// first product is exact, so that there is one rounding, as with AVX-512.
	half := m.vec()
	VPSRAD(U8(1), integer, half)
	VPSUBD(half, integer, integer)
	for _, power := range []VecVirtual{half, integer} {
		VPSLLD(U8(23), power, power)
		VPADDD(c.one, power, power)
		VMULPS(power, q, q)
	}
	if mask != nil {
		VANDPS(mask, q, q)
	}
	return q
}

// register returns x in a register.
func (m isa) register(x Op) Op {
	if m.wide() {
		return x
	}
	v := m.vec()
	VMOVUPS(x, v)
	return v
}

func expKernel(m isa) {
	m.text("exp", "func(dst, x *float32, n int)", "sets dst to e^x.")
	p, n := pointers("dst", "x"), length("n")
	c := m.loadConstants()
	m.pass(n, m.lanes, []int{32, 16}, p, func(at access) {
		x := m.vec()
		at.load(p[1], x)
		VMINPS(x, m.register(c.high), x)
		at.store(m.exp(x, nil, c), p[0])
	})
	finish()
}

// softmax takes three passes: the largest score, the exponentials and their
// sum, the division. Two exponentials at a time are added in float32, then all
// in float64.
func softmax(m isa) {
	m.text("softmax", "func(p, scores *float32, n int) (top float32, sum float64)",
		"sets p to the softmax of scores; top is the largest score, sum the sum of exp(score-top). n is at least 1.")
	ptr, n := pointers("p", "scores"), length("n")
	p, scores := ptr[0], ptr[1]

	lowest := constant(float32(math.Inf(-1)))
	largest := make([]VecVirtual, 64/m.lanes)
	for i := range largest {
		largest[i] = m.vec()
		VMOVUPS(lowest, largest[i])
	}
	walk := clone(scores)
	m.pass(clone(n), m.lanes, blocks, []GPVirtual{walk}, func(at access) {
		acc := largest[at.slot]
		switch {
		case at.mask == nil:
			VMAXPS(at.mem(walk), acc, acc)
		case m.wide():
			VMAXPS(at.mem(walk), acc, at.mask, acc)
		default:
			x := m.vec()
			at.load(walk, x)
			VBLENDVPS(at.mask, x, m.register(lowest), x)
			VMAXPS(x, acc, acc)
		}
	})
	folded := m.fold(largest, false, VMAXPS)
	storeResult("top", folded, VMOVSS)
	top := m.vec()
	VBROADCASTSS(folded.AsX(), top)

	c := m.loadConstants()
	sum := m.zeros(16 / m.doubles())
	to := clone(p)
	walk = clone(scores)
	e := make([]VecVirtual, 16/m.lanes)
	m.pass(clone(n), m.lanes, []int{32}, []GPVirtual{walk, to}, func(at access) {
		x := m.vec()
		at.load(walk, x)
		VSUBPS(top, x, x)
		x = m.exp(x, at.mask, c)
		at.store(x, to)
		if at.slot < len(e) {
			e[at.slot] = x
			return
		}
		i := at.slot - len(e)
		VADDPS(x, e[i], x)
		m.addDoubles(x, sum[2*i:2*i+2])
	})

	total := m.fold(sum, true, VADDPD)
	storeResult("sum", total, VMOVSD)
	inverse, x := XMM(), total.AsX()
	VMOVSS(constant(1), inverse)
	VCVTSS2SD(inverse, inverse, inverse)
	VDIVSD(x, inverse, inverse)
	VCVTSD2SS(inverse, inverse, inverse)
	factor := m.vec()
	VBROADCASTSS(inverse, factor)
	m.scale(factor, p, n)
	finish()
}

// addDoubles adds the lower half of the float32 in x to sum[0] and the upper
// half to sum[1].
func (m isa) addDoubles(x VecVirtual, sum []VecVirtual) {
	lower, upper := m.vec(), m.vec()
	if m.wide() {
		VCVTPS2PD(x.AsY(), lower)
		VEXTRACTF64X4(U8(1), x, upper.AsY())
		VCVTPS2PD(upper.AsY(), upper)
	} else {
		VCVTPS2PD(x.AsX(), lower)
		VEXTRACTF128(U8(1), x, upper.AsX())
		VCVTPS2PD(upper.AsX(), upper)
	}
	VADDPD(lower, sum[0], sum[0])
	VADDPD(upper, sum[1], sum[1])
}

package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// blocks are the block widths of the float32 passes.
var blocks = []int{64, 16}

func length(name string) GPVirtual { return Load(Param(name), GP64()).(GPVirtual) }

// argument returns where a parameter lies in memory, for loops that need all
// registers.
func argument(name string) Mem {
	at, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return at.Addr
}

func axpy(m isa) {
	m.text("axpy", "func(a float32, x, y *float32, n int)", "adds a*x to y.")
	p, n, a := pointers("x", "y"), length("n"), m.broadcastParam("a")
	m.pass(n, m.lanes, blocks, p, func(at access) {
		y := m.vec()
		at.load(p[1], y)
		VFMADD231PS(at.operand(p[0]), a, y)
		at.store(y, p[1])
	})
	finish()
}

func add(m isa) {
	m.text("add", "func(x, y *float32, n int)", "adds x to y.")
	p, n := pointers("x", "y"), length("n")
	m.pass(n, m.lanes, blocks, p, func(at access) {
		y := m.vec()
		at.load(p[1], y)
		VADDPS(at.operand(p[0]), y, y)
		at.store(y, p[1])
	})
	finish()
}

func scale(m isa) {
	m.text("scale", "func(a float32, x *float32, n int)", "multiplies x by a.")
	p, n, a := pointers("x"), length("n"), m.broadcastParam("a")
	m.scale(a, p[0], n)
	finish()
}

// scale multiplies n numbers at p by the number in all lanes of a.
func (m isa) scale(a VecVirtual, p, n GPVirtual) {
	m.pass(n, m.lanes, blocks, []GPVirtual{p}, func(at access) {
		x := m.vec()
		VMULPS(at.operand(p), a, x)
		at.store(x, p)
	})
}

// clone copies a register that a pass is going to change.
func clone(p GPVirtual) GPVirtual {
	q := GP64()
	MOVQ(p, q)
	return q
}

func advance(m isa) {
	m.text("advance", "func(ww, wv, vw, vv float32, w, v *float32, n int)", "sets w to ww*w+wv*v and v to vw*w+vv*v.")
	p, n := pointers("w", "v"), length("n")
	var f [4]VecVirtual
	for i, name := range []string{"ww", "wv", "vw", "vv"} {
		f[i] = m.broadcastParam(name)
	}
	m.pass(n, m.lanes, blocks, p, func(at access) {
		w, v, newW, newV := m.vec(), m.vec(), m.vec(), m.vec()
		at.load(p[0], w)
		at.load(p[1], v)
		VMULPS(f[0], w, newW)
		VFMADD231PS(f[1], v, newW)
		VMULPS(f[2], w, newV)
		VFMADD231PS(f[3], v, newV)
		at.store(newW, p[0])
		at.store(newV, p[1])
	})
	finish()
}

func stepRow(m isa) {
	m.text("stepRow", "func(w, v, grad *float32, n int, factor *float32)",
		"makes an SGD step on weights w and velocities v with the gradient grad; factor has the 6 factors of the step, 16 times each.")
	p, n, factor := pointers("w", "v", "grad"), length("n"), m.stepOf(pointers("factor")[0])
	m.pass(n, m.lanes, blocks, p, func(at access) {
		w, v, g := m.vec(), m.vec(), m.vec()
		at.load(p[0], w)
		at.load(p[1], v)
		at.load(p[2], g)
		w, v = m.step(factor, w, v, g)
		at.store(w, p[0])
		at.store(v, p[1])
	})
	finish()
}

func scaleAdd(m isa) {
	m.text("scaleAdd", "func(a float32, w *float32, b float32, x *float32, n int)", "sets w to a*w+b*x.")
	p, n := pointers("w", "x"), length("n")
	a, b := m.broadcastParam("a"), m.broadcastParam("b")
	m.pass(n, m.lanes, blocks, p, func(at access) {
		w := m.vec()
		at.load(p[0], w)
		VMULPS(a, w, w)
		VFMADD231PS(at.operand(p[1]), b, w)
		at.store(w, p[0])
	})
	finish()
}

func stepOuter(m isa) {
	m.text("stepOuter", "func(w, v *float32, a float32, x *float32, n int, factor *float32)",
		"is stepRow with the gradient a*x.")
	p, n, factor, a := pointers("w", "v", "x"), length("n"), m.stepOf(pointers("factor")[0]), m.broadcastParam("a")
	m.pass(n, m.lanes, blocks, p, func(at access) {
		w, v, g := m.vec(), m.vec(), m.vec()
		at.load(p[0], w)
		at.load(p[1], v)
		at.load(p[2], g)
		VMULPS(a, g, g)
		w, v = m.step(factor, w, v, g)
		at.store(w, p[0])
		at.store(v, p[1])
	})
	finish()
}

func moveMass(m isa) {
	m.text("moveMass", "func(moved, from, to *float32, weight, rate float32, residual, bias, curvature *float32, n int)",
		"sets moved to weight*(from-to) and adds it to residual, rate times it to bias and weight*to*(1-to) to curvature.")
	p, n := pointers("moved", "from", "to", "residual", "bias", "curvature"), length("n")
	weight, rate := m.broadcastParam("weight"), m.broadcastParam("rate")
	m.pass(n, m.lanes, []int{16}, p, func(at access) {
		to, moved, x := m.vec(), m.vec(), m.vec()
		at.load(p[2], to)
		at.load(p[1], moved)
		VSUBPS(to, moved, moved)
		VMULPS(weight, moved, moved)
		at.store(moved, p[0])
		VADDPS(at.operand(p[3]), moved, x)
		at.store(x, p[3])
		at.load(p[4], x)
		VFMADD231PS(rate, moved, x)
		at.store(x, p[4])
		VFNMADD213PS(to, to, to) // to - to²
		at.load(p[5], x)
		VFMADD231PS(weight, to, x)
		at.store(x, p[5])
	})
	finish()
}

func subtractAbove(m isa) {
	m.text("subtractAbove", "func(a, least float32, x *float32, n int)", "sets x to the larger of x-a and least.")
	p, n := pointers("x"), length("n")
	a, least := m.broadcastParam("a"), m.broadcastParam("least")
	m.pass(n, m.lanes, blocks, p, func(at access) {
		x := m.vec()
		at.load(p[0], x)
		VSUBPS(a, x, x)
		VMAXPS(x, least, x) // in this order NaN stays
		at.store(x, p[0])
	})
	finish()
}

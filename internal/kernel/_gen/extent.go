package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// extent leaves the last step, over 16 numbers of each kind, to Go.
func extent(m isa) {
	m.text("extent", "func(x *float32, n int, out *float32)",
		"sets out to the least numbers of x, the largest and the sums: 16 of each, number i of those at i, i+16, i+32 and so on. n is a multiple of 16 above 0.")
	p := pointers("x", "out")
	x, out := p[0], p[1]
	n := length("n")
	registers := 16 / m.lanes
	least, largest, sum := make([]VecVirtual, registers), make([]VecVirtual, registers), m.zeros(registers)
	for i := range registers {
		least[i], largest[i] = m.vec(), m.vec()
		VMOVUPS(constant(float32(math.Inf(1))), least[i])
		VMOVUPS(constant(float32(math.Inf(-1))), largest[i])
	}
	loop := label("sixteen")
	Label(loop)
	for i := range registers {
		at := Mem{Base: x, Disp: i * m.lanes * 4}
		VMINPS(at, least[i], least[i])
		VMAXPS(at, largest[i], largest[i])
		VADDPS(at, sum[i], sum[i])
	}
	ADDQ(U32(64), x)
	SUBQ(U32(16), n)
	JNZ(LabelRef(loop))
	for i := range registers {
		for group, v := range []VecVirtual{least[i], largest[i], sum[i]} {
			VMOVUPS(v, Mem{Base: out, Disp: 64*group + i*m.lanes*4})
		}
	}
	finish()
}

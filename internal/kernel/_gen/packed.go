package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// fetchAhead is how many rows before its use a packed row is asked for: about as many as
// are added in the time that memory takes.
const fetchAhead = 6

// addPackedRows keeps y in memory: each row touches some groups of 16 numbers of it. The
// product is rounded before it is added, so that plain Go gives the same bits.
func addPackedRows(m isa) {
	m.text("addPackedRows", "func(y *float32, at *int32, x *float32, n int, rows *uint16)",
		"adds x[i] times the packed row at rows[at[i]:] to y, for n rows; see PackRow. n is at least 1.")
	p := pointers("y", "at", "x", "rows")
	y, at, x, rows := p[0], p[1], p[2], p[3]
	n := length("n")
	scale, bits, factor := m.vec(), m.vec(), m.vec()
	VMOVUPS(constantBits(0x77800000), scale) // 2^112, see half.Finite
	VMOVUPS(constantBits(0x8fffe000), bits)

	row, group, mask, value, i, ahead := GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	XORQ(i, i)
	loop, next, done := label("row"), label("group"), label("done")
	Label(loop)
	LEAQ(Mem{Base: i, Disp: fetchAhead}, ahead)
	CMPQ(ahead, n)
	CMOVQGE(i, ahead) // there is always a row to ask for
	MOVLQSX(Mem{Base: at, Index: ahead, Scale: 4}, ahead)
	for line := range 3 {
		PREFETCHT0(Mem{Base: rows, Index: ahead, Scale: 2, Disp: 64 * line})
	}
	MOVLQSX(Mem{Base: at, Index: i, Scale: 4}, row)
	LEAQ(Mem{Base: rows, Index: row, Scale: 2}, row)
	VBROADCASTSS(Mem{Base: x, Index: i, Scale: 4}, factor)
	VMULPS(scale, factor, factor)
	MOVWQZX(Mem{Base: row}, group)
	ADDQ(U32(2), row)
	POPCNTQ(group, value)
	LEAQ(Mem{Base: row, Index: value, Scale: 2}, value)
	TESTQ(group, group)
	JZ(LabelRef(done))
	Label(next)
	to, count := GP64(), GP64()
	TZCNTQ(group, to)
	BLSRQ(group, group)
	SHLQ(U8(6), to) // 16 numbers of 4 bytes
	MOVWQZX(Mem{Base: row}, mask)
	ADDQ(U32(2), row)
	if m.wide() {
		v := ZMM()
		KMOVW(mask.As32(), K1)
		VPMOVSXWD(Mem{Base: value}, v)
		VPSLLD(U8(13), v, v)
		VPANDD(bits, v, v)
		VEXPANDPS_Z(v, K1, v) // before the product: what follows the row may be subnormal
		VMULPS(factor, v, v)
		VADDPS(Mem{Base: y, Index: to, Scale: 1}, v, v)
		VMOVUPS(v, Mem{Base: y, Index: to, Scale: 1})
		POPCNTQ(mask, count)
		LEAQ(Mem{Base: value, Index: count, Scale: 2}, value)
	} else {
		table := GP64()
		LEAQ(expandTable(), table)
		for half := range 2 {
			v, place, low := YMM(), YMM(), GP64()
			MOVBQZX(mask.As8(), low)
			VPMOVSXWD(Mem{Base: value}, v)
			VPSLLD(U8(13), v, v)
			VPAND(bits, v, v)
			VPMOVSXBD(Mem{Base: table, Index: low, Scale: 8}, place)
			VPERMPS(v, place, v)
			VPSRAD(U8(31), place, place)
			VPANDN(v, place, v)
			VMULPS(factor, v, v)
			y8 := Mem{Base: y, Index: to, Scale: 1, Disp: 32 * half}
			VADDPS(y8, v, v)
			VMOVUPS(v, y8)
			POPCNTQ(low, count)
			LEAQ(Mem{Base: value, Index: count, Scale: 2}, value)
			if half == 0 {
				SHRQ(U8(8), mask)
			}
		}
	}
	TESTQ(group, group)
	JNZ(LabelRef(next))
	Label(done)
	INCQ(i)
	CMPQ(i, n)
	JLT(LabelRef(loop))
	finish()
}

// constantBits is constant for a pattern of bits.
func constantBits(bits uint32) Mem { return constant(math.Float32frombits(bits)) }

// expandTable has 8 bytes for each mask of 8 lanes: where the number of a lane is found
// among those that are kept, with the sign bit where none is.
func expandTable() Mem {
	return sharedData("expandTable", func() {
		for mask := range 256 {
			places, kept := uint64(0), uint64(0)
			for lane := range 8 {
				place := uint64(0x80)
				if mask>>lane&1 > 0 {
					place = kept
					kept++
				}
				places |= place << (8 * lane)
			}
			DATA(8*mask, U64(places))
		}
	})
}

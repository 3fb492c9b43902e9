package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// isa is a vector instruction set: its name, which ends the names of its
// kernels, and how many float32 fill a register.
type isa struct {
	name  string
	lanes int
}

func (m isa) wide() bool { return m.lanes == 16 }

// text opens the kernel of the given name and Go signature.
func (m isa) text(name, signature, doc string) {
	TEXT(name+m.name, NOSPLIT, signature)
	Pragma("noescape")
	Doc(name + m.name + " " + doc)
}

// label makes a name that no other kernel or loop uses.
func label(name string) (at string) {
	labels++
	return fmt.Sprintf("%s%d", name, labels)
}

var labels int

// vec returns a new vector register.
func (m isa) vec() VecVirtual {
	if m.wide() {
		return ZMM()
	}
	return YMM()
}

// zeros returns n new vector registers, all zero.
func (m isa) zeros(n int) []VecVirtual {
	v := make([]VecVirtual, n)
	for i := range v {
		v[i] = m.vec()
		m.zero(v[i])
	}
	return v
}

func (m isa) zero(v VecVirtual) {
	if m.wide() {
		VPXORD(v, v, v)
	} else {
		VXORPS(v, v, v)
	}
}

// broadcastParam fills a new register with a float32 parameter.
func (m isa) broadcastParam(name string) VecVirtual {
	v := m.vec()
	p, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	VBROADCASTSS(p.Addr, v)
	return v
}

// storeResult writes the low number of x to a result and ends the kernel.
// move is the instruction: VMOVSS or VMOVSD.
func storeResult(name string, x VecVirtual, move func(...Op)) {
	p, err := Return(name).Resolve()
	if err != nil {
		panic(err)
	}
	move(x.AsX(), p.Addr)
}

func finish() {
	VZEROUPPER()
	RET()
}

// pointers loads the named pointer parameters.
func pointers(names ...string) []GPVirtual {
	p := make([]GPVirtual, len(names))
	for i, name := range names {
		p[i] = GP64()
		Load(Param(name), p[i])
	}
	return p
}

// access is one vector's place within a pass over an array: at bytes past the
// pointers, and only the lanes of mask if that is set. slot numbers the
// vectors of a block.
type access struct {
	m    isa
	at   int
	slot int
	mask Op
}

func (a access) mem(p GPVirtual) Mem { return Mem{Base: p, Disp: a.at} }

// load reads the vector; lanes outside the mask become 0 and are not touched
// in memory.
func (a access) load(p GPVirtual, v VecVirtual) {
	switch {
	case a.mask == nil:
		VMOVUPS(a.mem(p), v)
	case a.m.wide():
		VMOVUPS_Z(a.mem(p), a.mask, v)
	default:
		VMASKMOVPS(a.mem(p), a.mask, v)
	}
}

// operand returns something an instruction can read the vector from: memory
// itself where no mask forbids it.
func (a access) operand(p GPVirtual) Op {
	if a.mask == nil {
		return a.mem(p)
	}
	v := a.m.vec()
	a.load(p, v)
	return v
}

// store writes the lanes of the mask and no others.
func (a access) store(v VecVirtual, p GPVirtual) {
	switch {
	case a.mask == nil:
		VMOVUPS(v, a.mem(p))
	case a.m.wide():
		VMOVUPS(v, a.mask, a.mem(p))
	default:
		VMASKMOVPS(v, a.mask, a.mem(p))
	}
}

// pass walks over n numbers in blocks of the given widths, the widest first,
// each a multiple of the next; the rest, narrower than the last width, comes as
// one block with masks. body sees the vectors of a block one after the other,
// each with lanes numbers.
func (m isa) pass(n GPVirtual, lanes int, widths []int, p []GPVirtual, body func(access)) {
	last := widths[len(widths)-1]
	for _, width := range widths {
		loop, end := label("block"), label("narrower")
		CMPQ(n, U32(width))
		JLT(LabelRef(end))
		Label(loop)
		for s := range width / lanes {
			body(access{m, s * lanes * 4, s, nil})
		}
		for _, q := range p {
			ADDQ(U32(width*4), q)
		}
		SUBQ(U32(width), n)
		CMPQ(n, U32(width))
		JGE(LabelRef(loop))
		Label(end)
	}
	done := label("done")
	TESTQ(n, n)
	JZ(LabelRef(done))
	for s, mask := range m.tailMasks(n, lanes, last/lanes) {
		body(access{m, s * lanes * 4, s, mask})
	}
	Label(done)
}

// tailMasks returns masks for the first n of count*lanes numbers.
func (m isa) tailMasks(n GPVirtual, lanes, count int) []Op {
	masks := make([]Op, count)
	if m.wide() {
		bits := GP64()
		MOVQ(I32(-1), bits)
		BZHIQ(n, bits, bits)
		for s := range masks {
			k := []Physical{K1, K2, K3, K4}[s]
			if s > 0 {
				SHRQ(U8(lanes), bits)
			}
			KMOVW(bits.As32(), k)
			masks[s] = k
		}
		return masks
	}
	table, back := GP64(), GP64()
	LEAQ(tailTable(), table)
	MOVQ(n, back)
	NEGQ(back)
	for s := range masks {
		v := YMM()
		masks[s] = v
		if lanes == 4 {
			v = v.AsX().(VecVirtual)
			masks[s] = v
		}
		VMOVUPS(Mem{Base: table, Index: back, Scale: 4, Disp: 4*tailLanes + s*lanes*4}, v)
	}
	return masks
}

// tailLanes is the longest rest that has masks.
const tailLanes = 32

// tailTable holds tailLanes ones, then as many zeros: a window of it that
// starts n before the middle masks the first n lanes.
func tailTable() Mem {
	return sharedData("tailTable", func() {
		for i := range tailLanes {
			DATA(4*i, U32(1<<32-1))
		}
		for i := range tailLanes {
			DATA(4*(tailLanes+i), U32(0))
		}
	})
}

// sharedData returns the read-only data of that name, made at its first use.
func sharedData(name string, fill func()) Mem {
	if mem, ok := shared[name]; ok {
		return mem
	}
	mem := GLOBL(name, RODATA|NOPTR)
	shared[name] = mem
	fill()
	return mem
}

var shared = map[string]Mem{}

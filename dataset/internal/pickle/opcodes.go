package pickle

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// run executes opcodes up to STOP.
func (m *machine) run() (any, error) {
	for {
		op, err := m.take(1)
		if err != nil {
			return nil, err
		}
		if op[0] == '.' {
			return m.pop()
		}
		if err := m.step(op[0]); err != nil {
			return nil, err
		}
	}
}

// step executes one opcode; the names are those of Python's pickletools.
func (m *machine) step(op byte) error {
	switch op {
	case 0x80: // PROTO
		_, err := m.take(1)
		return err
	case 0x95: // FRAME
		_, err := m.take(8)
		return err
	case '(':
		m.push(mark{})
	case '0': // POP
		_, err := m.pop()
		return err
	case 'N':
		m.push(nil)
	case 0x88, 0x89: // NEWTRUE, NEWFALSE
		m.push(op == 0x88)
	case ']':
		m.push(&List{})
	case '}':
		m.push(Dict{})
	case ')':
		m.push(Tuple{})
	case 'K', 'M': // BININT1, BININT2
		return m.pushed(m.number(int(op-'K')/2 + 1))
	case 'J': // BININT
		n, err := m.number(4)
		return m.pushed(int(int32(n)), err)
	case 0x8a: // LONG1
		return m.long()
	case 'G': // BINFLOAT
		b, err := m.take(8)
		if err != nil {
			return err
		}
		m.push(math.Float64frombits(binary.BigEndian.Uint64(b)))
	case 'U', 'C', 0x8c: // SHORT_BINSTRING, SHORT_BINBYTES, SHORT_BINUNICODE
		return m.text(1)
	case 'T', 'B', 'X': // BINSTRING, BINBYTES, BINUNICODE
		return m.text(4)
	case 0x8d, 0x8e, 0x96: // BINUNICODE8, BINBYTES8, BYTEARRAY8
		return m.text(8)
	case 'q', 0x94, 'r': // BINPUT, MEMOIZE, LONG_BINPUT
		return m.remember(op)
	case 'h', 'j': // BINGET, LONG_BINGET
		n, err := m.number(int(op-'h')/2*3 + 1)
		if err != nil {
			return err
		}
		v, ok := m.memo[n]
		if !ok {
			return fmt.Errorf("nothing is kept under %d", n)
		}
		m.push(v)
	case 'a', 'e': // APPEND, APPENDS
		return m.extend(op == 'a')
	case 's', 'u': // SETITEM, SETITEMS
		return m.set(op == 's')
	case 0x85, 0x86, 0x87: // TUPLE1 to TUPLE3
		items, err := m.pops(int(op) - 0x84)
		m.push(Tuple(items))
		return err
	case 't': // TUPLE
		items, err := m.popMark()
		m.push(Tuple(items))
		return err
	case 'c', 0x93: // GLOBAL, STACK_GLOBAL
		return m.global(op)
	case 'R': // REDUCE
		return m.reduce()
	case 'b': // BUILD
		return m.build()
	default:
		return fmt.Errorf("opcode %#x is none of plain data", op)
	}
	return nil
}

func (m *machine) pushed(v any, err error) error {
	m.push(v)
	return err
}

// text pushes a string whose length stands in n bytes.
func (m *machine) text(n int) error {
	length, err := m.number(n)
	if err != nil {
		return err
	}
	b, err := m.take(length)
	m.push(string(b))
	return err
}

// long pushes a signed number of up to 8 bytes.
func (m *machine) long() error {
	n, err := m.number(1)
	if err != nil {
		return err
	}
	b, err := m.take(n)
	if err != nil {
		return err
	}
	if n > 8 {
		return fmt.Errorf("a number of %d bytes, at most 8", n)
	}
	var wide [8]byte
	copy(wide[:], b)
	if n > 0 && b[n-1] >= 0x80 {
		for i := n; i < 8; i++ {
			wide[i] = 0xff
		}
	}
	m.push(int(int64(binary.LittleEndian.Uint64(wide[:]))))
	return nil
}

func (m *machine) remember(op byte) error {
	at := len(m.memo)
	var err error
	switch op {
	case 'q':
		at, err = m.number(1)
	case 'r':
		at, err = m.number(4)
	}
	if err != nil {
		return err
	}
	if len(m.stack) == 0 {
		return errors.New("the stack is empty")
	}
	m.memo[at] = m.stack[len(m.stack)-1]
	return nil
}

func (m *machine) items(one bool, n int) ([]any, error) {
	if one {
		return m.pops(n)
	}
	return m.popMark()
}

func (m *machine) top() any {
	if len(m.stack) == 0 {
		return nil
	}
	return m.stack[len(m.stack)-1]
}

func (m *machine) extend(one bool) error {
	items, err := m.items(one, 1)
	if err != nil {
		return err
	}
	l, ok := m.top().(*List)
	if !ok {
		return fmt.Errorf("items for %T, want a list", m.top())
	}
	l.Items = append(l.Items, items...)
	return nil
}

func (m *machine) set(one bool) error {
	items, err := m.items(one, 2)
	if err != nil {
		return err
	}
	d, ok := m.top().(Dict)
	if !ok {
		return fmt.Errorf("items for %T, want a dict", m.top())
	}
	for ; len(items) >= 2; items = items[2:] {
		key, ok := items[0].(string)
		if !ok {
			return fmt.Errorf("a key of a dict is %T, want text", items[0])
		}
		d[key] = items[1]
	}
	return nil
}

func (m *machine) global(op byte) error {
	var module, name string
	if op == 'c' {
		var err error
		if module, err = m.line(); err == nil {
			name, err = m.line()
		}
		if err != nil {
			return err
		}
	} else {
		parts, err := m.pops(2)
		if err != nil {
			return err
		}
		module, _ = parts[0].(string)
		name, _ = parts[1].(string)
	}
	m.push(global(module + "." + name))
	return nil
}

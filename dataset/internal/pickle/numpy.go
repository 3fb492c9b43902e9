package pickle

import (
	"fmt"
	"math"
)

// dtype is a NumPy type by its short name, such as u1.
type dtype string

// reduce calls one of the few functions that pickles of arrays name.
func (m *machine) reduce() error {
	parts, err := m.pops(2)
	if err != nil {
		return err
	}
	f, _ := parts[0].(global)
	args, ok := parts[1].(Tuple)
	if !ok {
		return fmt.Errorf("arguments of %s are %T, want a tuple", f, parts[1])
	}
	switch f {
	case "numpy.core.multiarray._reconstruct", "numpy._core.multiarray._reconstruct":
		m.push(&Array{})
	case "numpy.dtype":
		name := ""
		if len(args) > 0 {
			name, _ = args[0].(string)
		}
		m.push(dtype(name))
	case "_codecs.encode": // bytes of Python 3 in protocol 2: latin-1 as text
		text := ""
		if len(args) > 0 {
			text, _ = args[0].(string)
		}
		b := make([]byte, 0, len(text))
		for _, r := range text {
			if r > 0xff {
				return fmt.Errorf("character %#x in bytes", r)
			}
			b = append(b, byte(r))
		}
		m.push(string(b))
	default:
		return fmt.Errorf("the file asks to call %q, which plain data does not need", string(f))
	}
	return nil
}

// build gives an array its state: version, shape, type, Fortran order, bytes.
func (m *machine) build() error {
	state, err := m.pop()
	if err != nil {
		return err
	}
	switch object := m.top().(type) {
	case dtype:
		return nil // byte order and the like, of no meaning for bytes
	case *Array:
		parts, ok := state.(Tuple)
		if !ok || len(parts) != 5 {
			return fmt.Errorf("the state of an array is %T, want a tuple of 5", state)
		}
		shape, _ := parts[1].(Tuple)
		kind, _ := parts[2].(dtype)
		data, isBytes := parts[4].(string)
		if fortran, _ := parts[3].(bool); fortran || !isBytes || kind != "u1" && kind != "|u1" {
			return fmt.Errorf("an array of type %q, want uint8 in row-major order", string(kind))
		}
		size := 1
		object.Shape = nil
		for _, n := range shape {
			n, ok := n.(int)
			if !ok || n < 0 || n > 0 && size > math.MaxInt/n {
				return fmt.Errorf("an array of shape %v", shape)
			}
			size *= n
			object.Shape = append(object.Shape, n)
		}
		if size != len(data) {
			return fmt.Errorf("an array of shape %v with %d bytes", object.Shape, len(data))
		}
		object.Data = []byte(data)
		return nil
	default:
		return fmt.Errorf("state for %T, want an array", object)
	}
}

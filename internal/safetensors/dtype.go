package safetensors

import "slices"

// DType names the element type of a tensor as the header spells it.
type DType string

// The element types that Float32s and its kin read and the constructors make.
// All others of whole bytes can be read and written as raw bytes.
const (
	U8   DType = "U8"
	U16  DType = "U16"
	I32  DType = "I32"
	I64  DType = "I64"
	F16  DType = "F16"
	BF16 DType = "BF16"
	F32  DType = "F32"
	F64  DType = "F64"
)

// dtypes returns the known types by the binary logarithm of the bytes of one element,
// in the order of the Python library, which writes tensors of a later type first. Its
// types below 8 bits (F4, F6) are left out: their elements do not end on bytes.
func dtypes() [][]DType {
	return [][]DType{
		{"BOOL", U8, "I8", "F8_E5M2", "F8_E4M3", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"},
		{"I16", U16, F16, BF16},
		{I32, "U32", F32},
		{"C64", F64, I64, "U64"},
	}
}

// rank returns the place of d in the order of types, -1 if it is unknown.
func (d DType) rank() int { return slices.Index(slices.Concat(dtypes()...), d) }

// Size returns the bytes of one element, 0 for an unknown type.
func (d DType) Size() int {
	for n, group := range dtypes() {
		if slices.Contains(group, d) {
			return 1 << n
		}
	}
	return 0
}

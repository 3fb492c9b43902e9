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

// dtypeInfo is one row of the table of known types.
type dtypeInfo struct {
	name DType
	size int // bytes of one element
}

// dtypes returns the known types in the order of the Python library, which
// writes tensors of a later type first. Its types below 8 bits (F4, F6) are
// left out: their elements do not end on bytes.
func dtypes() []dtypeInfo {
	return []dtypeInfo{
		{"BOOL", 1}, {U8, 1}, {"I8", 1},
		{"F8_E5M2", 1}, {"F8_E4M3", 1}, {"F8_E8M0", 1}, {"F8_E4M3FNUZ", 1}, {"F8_E5M2FNUZ", 1},
		{"I16", 2}, {U16, 2}, {F16, 2}, {BF16, 2},
		{I32, 4}, {"U32", 4}, {F32, 4},
		{"C64", 8}, {F64, 8}, {I64, 8}, {"U64", 8},
	}
}

// rank returns the place of d in the order of types, -1 if it is unknown.
func (d DType) rank() int {
	return slices.IndexFunc(dtypes(), func(info dtypeInfo) bool { return info.name == d })
}

// Size returns the bytes of one element, 0 for an unknown type.
func (d DType) Size() int {
	i := d.rank()
	if i < 0 {
		return 0
	}
	return dtypes()[i].size
}

package parquet

import (
	"encoding/binary"
	"math"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/treeloss/treeloss/internal/half"
)

// Value is what stands in one row of a column.
type Value struct {
	Null   bool
	Int    int64   // Int; Uint, whose bits it has; Bool: 0 or 1
	Number float64 // Int, Uint and Float; integers beyond 2^53 rounded
	Bytes  []byte  // Text; valid until the next row
}

// finish makes of what is stored what it means.
func (c *Column) finish(stored parquet.Value, v *Value) error {
	*v = Value{Null: stored.IsNull() || stored.DefinitionLevel() < c.maxDef}
	if v.Null {
		return nil
	}
	switch c.node.Type.V {
	case format.Boolean:
		if stored.Boolean() {
			v.Int = 1
		}
	case format.Int32:
		v.Int = int64(stored.Int32())
	case format.Int64:
		v.Int = stored.Int64()
	case format.Float:
		v.Number = float64(stored.Float())
	case format.Double:
		v.Number = stored.Double()
	default:
		v.Bytes = stored.ByteArray()
	}
	switch c.form {
	case asInt:
		v.Number = float64(v.Int)
	case asUint:
		if c.node.Type.V == format.Int32 {
			v.Int = int64(uint32(v.Int))
		}
		v.Number = float64(uint64(v.Int))
	case asDecimal:
		v.Number = float64(v.Int)
		if c.node.Type.V == format.ByteArray || c.node.Type.V == format.FixedLenByteArray {
			v.Number = bigEndian(v.Bytes)
		}
		v.Number /= math.Pow10(scale(c.node))
	case asHalf:
		if len(v.Bytes) != 2 {
			return errValues
		}
		v.Number = half.Float64(binary.LittleEndian.Uint16(v.Bytes))
	}
	return nil
}

// bigEndian returns the value of a two's complement number.
func bigEndian(b []byte) float64 {
	var v float64
	for i, x := range b {
		if i == 0 {
			v = float64(int8(x))
		} else {
			v = v*256 + float64(x)
		}
	}
	return v
}

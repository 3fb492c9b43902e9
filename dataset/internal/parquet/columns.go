package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/treeloss/treeloss/internal/half"
)

// Kind is what a column holds.
type Kind int

// The kinds of columns.
const (
	Other Kind = iota // what is not read; Column.What says what it is
	Text              // bytes, which should be UTF-8
	Bool
	Int
	Uint
	Float // and decimals
	List  // of numbers
)

// Column is a field of a row.
type Column struct {
	Name string
	Kind Kind
	What string // in words, such as "a list of numbers" or "a timestamp"

	leaf    *parquet.Column // of the values, for all kinds but Other
	element Kind            // of a list's numbers; else Kind
	half    bool            // two bytes are a number
	decimal float64         // what a number is divided by; 0 for one that is no decimal
	inList  int             // definition level from which a list has an element; one below: it is empty
}

// newColumn says what the field c is, from the schema's elements that hold values. A list
// is a chain of groups down to its numbers; what branches is a group and is not read.
func newColumn(c *parquet.Column, leaves []format.SchemaElement) Column {
	out := Column{Name: c.Name()}
	nodes, lists := 0, 0
	for at := c; ; at = at.Columns()[0] {
		nodes++
		if at.Repeated() {
			lists++
			out.inList = at.MaxDefinitionLevel()
		}
		if at.Leaf() {
			out.leaf = at
			break
		}
		if len(at.Columns()) != 1 {
			out.What = fmt.Sprintf("a group of %d columns", leavesBelow(c))
			return out
		}
	}
	kind, what := out.describe(leaves[out.leaf.Index()])
	switch {
	case lists == 0 && nodes > 1:
		out.What = "a group of 1 column"
	case lists == 0:
		out.Kind, out.What = kind, what
	case lists == 1 && (kind == Int || kind == Uint || kind == Float) && nodes <= 3:
		out.Kind, out.What = List, "a list of numbers"
	case lists == 1 && kind == Text:
		out.What = "a list of texts"
	default:
		out.What = "a nested list"
	}
	out.element = kind
	return out
}

// leavesBelow counts the columns that hold the values of a field.
func leavesBelow(c *parquet.Column) int {
	if c.Leaf() {
		return 1
	}
	n := 0
	for _, child := range c.Columns() {
		n += leavesBelow(child)
	}
	return n
}

// describe says what the values are, by their element of the schema: that of the library's
// own types lacks half precision. Where a logical type is not known the physical one counts.
func (c *Column) describe(e format.SchemaElement) (Kind, string) {
	t := c.leaf.Type()
	if logical := t.LogicalType(); logical != nil {
		switch t := logical.Value.(type) {
		case *format.NullType:
			return Other, "nothing but nulls"
		case *format.DateType:
			return Other, "a date"
		case *format.TimeType, *format.TimestampType:
			return Other, "a time"
		case *format.UUIDType:
			return Other, "a UUID"
		case *format.BsonType, *format.VariantType, *format.GeometryType, *format.GeographyType:
			return Other, "binary data"
		case *format.IntType:
			if !t.IsSigned {
				return Uint, "a number"
			}
		case *format.DecimalType:
			c.decimal = math.Pow10(int(t.Scale))
			return Float, "a number"
		}
	}
	if _, ok := e.LogicalType.Value.(*format.Float16Type); ok && e.TypeLength.V == 2 {
		c.half = true
		return Float, "a number"
	}
	switch e.Type.V {
	case format.Boolean:
		return Bool, "true or false"
	case format.Int32, format.Int64:
		return Int, "a number"
	case format.Float, format.Double:
		return Float, "a number"
	case format.Int96:
		return Other, "a time"
	case format.ByteArray:
		return Text, "text"
	}
	return Other, "binary data"
}

// Value is what stands in one row of a column.
type Value struct {
	Null   bool
	Int    int64   // Int; Uint, whose bits it has; Bool: 0 or 1
	Number float64 // Int, Uint and Float; integers beyond 2^53 rounded
	Bytes  []byte  // Text; valid until the next row
}

// finish makes of what is stored what it means. A value below the highest definition level is
// a null, of itself or of a group around it. Decimals are unscaled integers (apache/parquet-
// format: LogicalTypes.md), in bytes as two's complement with the highest first, which a
// float64 holds exactly up to 2^53.
func (c *Column) finish(stored parquet.Value) (v Value, err error) {
	if stored.IsNull() || stored.DefinitionLevel() < c.leaf.MaxDefinitionLevel() {
		return Value{Null: true}, nil
	}
	switch stored.Kind() {
	case parquet.Boolean:
		if stored.Boolean() {
			v.Int = 1
		}
	case parquet.Int32:
		if v.Int = int64(stored.Int32()); c.element == Uint {
			v.Int = int64(stored.Uint32())
		}
	case parquet.Int64:
		v.Int = stored.Int64()
	case parquet.Float:
		v.Number = float64(stored.Float())
	case parquet.Double:
		v.Number = stored.Double()
	default:
		v.Bytes = stored.ByteArray()
	}
	switch {
	case c.half && len(v.Bytes) != 2:
		return v, errors.New("a number of half precision that has not two bytes; write the file anew")
	case c.half:
		v.Number = float64(half.Float32(binary.LittleEndian.Uint16(v.Bytes)))
	case c.decimal != 0:
		v.Number = float64(v.Int)
		for i, b := range v.Bytes { // two's complement, the highest byte first
			if i == 0 {
				v.Number = float64(int8(b))
			} else {
				v.Number = v.Number*256 + float64(b)
			}
		}
		v.Number /= c.decimal
	case c.element == Int:
		v.Number = float64(v.Int)
	case c.element == Uint:
		v.Number = float64(uint64(v.Int))
	}
	return v, nil
}

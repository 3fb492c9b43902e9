package parquet

import (
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
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

	leaf   int // of the schema, for all kinds but Other
	leaves int // of the field
	node   format.SchemaElement
	source *parquet.FileColumnChunk // decodes its pages, for all kinds but Other
	form   form
	maxDef int // definition level of a value that is there
	inList int // definition level from which a list has an element
}

// form is how a number is made of what is stored.
type form int

const (
	asBytes form = iota
	asBool
	asInt
	asUint
	asFloat
	asDecimal // an integer, or one of big-endian bytes, over 10^scale
	asHalf    // two bytes
)

// maxSchemaDepth bounds the nesting of groups.
const maxSchemaDepth = 64

// arrange turns the schema, which lists the nodes in preorder, into columns.
func (f *File) arrange(schema []format.SchemaElement) error {
	if len(schema) == 0 || schema[0].Type.Valid {
		return errors.New("no schema; write the file anew")
	}
	rest, total := schema[1:], 0
	for range schema[0].NumChildren.V {
		if len(rest) == 0 {
			return errors.New("the schema ends early; write the file anew")
		}
		n, err := subtree(rest)
		if err != nil {
			return err
		}
		c := newColumn(rest[:n])
		c.leaf += total
		total += c.leaves
		f.Columns = append(f.Columns, c)
		rest = rest[n:]
	}
	if len(rest) > 0 {
		return errors.New("the schema has nodes outside the rows; write the file anew")
	}
	all, err := leaves(schema)
	if err != nil || len(all) != total {
		return fmt.Errorf("the schema cannot be read (%v); write the file anew", err)
	}
	for i := range f.Columns {
		if c := &f.Columns[i]; c.Kind != Other {
			c.source = all[c.leaf]
		}
	}
	return nil
}

// subtree returns the number of nodes of the field that the list begins with.
func subtree(nodes []format.SchemaElement) (int, error) {
	open := make([]int32, 0, maxSchemaDepth) // children still to come, by level
	for i, e := range nodes {
		children := e.NumChildren.V
		switch {
		case !e.Type.Valid && children > 0:
			if len(open) == maxSchemaDepth {
				return 0, fmt.Errorf("columns nested deeper than %d", maxSchemaDepth)
			}
			open = append(open, children)
			continue
		case e.Type.Valid && children != 0, children < 0:
			return 0, fmt.Errorf("node %.40q of the schema is neither a value nor a group; write the file anew", e.Name)
		}
		for len(open) > 0 {
			if open[len(open)-1]--; open[len(open)-1] > 0 {
				break
			}
			open = open[:len(open)-1]
		}
		if len(open) == 0 {
			return i + 1, nil
		}
	}
	return 0, errors.New("the schema ends early; write the file anew")
}

// newColumn says what a field of these nodes is.
func newColumn(nodes []format.SchemaElement) Column {
	c := Column{Name: nodes[0].Name, node: nodes[len(nodes)-1]}
	lists, chain := 0, true
	for i, e := range nodes {
		if e.Type.Valid {
			c.leaves++
		}
		chain = chain && (i == len(nodes)-1) == e.Type.Valid && e.NumChildren.V <= 1
		switch e.RepetitionType.V {
		case format.Optional:
			c.maxDef++
		case format.Repeated:
			c.maxDef++
			c.inList = c.maxDef
			lists++
		}
	}
	if c.leaves == 0 {
		c.What = "an empty group"
		return c
	}
	if !chain {
		c.What = fmt.Sprintf("a group of %d columns", c.leaves)
		return c
	}
	kind, what, form := describe(c.node)
	switch {
	case lists == 0 && len(nodes) > 1:
		c.What = "a group of 1 column"
	case lists == 0:
		c.Kind, c.What, c.form = kind, what, form
	case lists == 1 && (kind == Int || kind == Uint || kind == Float) && len(nodes) <= 3:
		c.Kind, c.What, c.form = List, "a list of numbers", form
	case lists == 1 && kind == Text:
		c.What = "a list of texts"
	default:
		c.What = "a nested list"
	}
	return c
}

// describe says what a value is.
func describe(e format.SchemaElement) (Kind, string, form) {
	number := func(k Kind, f form) (Kind, string, form) { return k, "a number", f }
	other := func(what string) (Kind, string, form) { return Other, what, asBytes }
	var unsigned, decimal bool
	switch t := e.LogicalType.Value.(type) {
	case *format.NullType:
		return other("nothing but nulls")
	case *format.DateType:
		return other("a date")
	case *format.TimeType, *format.TimestampType:
		return other("a time")
	case *format.UUIDType:
		return other("a UUID")
	case *format.BsonType, *format.VariantType, *format.GeometryType, *format.GeographyType:
		return other("binary data")
	case *format.IntType:
		unsigned = !t.IsSigned
	case *format.DecimalType:
		decimal = true
	case *format.Float16Type:
		if e.Type.V == format.FixedLenByteArray && e.TypeLength.V == 2 {
			return number(Float, asHalf)
		}
	}
	// Older files have converted types in place of logical ones.
	if e.ConvertedType.Valid {
		switch e.ConvertedType.V {
		case deprecated.Date:
			return other("a date")
		case deprecated.TimeMillis, deprecated.TimeMicros, deprecated.TimestampMillis, deprecated.TimestampMicros:
			return other("a time")
		case deprecated.Interval:
			return other("a span of time")
		case deprecated.Bson:
			return other("binary data")
		case deprecated.Decimal:
			decimal = true
		case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
			unsigned = true
		}
	}
	switch e.Type.V {
	case format.Boolean:
		return Bool, "true or false", asBool
	case format.Int32, format.Int64:
		switch {
		case decimal:
			return number(Float, asDecimal)
		case unsigned:
			return number(Uint, asUint)
		}
		return number(Int, asInt)
	case format.Float, format.Double:
		return number(Float, asFloat)
	case format.Int96:
		return other("a time")
	case format.ByteArray, format.FixedLenByteArray:
		switch {
		case decimal:
			return number(Float, asDecimal)
		case e.Type.V == format.ByteArray:
			return Text, "text", asBytes
		}
	}
	return other("binary data")
}

// scale returns the digits behind the point of a decimal.
func scale(e format.SchemaElement) int {
	if t, ok := e.LogicalType.Value.(*format.DecimalType); ok {
		return int(t.Scale)
	}
	return int(e.Scale.V)
}

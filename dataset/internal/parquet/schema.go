package parquet

import (
	"errors"
	"fmt"
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
	node   element
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

// Physical types.
const (
	typeBool = iota
	typeInt32
	typeInt64
	typeInt96
	typeFloat
	typeDouble
	typeBytes
	typeFixed
)

// Logical types, as fields of their union.
const (
	logicalString    = 1
	logicalEnum      = 4
	logicalDecimal   = 5
	logicalDate      = 6
	logicalTime      = 7
	logicalTimestamp = 8
	logicalInteger   = 10
	logicalUnknown   = 11
	logicalJSON      = 12
	logicalUUID      = 14
	logicalHalf      = 15
)

// Converted types, which older files have in place of logical ones.
const (
	convertedDecimal  = 5
	convertedDate     = 6
	convertedTime     = 7 // to 10: times and timestamps
	convertedUint8    = 11
	convertedUint64   = 14
	convertedBSON     = 20
	convertedInterval = 21
)

const (
	optional = 1
	repeated = 2
)

// maxSchemaDepth bounds the nesting of groups.
const maxSchemaDepth = 64

// arrange turns the schema, which lists the nodes in preorder, into columns.
func (f *File) arrange(schema []element) error {
	if len(schema) == 0 {
		return errors.New("no schema; write the file anew")
	}
	rest, leaves := schema[1:], 0
	for range schema[0].children {
		if len(rest) == 0 {
			return errors.New("the schema ends early; write the file anew")
		}
		n, err := subtree(rest)
		if err != nil {
			return err
		}
		c := newColumn(rest[:n])
		c.leaf += leaves
		leaves += c.leaves
		f.Columns = append(f.Columns, c)
		rest = rest[n:]
	}
	if len(rest) > 0 {
		return errors.New("the schema has nodes outside the rows; write the file anew")
	}
	return nil
}

// subtree returns the number of nodes of the field that the list begins with.
func subtree(nodes []element) (int, error) {
	open := make([]int32, 0, maxSchemaDepth) // children still to come, by level
	for i, e := range nodes {
		switch {
		case e.physical < 0 && e.children > 0:
			if len(open) == maxSchemaDepth {
				return 0, fmt.Errorf("columns nested deeper than %d", maxSchemaDepth)
			}
			open = append(open, e.children)
			continue
		case e.children != 0 && e.physical >= 0, e.children < 0:
			return 0, fmt.Errorf("node %.40q of the schema is neither a value nor a group; write the file anew", e.name)
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
func newColumn(nodes []element) Column {
	c := Column{Name: nodes[0].name, node: nodes[len(nodes)-1]}
	lists, chain := 0, true
	for i, e := range nodes {
		if e.physical >= 0 {
			c.leaves++
		}
		chain = chain && (i == len(nodes)-1) == (e.physical >= 0) && e.children <= 1
		switch e.repetition {
		case optional:
			c.maxDef++
		case repeated:
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
func describe(e element) (Kind, string, form) {
	number := func(k Kind, f form) (Kind, string, form) { return k, "a number", f }
	other := func(what string) (Kind, string, form) { return Other, what, asBytes }
	switch {
	case e.logical == logicalUnknown:
		return other("nothing but nulls")
	case e.logical == logicalDate || e.converted == convertedDate:
		return other("a date")
	case e.logical == logicalTime, e.logical == logicalTimestamp, e.converted >= convertedTime && e.converted < convertedUint8:
		return other("a time")
	case e.converted == convertedInterval:
		return other("a span of time")
	}
	unsigned := e.logical == logicalInteger && !e.signed || e.converted >= convertedUint8 && e.converted <= convertedUint64
	decimal := e.logical == logicalDecimal || e.converted == convertedDecimal
	switch e.physical {
	case typeBool:
		return Bool, "true or false", asBool
	case typeInt32, typeInt64:
		switch {
		case decimal:
			return number(Float, asDecimal)
		case unsigned:
			return number(Uint, asUint)
		}
		return number(Int, asInt)
	case typeFloat, typeDouble:
		return number(Float, asFloat)
	case typeInt96:
		return other("a time")
	case typeBytes:
		switch {
		case decimal:
			return number(Float, asDecimal)
		case e.converted == convertedBSON || e.logical > logicalJSON:
			return other("binary data")
		}
		return Text, "text", asBytes
	case typeFixed:
		switch {
		case decimal:
			return number(Float, asDecimal)
		case e.logical == logicalHalf && e.length == 2:
			return number(Float, asHalf)
		case e.logical == logicalUUID:
			return other("a UUID")
		}
	}
	return other("binary data")
}

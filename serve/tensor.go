package serve

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Tensors as the Open Inference Protocol writes them: as JSON, flat or nested, or, by
// the binary tensor data extension, as bytes behind the JSON object, little-endian,
// row by row; a BYTES element is its length in 4 bytes and so many bytes.

// tensorInput is one of the inputs of a request.
type tensorInput struct {
	Name       string          `json:"name"`
	Shape      []int64         `json:"shape"`
	Datatype   string          `json:"datatype"`
	Parameters parameters      `json:"parameters"`
	Data       json.RawMessage `json:"data"`

	binary []byte // in place of Data
}

// parameters are those of a request or a tensor. What is not known is not looked at, as
// the protocol asks.
type parameters map[string]json.RawMessage

// read sets to, a pointer, to the value of a key, if there is one. A value of another type is
// a 400.
func (p parameters) read(key string, to any) error {
	raw, ok := p[key]
	if !ok || string(raw) == "null" {
		return nil
	}
	if err := json.Unmarshal(raw, to); err != nil {
		return refuse(http.StatusBadRequest, "parameter %s is %.40s, want a value of type %s", key, raw, strings.TrimLeft(fmt.Sprintf("%T", to), "*"))
	}
	return nil
}

// takeBinary takes the bytes of the inputs that have some from what stands behind the
// JSON object, in the order of the inputs and without gaps. They stay in the memory of rest.
func takeBinary(inputs []tensorInput, rest []byte) error {
	for i := range inputs {
		t := &inputs[i]
		size := -1
		if err := t.Parameters.read("binary_data_size", &size); err != nil {
			return err
		}
		if size == -1 {
			continue
		}
		if size < 0 || size > len(rest) {
			return refuse(http.StatusBadRequest, "input %q has binary_data_size %d, but %d bytes are left behind the JSON object", t.Name, size, len(rest))
		}
		if t.Data != nil {
			return refuse(http.StatusBadRequest, "input %q has data and binary_data_size; send one of them", t.Name)
		}
		t.binary, rest = rest[:size:size], rest[size:]
	}
	if len(rest) > 0 {
		return refuse(http.StatusBadRequest, "%d bytes behind the JSON object belong to no input; give each binary_data_size", len(rest))
	}
	return nil
}

// size checks the shape of an input against the number of its examples, and returns
// how many elements it has. The product is bounded step by step: 2³¹ elements at most, so
// that no shape overflows, and none is believed before its data has been counted.
func (t *tensorInput) size(items int) (rows, elements int, err error) {
	if len(t.Shape) == 0 {
		return 0, 0, refuse(http.StatusBadRequest, "input %q has no shape", t.Name)
	}
	total := int64(1)
	for _, n := range t.Shape {
		if n < 0 || n > math.MaxInt32 || n > 0 && total > math.MaxInt32/n {
			return 0, 0, refuse(http.StatusBadRequest, "input %q has shape %v, want the full shape of its data", t.Name, t.Shape)
		}
		total *= n
	}
	switch {
	case total == 0:
		return 0, 0, refuse(http.StatusBadRequest, "input %q has shape %v, want at least one example", t.Name, t.Shape)
	case t.Shape[0] > int64(items):
		return 0, 0, refuse(http.StatusRequestEntityTooLarge, "%d examples, want at most %d; send fewer at once", t.Shape[0], items)
	}
	return int(t.Shape[0]), int(total), nil
}

// texts returns the n elements of a BYTES tensor: UTF-8, unless they are raw. It stops at
// element n+1, however many there are: an empty one takes 4 bytes and 16 of memory.
func (t *tensorInput) texts(n int, raw bool) (out []string, err error) {
	if t.binary != nil {
		for rest := t.binary; len(rest) > 0; {
			if len(rest) < 4 || uint64(binary.LittleEndian.Uint32(rest)) > uint64(len(rest)-4) {
				return nil, refuse(http.StatusBadRequest, "input %q ends within element %d", t.Name, len(out))
			}
			end := 4 + int(binary.LittleEndian.Uint32(rest))
			if !raw && !utf8.Valid(rest[4:end]) {
				return nil, refuse(http.StatusBadRequest, "element %d of input %q is not valid UTF-8; encode texts as UTF-8", len(out), t.Name)
			}
			if out = append(out, string(rest[4:end])); len(out) > n {
				break
			}
			rest = rest[end:]
		}
	} else if out, err = flatTexts(t.Data); err != nil {
		return nil, refuse(http.StatusBadRequest, "input %q: %v", t.Name, err)
	}
	return out, t.count(len(out), n)
}

// numbers returns the elements of a tensor of numbers.
func (t *tensorInput) numbers(n int) (out []float64, err error) {
	read, width := numberOf(t.Datatype)
	if read == nil {
		return nil, refuse(http.StatusBadRequest, "input %q has datatype %q, want FP32, or FP64, INT32 or INT64", t.Name, t.Datatype)
	}
	if t.binary != nil {
		if len(t.binary) != n*width {
			return nil, refuse(http.StatusBadRequest, "input %q has %d bytes, want %d for %s of shape %v", t.Name, len(t.binary), n*width, t.Datatype, t.Shape)
		}
		out = make([]float64, n)
		for i := range out {
			out[i] = read(t.binary[i*width:])
		}
		return out, nil
	}
	if out, err = flatNumbers(t.Data); err != nil {
		return nil, refuse(http.StatusBadRequest, "input %q: %v", t.Name, err)
	}
	return out, t.count(len(out), n)
}

// numberOf returns what reads a number of a datatype, and its bytes.
func numberOf(datatype string) (read func([]byte) float64, width int) {
	le := binary.LittleEndian
	switch datatype {
	case "FP32":
		return func(b []byte) float64 { return float64(math.Float32frombits(le.Uint32(b))) }, 4
	case "FP64":
		return func(b []byte) float64 { return math.Float64frombits(le.Uint64(b)) }, 8
	case "INT32":
		return func(b []byte) float64 { return float64(int32(le.Uint32(b))) }, 4
	case "INT64":
		return func(b []byte) float64 { return float64(int64(le.Uint64(b))) }, 8
	}
	return nil, 0
}

// count refuses another number of elements than the shape has.
func (t *tensorInput) count(got, want int) error {
	if got != want {
		return refuse(http.StatusBadRequest, "input %q has %d elements or more, want %d for shape %v", t.Name, got, want, t.Shape)
	}
	return nil
}

// flatNumbers returns the numbers of a JSON array, or of arrays in it, row by row. The
// JSON is valid.
func flatNumbers(data []byte) (out []float64, err error) {
	err = eachElement(data, func(e []byte) error {
		if e[0] != '-' && (e[0] < '0' || e[0] > '9') {
			return fmt.Errorf("element %d is %.20s, want a number", len(out), e)
		}
		v, err := strconv.ParseFloat(string(e), 64)
		if err != nil {
			return fmt.Errorf("element %d is %.20s, want a number that fits a 64-bit float", len(out), e)
		}
		out = append(out, v)
		return nil
	})
	return out, err
}

// flatTexts is flatNumbers for strings, whose escapes encoding/json resolves.
func flatTexts(data []byte) (out []string, err error) {
	err = eachElement(data, func(e []byte) error {
		var text string
		if e[0] != '"' {
			return fmt.Errorf("element %d is %.20s, want a string", len(out), e)
		}
		if err := json.Unmarshal(e, &text); err != nil {
			return err
		}
		out = append(out, text)
		return nil
	})
	return out, err
}

// eachElement calls visit with each value in an array, and in the arrays in it. An
// object is an error. By hand, as decoding into []any takes an allocation a number; how deep
// and how even arrays are does not matter, as the shape says what they hold.
func eachElement(data []byte, visit func(e []byte) error) error {
	if len(data) == 0 || data[0] != '[' {
		return errors.New("no data; want an array")
	}
	for i := 0; i < len(data); {
		switch c := data[i]; c {
		case '[', ']', ',', ' ', '\t', '\r', '\n':
			i++
			continue
		case '{':
			return errors.New("an object in the data; want an array of values")
		}
		end := i + 1
		if data[i] == '"' {
			for ; data[end] != '"'; end++ {
				if data[end] == '\\' {
					end++
				}
			}
			end++
		} else {
			for end < len(data) && data[end] != ',' && data[end] != ']' && data[end] > ' ' {
				end++
			}
		}
		if err := visit(data[i:end]); err != nil {
			return err
		}
		i = end
	}
	return nil
}

// tensorOutput is one of the outputs of an answer.
type tensorOutput struct {
	Name       string         `json:"name"`
	Shape      []int          `json:"shape"`
	Datatype   string         `json:"datatype"`
	Parameters map[string]int `json:"parameters,omitempty"`
	Data       any            `json:"data,omitempty"` // []string or []float32; nil: binary
}

// appendBinary appends the bytes of a []string or []float32.
func appendBinary(to []byte, data any) []byte {
	switch data := data.(type) {
	case []string:
		for _, text := range data {
			to = binary.LittleEndian.AppendUint32(to, uint32(len(text)))
			to = append(to, text...)
		}
	case []float32:
		for _, v := range data {
			to = binary.LittleEndian.AppendUint32(to, math.Float32bits(v))
		}
	}
	return to
}

package dataset

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/treeloss/treeloss/internal/input"
)

// npyMagic begins every .npy file; version and header length follow.
const npyMagic = "\x93NUMPY"

// npyHeader is what the header of a .npy file says about the array.
type npyHeader struct {
	kind  byte // f, i, u, b, U or S
	item  int  // bytes of an element
	shape []int64
	rows  int64
	width int64 // elements of a row
}

// The header is a Python dictionary with three entries, in any order.
var (
	npyDescr = regexp.MustCompile(`['"]descr['"]\s*:\s*['"]([<>|=])([a-zA-Z])(\d{1,9})['"]`)
	npyOrder = regexp.MustCompile(`['"]fortran_order['"]\s*:\s*(True|False)`)
	npyShape = regexp.MustCompile(`['"]shape['"]\s*:\s*\(([\d\s,L]*)\)`)
)

// readNPYHeader reads up to the first element (NumPy's NEP 1, versions 1 to 3)
// and checks the shape against the size of the file where that is known.
func readNPYHeader(in *input.Stream) (*npyHeader, error) {
	fail := func(format string, args ...any) (*npyHeader, error) {
		return nil, input.Refuse(in.Name, 0, 0, format, args...)
	}
	start := make([]byte, 12)
	if _, err := io.ReadFull(in.Reader, start[:10]); err != nil || string(start[:6]) != npyMagic {
		return fail("is not a .npy file; write it with numpy.save")
	}
	length, before := int(binary.LittleEndian.Uint16(start[8:])), 10
	switch version := start[6]; version {
	case 1:
	case 2, 3:
		if _, err := io.ReadFull(in.Reader, start[10:]); err != nil {
			return fail("the header ends early; write the file anew")
		}
		length, before = int(min(binary.LittleEndian.Uint32(start[8:]), math.MaxInt32)), 12
	default:
		return fail(".npy version %d, want 1, 2 or 3", version)
	}
	if length > 1<<16 {
		return fail("a header of %d bytes, want at most %d: structured arrays are not read", length, 1<<16)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(in.Reader, text); err != nil {
		return fail("the header ends early; write the file anew")
	}
	h, problem := parseNPYHeader(string(text))
	if problem != "" {
		return fail("%s", problem)
	}
	if float64(h.rows)*float64(h.width)*float64(h.item) > math.MaxInt64/2 {
		return fail("an array of shape %v is larger than any file", h.shape)
	}
	bytes := h.rows * h.width * int64(h.item)
	if size := int64(before) + int64(length) + bytes; in.Bytes >= 0 && in.Bytes != size {
		return fail("has %d bytes, but an array of shape %v takes %d; write the file anew", in.Bytes, h.shape, size)
	}
	return h, nil
}

// parseNPYHeader takes apart the dictionary; problem says what is not read. By expressions,
// as numpy.save writes one form of it and a parser of Python would accept no more files.
func parseNPYHeader(text string) (h *npyHeader, problem string) {
	descr, order, shape := npyDescr.FindStringSubmatch(text), npyOrder.FindStringSubmatch(text), npyShape.FindStringSubmatch(text)
	if order == nil || shape == nil {
		return nil, "the header " + input.Clip(text) + " names no order and shape; write the file with numpy.save"
	}
	if descr == nil || descr[2] == "O" {
		return nil, "the elements are Python objects or records; convert them first, as with x.astype('float32') or y.astype('U')"
	}
	if order[1] == "True" {
		return nil, "the array is in Fortran order; save numpy.ascontiguousarray(x)"
	}
	h = &npyHeader{kind: descr[2][0], rows: 1, width: 1}
	h.item, _ = strconv.Atoi(descr[3])
	if h.kind == 'U' {
		h.item *= 4
	}
	if descr[1] == ">" && h.item > 1 {
		return nil, "the elements " + descr[0] + " are big-endian; save x.astype(x.dtype.newbyteorder('<'))"
	}
	for n, word := range strings.Split(strings.TrimSuffix(strings.TrimSpace(shape[1]), ","), ",") {
		size, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(word), "L"), 10, 64)
		if err != nil {
			return nil, "shape (" + shape[1] + "), want rows and columns"
		}
		h.shape = append(h.shape, size)
		if n == 0 {
			h.rows = size
			continue
		}
		if float64(h.width)*float64(size) > math.MaxInt64/2 {
			return nil, "shape (" + shape[1] + ") is larger than any file"
		}
		h.width *= size
	}
	return h, ""
}

// WriteNPYHeader writes the header, version 1.0, of a float32 matrix whose numbers follow
// row by row in little-endian order. It is padded as NumPy does, so that the numbers start
// at a multiple of 64 bytes. Errors are those of w.
func WriteNPYHeader(w io.Writer, rows, cols int) error {
	text := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", rows, cols)
	pad := 63 - (10+len(text))%64
	text += strings.Repeat(" ", pad) + "\n"
	header := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(text)))
	_, err := w.Write(append(header, text...))
	return err
}

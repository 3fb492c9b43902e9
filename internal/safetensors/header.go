package safetensors

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// header is a parsed header; its offsets are not checked yet.
type header struct {
	entries    []entry
	metadata   map[string]string
	checksumAt int // see File
}

// entry describes one tensor.
type entry struct {
	name       string
	dtype      DType
	shape      []int
	start, end uint64
}

// parseHeader reads the JSON. It knows only what a header may hold (objects,
// strings, lists of whole numbers), so hostile input has nothing to nest, and
// it refuses a key that comes twice, of which encoding/json would keep one.
func parseHeader(raw []byte) (*header, error) {
	if !utf8.Valid(raw) {
		return nil, badFile("the header is not valid UTF-8")
	}
	h := &header{}
	p := &parser{raw: raw}
	seen := map[string]bool{}
	p.object(func(key string) {
		if seen[key] {
			p.fail("%q comes twice, want each name once", key)
			return
		}
		seen[key] = true
		if key == metadataKey {
			h.metadata = map[string]string{}
			p.object(func(key string) { h.addMetadata(p, key) })
			return
		}
		h.entries = append(h.entries, p.entry(key))
	})
	if p.skipSpace(); p.err == nil && p.at < len(p.raw) {
		p.fail("want nothing but spaces behind the object")
	}
	if p.err != nil {
		return nil, p.err
	}
	return h, nil
}

// addMetadata reads the value of one metadata entry.
func (h *header) addMetadata(p *parser, key string) {
	if _, twice := h.metadata[key]; twice {
		p.fail("metadata %q comes twice, want each key once", key)
		return
	}
	p.skipSpace()
	start := p.at
	value := p.text()
	h.metadata[key] = value
	// Digits written as escapes have another length: Verify then finds none.
	if key == ChecksumKey && p.err == nil && p.at-start == checksumDigits+2 && len(value) == checksumDigits {
		h.checksumAt = start + 1
	}
}

// entry reads the description of the tensor of this name.
func (p *parser) entry(name string) entry {
	e := entry{name: name}
	var fields []string
	p.object(func(key string) {
		switch key {
		case "dtype":
			e.dtype = DType(p.text())
		case "shape":
			for _, n := range p.numbers(maxDims) {
				if int64(n) < 0 || uint64(int(n)) != n {
					p.fail("tensor %q: dimension %d is too large", name, n)
					return
				}
				e.shape = append(e.shape, int(n))
			}
		case "data_offsets":
			offsets := p.numbers(2)
			if len(offsets) != 2 {
				p.fail("tensor %q: %d data_offsets, want 2", name, len(offsets))
				return
			}
			e.start, e.end = offsets[0], offsets[1]
		default:
			p.fail("tensor %q has a field %q, want dtype, shape and data_offsets", name, key)
		}
		fields = append(fields, key)
	})
	slices.Sort(fields)
	if !slices.Equal(fields, []string{"data_offsets", "dtype", "shape"}) {
		p.fail("tensor %q has the fields %q, want dtype, shape and data_offsets once each", name, fields)
	}
	return e
}

// parser walks over the header. After the first error each method does nothing.
type parser struct {
	raw []byte
	at  int
	err error
}

// fail keeps the first error, with the place.
func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = badFile("header byte %d: %s", p.at, fmt.Sprintf(format, args...))
	}
}

func (p *parser) skipSpace() {
	for p.at < len(p.raw) && (p.raw[p.at] == ' ' || p.raw[p.at] == '\t' || p.raw[p.at] == '\n' || p.raw[p.at] == '\r') {
		p.at++
	}
}

// peek reports whether c is next, behind white space.
func (p *parser) peek(c byte) bool {
	p.skipSpace()
	return p.err == nil && p.at < len(p.raw) && p.raw[p.at] == c
}

// expect moves behind c, which must be next.
func (p *parser) expect(c byte) {
	switch {
	case p.peek(c):
		p.at++
	case p.at >= len(p.raw):
		p.fail("the header ends, want %q", c)
	default:
		p.fail("found %q, want %q", p.raw[p.at], c)
	}
}

// object calls value for each key of an object, standing before its value.
func (p *parser) object(value func(key string)) {
	p.expect('{')
	for n := 0; p.err == nil && !p.peek('}'); n++ {
		if n > 0 {
			p.expect(',')
		}
		key := p.text()
		p.expect(':')
		if p.err != nil {
			return
		}
		value(key)
	}
	p.expect('}')
}

// text reads a string.
func (p *parser) text() string {
	p.expect('"')
	start, escaped := p.at, false
	for ; p.err == nil; p.at++ {
		switch {
		case p.at >= len(p.raw):
			p.fail("the header ends within a string")
		case p.raw[p.at] == '"':
			p.at++
			return p.unescape(p.raw[start-1:p.at], escaped)
		case p.raw[p.at] == '\\':
			escaped = true
			p.at++ // whatever follows, a quote above all, is not the end
		}
	}
	return ""
}

// unescape returns the text of a string with its quotes.
func (p *parser) unescape(quoted []byte, escaped bool) string {
	plain := !escaped && !slices.ContainsFunc(quoted, func(c byte) bool { return c < ' ' })
	if plain {
		return string(quoted[1 : len(quoted)-1])
	}
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		p.fail("the string before it is not valid JSON (%v)", err)
	}
	return s
}

// numbers reads a list of at most limit whole numbers.
func (p *parser) numbers(limit int) []uint64 {
	var list []uint64
	p.expect('[')
	for p.err == nil && !p.peek(']') {
		if len(list) == limit {
			p.fail("more than %d numbers in a list", limit)
			return nil
		}
		if len(list) > 0 {
			p.expect(',')
			p.skipSpace()
		}
		start := p.at
		for p.at < len(p.raw) && '0' <= p.raw[p.at] && p.raw[p.at] <= '9' {
			p.at++
		}
		digits := string(p.raw[start:p.at])
		n, err := strconv.ParseUint(digits, 10, 64)
		if err != nil || len(digits) > 1 && digits[0] == '0' {
			p.fail("found %q, want a whole number below 2^64 without leading zeros", digits)
		}
		list = append(list, n)
	}
	p.expect(']')
	return list
}

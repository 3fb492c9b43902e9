package safetensors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// header is a parsed header; its offsets are not checked yet.
type header struct {
	entries    []entry
	metadata   map[string]string
	checksumAt int // see File
	crcAt      int
}

// entry describes one tensor.
type entry struct {
	name       string
	dtype      DType
	shape      []int
	start, end uint64
}

// parseHeader reads the JSON. It refuses a key that comes twice, of which
// encoding/json would keep one, and everything that a header does not have.
func parseHeader(raw []byte) (*header, error) {
	if !utf8.Valid(raw) {
		return nil, badFile("the header is not valid UTF-8")
	}
	h := &header{}
	p := &parser{json.NewDecoder(bytes.NewReader(raw))}
	err := p.object("the header", func(key string) error {
		if key == metadataKey {
			h.metadata = map[string]string{}
			return p.object("the metadata", func(key string) error { return h.addMetadata(p, raw, key) })
		}
		e := entry{name: key}
		err := p.entry(&e)
		h.entries = append(h.entries, e)
		return err
	})
	if err == nil {
		if _, end := p.Token(); end != io.EOF {
			err = errors.New("want nothing but spaces behind the object")
		}
	}
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the header ends within its object")
	}
	if err != nil {
		return nil, badFile("header byte %d: %w", p.InputOffset(), err)
	}
	return h, nil
}

// addMetadata reads the value of one metadata entry.
func (h *header) addMetadata(p *parser, raw []byte, key string) error {
	value, err := p.text("metadata " + key)
	h.metadata[key] = value
	if err != nil {
		return err
	}
	// Digits written as escapes have another length: Verify then finds none.
	start := int(p.InputOffset()) - 1 - len(value)
	plain := start > 0 && string(raw[start-1:start+len(value)]) == `"`+value
	switch {
	case plain && key == ChecksumKey && len(value) == checksumDigits:
		h.checksumAt = start
	case plain && key == CRCKey && len(value) == crcDigits:
		h.crcAt = start
	}
	return nil
}

// parser reads the tokens of the header.
type parser struct{ *json.Decoder }

// object calls value for each key of an object, standing before its value.
func (p *parser) object(what string, value func(key string) error) error {
	if t, err := p.Token(); err != nil {
		return err
	} else if t != json.Delim('{') {
		return fmt.Errorf("%s is %v, want an object", what, t)
	}
	seen := map[string]bool{}
	for p.More() {
		key, err := p.text("a key")
		if err != nil {
			return err
		}
		if seen[key] {
			return fmt.Errorf("%q comes twice in %s, want each once", key, what)
		}
		seen[key] = true
		if err := value(key); err != nil {
			return err
		}
	}
	_, err := p.Token()
	return err
}

// text reads a string.
func (p *parser) text(what string) (string, error) {
	t, err := p.Token()
	s, ok := t.(string)
	if err == nil && !ok {
		err = fmt.Errorf("%s is %v, want a text in quotes", what, t)
	}
	return s, err
}

// entry reads the description of a tensor.
func (p *parser) entry(e *entry) error {
	var offsets []uint64
	fields := map[string]any{"dtype": &e.dtype, "shape": &e.shape, "data_offsets": &offsets}
	err := p.object(fmt.Sprintf("tensor %q", e.name), func(key string) error {
		to := fields[key]
		if to == nil {
			return fmt.Errorf("tensor %q has a field %q, want dtype, shape and data_offsets", e.name, key)
		}
		delete(fields, key)
		if err := p.Decode(to); err != nil {
			return fmt.Errorf("tensor %q: %s: %w", e.name, key, err)
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case len(fields) > 0:
		return fmt.Errorf("tensor %q lacks fields, want dtype, shape and data_offsets once each", e.name)
	case len(offsets) != 2:
		return fmt.Errorf("tensor %q: %d data_offsets, want 2", e.name, len(offsets))
	case len(e.shape) > maxDims:
		return fmt.Errorf("tensor %q: %d dimensions, want at most %d", e.name, len(e.shape), maxDims)
	}
	e.start, e.end = offsets[0], offsets[1]
	return nil
}

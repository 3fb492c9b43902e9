package dataset

import (
	"bytes"
	"unicode/utf8"

	"github.com/treeloss/treeloss/internal/input"
)

// maxDepth bounds the nesting of JSON values that are passed over.
const maxDepth = 1000

// scanner takes apart the JSON text (RFC 8259) of one line without building a
// tree. Its methods stand at b[i] and leave i behind what they read; what they
// return is valid until the next call.
type scanner struct {
	file string
	line int
	b    []byte
	i    int
	text []byte // holds a string with escapes
}

// fail returns an error at b[i].
func (s *scanner) fail(format string, args ...any) error {
	return input.Refuse(s.file, s.line, s.i+1, format, args...)
}

// wanted returns an error that says what stands at b[i].
func (s *scanner) wanted(what string) error {
	if s.i >= len(s.b) {
		return s.fail("the line ends, want %s; write each object on one line", what)
	}
	rest := s.b[s.i:]
	for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
		if bytes.HasPrefix(rest, []byte(word)) {
			return s.fail("%s is not a finite number; fill it in or remove the line", word)
		}
	}
	_, size := utf8.DecodeRune(rest)
	return s.fail("%q, want %s", rest[:size], what)
}

// space passes over white space.
func (s *scanner) space() {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\t' || s.b[s.i] == '\r' || s.b[s.i] == '\n') {
		s.i++
	}
}

// peek returns the byte at b[i] after white space, 0 at the end.
func (s *scanner) peek() byte {
	s.space()
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

// holds tells what the value at b[i] is by its first byte.
func (s *scanner) holds() holding {
	switch c := s.peek(); {
	case c == '"':
		return words
	case c == '-' || c >= '0' && c <= '9':
		return number
	case c == 't' || c == 'f':
		return truth
	case c == '[':
		return list
	}
	return other
}

// skip passes over any value.
func (s *scanner) skip(depth int) error {
	if depth > maxDepth {
		return s.fail("values nested deeper than %d", maxDepth)
	}
	switch s.peek() {
	case '"':
		_, err := s.str()
		return err
	case '[':
		return s.array(func() error { return s.skip(depth + 1) })
	case '{':
		return s.object(func([]byte) error { return s.skip(depth + 1) })
	case 't', 'f', 'n':
		_, err := s.word()
		return err
	}
	_, err := s.number()
	return err
}

// object reads { "key": value, ... }, calling value at the start of each value.
// The key is valid until value returns or reads a string.
func (s *scanner) object(value func(key []byte) error) error {
	return s.sequence('{', '}', func() error {
		if s.peek() != '"' {
			return s.wanted(`a key in double quotes`)
		}
		key, err := s.str()
		if err != nil {
			return err
		}
		if s.peek() != ':' {
			return s.wanted(`":" after the key`)
		}
		s.i++
		s.space()
		return value(key)
	})
}

// array reads [ value, ... ], calling value at the start of each.
func (s *scanner) array(value func() error) error { return s.sequence('[', ']', value) }

func (s *scanner) sequence(open, end byte, item func() error) error {
	if s.peek() != open {
		return s.wanted(`"` + string(open) + `"`)
	}
	s.i++
	if s.peek() == end {
		s.i++
		return nil
	}
	for {
		s.space()
		if err := item(); err != nil {
			return err
		}
		switch s.peek() {
		case end:
			s.i++
			return nil
		case ',':
			s.i++
		default:
			return s.wanted(`"," or "` + string(end) + `"`)
		}
	}
}

// word reads true, false or null.
func (s *scanner) word() ([]byte, error) {
	for _, w := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(s.b[s.i:], []byte(w)) {
			s.i += len(w)
			return s.b[s.i-len(w) : s.i], nil
		}
	}
	return nil, s.wanted("a value")
}

// number reads a number and returns it as it is written.
func (s *scanner) number() ([]byte, error) {
	start := s.i
	digits := func() bool {
		from := s.i
		for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' {
			s.i++
		}
		return s.i > from
	}
	at := func(set string) bool { return s.i < len(s.b) && bytes.IndexByte([]byte(set), s.b[s.i]) >= 0 }
	if at("-") && !bytes.HasPrefix(s.b[s.i:], []byte("-I")) {
		s.i++
	}
	zero := at("0")
	if from := s.i; !digits() {
		return nil, s.wanted("a value")
	} else if zero && s.i > from+1 {
		s.i = start
		return nil, s.fail("a number with a leading 0; write it without, or in quotes")
	}
	if at(".") {
		s.i++
		if !digits() {
			return nil, s.wanted("a digit")
		}
	}
	if at("eE") {
		s.i++
		if at("-+") {
			s.i++
		}
		if !digits() {
			return nil, s.wanted("a digit")
		}
	}
	return s.b[start:s.i], nil
}

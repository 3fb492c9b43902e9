package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/treeloss/treeloss/internal/input"
)

// scanner walks through the JSON text of one line, which encoding/json has found
// valid, without building a tree. Its methods stand at b[i] and leave i behind
// what they read; what they return is valid until the next call. As the text is valid they
// look at no more than they need: where a value begins says what it is, and brackets match.
type scanner struct {
	file string
	line int
	b    []byte
	i    int
	text string // holds a string with escapes
}

// start goes to the beginning of a line, which must be one valid JSON object.
func (s *scanner) start(file string, line int, b []byte) error {
	s.file, s.line, s.b, s.i = file, line, b, 0
	if s.peek() != '{' {
		return s.fail(`%s, want "{": one JSON object a line`, input.Clip(b[s.i:min(s.i+1, len(b))]))
	}
	if json.Valid(b) {
		return nil
	}
	err := json.Unmarshal(b, new(json.RawMessage))
	if e := (*json.SyntaxError)(nil); errors.As(err, &e) {
		s.i = max(int(e.Offset)-1, 0)
	}
	for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
		if start := max(s.i-1, 0); strings.HasPrefix(string(b[s.i:]), word) || strings.HasPrefix(string(b[start:]), word) {
			return s.fail("%s is not a finite number; fill it in or remove the line", word)
		}
	}
	if strings.Contains(err.Error(), "unexpected end") {
		s.i = len(b)
		return s.fail("the line ends inside an object; write each object on one line")
	}
	return s.fail("%s; write one JSON object a line", input.InWords(err.Error(), err))
}

// fail returns an error at b[i].
func (s *scanner) fail(format string, args ...any) error {
	return input.Refuse(s.file, s.line, s.i+1, format, args...)
}

// peek returns the byte at b[i] after white space, 0 at the end.
func (s *scanner) peek() byte {
	for ; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
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

// describe says in words what the value at b[i] is.
func (s *scanner) describe() string {
	switch s.peek() {
	case '"':
		return "a string"
	case '[':
		return "an array"
	case '{':
		return "an object"
	case 't', 'f':
		return "a bool"
	case 'n':
		return `"null"`
	}
	return "a number"
}

// skip passes over any value.
func (s *scanner) skip() {
	for depth := 0; ; {
		switch s.peek() {
		case '"':
			s.quoted()
		case '{', '[':
			depth++
			s.i++
		case '}', ']':
			depth--
			s.i++
		case ',', ':':
			s.i++
			continue
		default:
			s.token()
		}
		if depth == 0 {
			return
		}
	}
}

// quoted reads a string with its quotes. Most have no escapes, and end at the next quote.
func (s *scanner) quoted() []byte {
	start := s.i
	s.i += 1 + bytes.IndexByte(s.b[s.i+1:], '"')
	if bytes.IndexByte(s.b[start:s.i+1], '\\') >= 0 { // the quote may be escaped
		for s.i = start + 1; s.b[s.i] != '"'; s.i++ {
			if s.b[s.i] == '\\' {
				s.i++
			}
		}
	}
	s.i++
	return s.b[start:s.i]
}

// str reads a string. Half of a surrogate pair alone becomes U+FFFD.
func (s *scanner) str() []byte {
	quoted := s.quoted()
	if inner := quoted[1 : len(quoted)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	_ = json.Unmarshal(quoted, &s.text) // it is valid
	return []byte(s.text)
}

// token reads a number, true, false or null, as it is written.
func (s *scanner) token() []byte {
	start := s.i
	for s.i < len(s.b) && bytes.IndexByte([]byte(",]} \t\r\n"), s.b[s.i]) < 0 {
		s.i++
	}
	return s.b[start:s.i]
}

// object reads { "key": value, ... }, calling value at the start of each value.
func (s *scanner) object(value func(key []byte) error) error {
	return s.array(func() error {
		key := s.str()
		s.peek()
		s.i++ // the colon
		s.peek()
		return value(key)
	})
}

// array reads [ item, ... ], or the same in braces, calling item at the start of each.
func (s *scanner) array(item func() error) error {
	s.peek()
	s.i++
	for c := s.peek(); c != ']' && c != '}'; c = s.peek() {
		if c == ',' {
			s.i++
			s.peek()
		}
		if err := item(); err != nil {
			return err
		}
	}
	s.i++
	return nil
}

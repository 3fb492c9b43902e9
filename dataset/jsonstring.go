package dataset

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// str reads a string and returns its value. Half of a surrogate pair alone
// becomes U+FFFD.
func (s *scanner) str() ([]byte, error) {
	s.i++ // the opening quote
	start := s.i
	for s.i < len(s.b) && s.b[s.i] != '"' && s.b[s.i] != '\\' && s.b[s.i] >= ' ' {
		s.i++
	}
	if s.i < len(s.b) && s.b[s.i] == '"' {
		s.i++
		return s.b[start : s.i-1], nil
	}
	s.text = append(s.text[:0], s.b[start:s.i]...)
	for s.i < len(s.b) {
		switch c := s.b[s.i]; {
		case c == '"':
			s.i++
			return s.text, nil
		case c < ' ':
			return nil, s.fail("control character 0x%02x in a string; write it as an escape such as \\n or \\t", c)
		case c == '\\':
			if err := s.escape(); err != nil {
				return nil, err
			}
		default:
			s.text = append(s.text, c)
			s.i++
		}
	}
	return nil, s.wanted("a closing double quote")
}

// escape reads an escape sequence and appends what it stands for to text.
func (s *scanner) escape() error {
	if s.i+1 >= len(s.b) {
		s.i++
		return s.wanted("the rest of an escape")
	}
	const letters, meaning = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	c := s.b[s.i+1]
	if n := bytes.IndexByte([]byte(letters), c); n >= 0 {
		s.text = append(s.text, meaning[n])
		s.i += 2
		return nil
	}
	r, ok := s.hex(s.i)
	if !ok {
		return s.fail(`%q, want an escape: \" \\ \/ \b \f \n \r \t or \u and four hex digits`, s.b[s.i:min(s.i+2, len(s.b))])
	}
	s.i += 6
	if utf16.IsSurrogate(r) {
		low, _ := s.hex(s.i)
		if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
			s.i += 6
		}
	}
	s.text = utf8.AppendRune(s.text, r)
	return nil
}

// hex returns the code unit that \uXXXX at b[i] stands for.
func (s *scanner) hex(i int) (rune, bool) {
	if i+6 > len(s.b) || s.b[i] != '\\' || s.b[i+1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range s.b[i+2 : i+6] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

package input

import (
	"bufio"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// EncodingOf returns the encoding of a name such as windows-1252, utf-16le or
// iso-8859-15, in any case and with any of " -_" in it or none: UTF-16 of either byte
// order, and those with one byte a character. found is false for other names; UTF-8
// and "" are found and nil.
func EncodingOf(name string) (e encoding.Encoding, found bool) {
	switch name = bare(name); name {
	case "", "utf8":
		return nil, true
	case "utf16le":
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), true
	case "utf16be":
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), true
	}
	for _, one := range charmap.All {
		if c, ok := one.(*charmap.Charmap); ok && bare(c.String()) == name {
			return c, true
		}
	}
	return nil, false
}

// bare returns the letters and digits of a name, in lower case.
func bare(name string) string {
	return strings.NewReplacer(" ", "", "-", "", "_", "").Replace(strings.ToLower(name))
}

// recode reads the rest of the stream as UTF-8. Bytes that the encoding does not know
// become U+FFFD.
func (s *Stream) recode(name string, from encoding.Encoding) {
	s.Encoding = name
	s.Reader = bufio.NewReaderSize(from.NewDecoder().Reader(s.Reader), s.opts.Buffer)
}

// startEncoded takes off a byte-order mark (U+FEFF) and decodes what is not UTF-8: by the
// mark, if there is one, else by Options.Encoding. UTF-32, whose mark of little-endian
// begins with that of UTF-16, is refused before.
func (s *Stream) startEncoded() error {
	take := func(n int) error {
		s.skipped = int64(n)
		_, err := s.Discard(n)
		return err
	}
	switch {
	case s.StartsWith("\xef\xbb\xbf"):
		return take(3)
	case s.StartsWith("\xff\xfe"), s.StartsWith("\xfe\xff"):
		s.recode("UTF-16", unicode.UTF16(unicode.LittleEndian, unicode.UseBOM))
		return nil
	}
	if from, _ := EncodingOf(s.opts.Encoding); from != nil {
		s.recode(s.opts.Encoding, from)
		return nil
	}
	if order := s.unmarked(); order != "" && !s.opts.AnyText {
		return Refuse(s.Name, 0, 0, "looks like UTF-16 without a byte-order mark; save the file as UTF-8, or say what it is: Options.Encoding %s", order)
	}
	return nil
}

// unmarked returns the name of the UTF-16 whose letters the stream seems to begin with,
// two of ASCII with a byte of 0 each; "" for anything else. Like StartsWith it asks
// for a byte more only while all before fit.
func (s *Stream) unmarked() string {
	var zero [2]bool
	for i := range 4 {
		b, err := s.Peek(i + 1)
		if err != nil || b[i] >= 0x80 {
			return ""
		}
		if i < 2 {
			zero[i] = b[i] == 0
		} else if zero[i-2] != (b[i] == 0) {
			return ""
		}
		if i > 0 && zero[0] == zero[1] {
			return ""
		}
	}
	if zero[0] {
		return "utf-16be"
	}
	return "utf-16le"
}

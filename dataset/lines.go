package dataset

import (
	"bufio"
	"bytes"
	"io"
	"unicode/utf8"
)

// lines reads a text line by line, counting lines and bytes.
type lines struct {
	name   string
	src    *bufio.Reader
	max    int    // longest line in bytes
	long   []byte // holds a line that is longer than src's buffer
	number int    // of the line last read, from 1
	next   int64  // offset in the unpacked stream of the line after it
}

func newLines(in *input, opts Options) *lines {
	return &lines{name: in.name, src: in.src, max: opts.maxRecord(), next: in.skipped}
}

// read returns the next line without its LF or CRLF, valid until the next call;
// at the end io.EOF. Everything else that it returns is an *Error.
func (l *lines) read() ([]byte, error) {
	line, err := l.src.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		line, err = l.readLong(line)
	}
	if err != nil && err != io.EOF {
		return nil, unreadable(l.name, l.number+1, err)
	}
	if len(line) == 0 {
		return nil, io.EOF
	}
	start := l.next
	l.number++
	l.next += int64(len(line))
	if n := len(line); line[n-1] == '\n' {
		line = line[:n-1]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	if !utf8.Valid(line) {
		at := invalidAt(line)
		if bytes.ContainsFunc(line, func(r rune) bool { return r < ' ' && r != '\t' && r != '\f' && r != '\v' && r != '\r' }) {
			return nil, refuse(l.name, l.number, 0, "bytes that are no text; want a file of examples: %s", formats)
		}
		return nil, refuse(l.name, l.number, at+1, "invalid UTF-8: byte 0x%02x at byte offset %d; save the file as UTF-8", line[at], start+int64(at))
	}
	return line, nil
}

// readLong gathers a line that begins with part, which is a full buffer.
func (l *lines) readLong(part []byte) ([]byte, error) {
	l.long = append(l.long[:0], part...)
	for {
		part, err := l.src.ReadSlice('\n')
		if len(l.long)+len(part) > l.max {
			return nil, refuse(l.name, l.number+1, 0, "line is longer than %d bytes; is this a text file of examples, one a line?", l.max)
		}
		l.long = append(l.long, part...)
		if err != bufio.ErrBufferFull {
			return l.long, err
		}
	}
}

// invalidAt returns the place of the first byte that is no part of UTF-8 text.
func invalidAt(b []byte) int {
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(b)
}

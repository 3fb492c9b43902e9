package input

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"unicode/utf8"
)

// Lines reads a text line by line, counting lines and bytes.
type Lines struct {
	Number   int  // of the line last read, from 1
	Max      int  // longest line in bytes, its end included
	AnyBytes bool // do not check that the text is UTF-8
	SkipLong bool // a line beyond Max is nil in place of an error; goes with AnyBytes
	in       *Stream
	long     []byte // holds a line that is longer than the buffer
	start    int64  // offset in the unpacked stream of the line last read
	record   int64  // that of the one that Filled returned last
	next     int64  // that of the line after the last
}

// Lines returns the lines of the stream, of at most longest bytes each.
func (s *Stream) Lines(longest int) *Lines {
	return &Lines{in: s, Max: longest, next: s.skipped}
}

// Refuse returns an *Error at the line last read; column 0 is the whole line.
func (l *Lines) Refuse(column int, format string, args ...any) error {
	return Refuse(l.in.Name, l.Number, column, format, args...)
}

// Name returns the name of the stream.
func (l *Lines) Name() string { return l.in.Name }

// Read returns the next line without its LF or CRLF, valid until the next call;
// at the end io.EOF. Everything else that it returns is an *Error. A line that fits the
// buffer is not copied. After an error about invalid UTF-8 the next line can be read.
func (l *Lines) Read() ([]byte, error) {
	line, err := l.in.ReadSlice('\n')
	if err == bufio.ErrBufferFull || len(line) > l.Max {
		line, err = l.readLong(line, err)
	}
	switch {
	case err == errLong:
		l.Number++
		return nil, nil
	case err != nil && err != io.EOF:
		return nil, Unreadable(l.in.Name, l.Number+1, err)
	case len(line) == 0:
		return nil, io.EOF
	}
	l.start = l.next
	l.Number++
	l.next += int64(len(line))
	if n := len(line) - 1; line[n] == '\n' {
		line = line[:n]
	}
	if n := len(line) - 1; n >= 0 && line[n] == '\r' {
		line = line[:n]
	}
	if l.AnyBytes || utf8.Valid(line) {
		return line, nil
	}
	if bytes.ContainsFunc(line, func(r rune) bool { return r < ' ' && r != '\t' && r != '\f' && r != '\v' && r != '\r' }) {
		return nil, l.Refuse(0, "bytes that are no text; want %s", l.in.opts.wanted())
	}
	at := InvalidAt(line)
	return nil, l.Refuse(at+1, "invalid UTF-8: byte 0x%02x at byte offset %d; %s", line[at], l.start+int64(at), l.in.opts.Mend)
}

// mostBlank is how many blank lines in a row Filled passes over. A small packed file may
// hold gigabytes of them.
const mostBlank = 1 << 20

// Filled returns the next line that blank does not call blank. So many blank lines that
// the file cannot be meant are an error.
func (l *Lines) Filled(blank func(line []byte) bool) ([]byte, error) {
	line, err := l.Read()
	l.record = l.start
	for first := l.Number; err == nil && blank(line); l.record = l.start {
		line, err = l.Read()
		if l.Number-first >= mostBlank {
			return nil, Last(l.Refuse(0, "more than %d blank lines; want %s", mostBlank, l.in.opts.wanted()))
		}
	}
	return line, err
}

// Place returns the offset, in bytes, at which the line begins that Filled returned last,
// with an error of the line, too.
func (l *Lines) Place() int64 { return l.record }

// Size returns the length in bytes of a plain file; -1 where places are not those of
// bytes on a disk, or the length is not known.
func (l *Lines) Size() int64 {
	if l.in.Encoding != "" || l.in.base != 0 {
		return -1
	}
	return l.in.Bytes
}

// SkipTo passes over the lines that begin before an offset, in bytes of the unpacked stream,
// without a look at what they hold: several goroutines share a file so, each from the first
// line that begins in its part.
func (l *Lines) SkipTo(to int64) error {
	for within := false; l.next < to || within; {
		part, err := l.in.ReadSlice('\n')
		l.next += int64(len(part))
		within = err == bufio.ErrBufferFull
		switch {
		case err == nil:
			l.Number++
		case err == io.EOF:
			return nil // the next Read finds it, too
		case !within:
			return Unreadable(l.in.Name, l.Number+1, err)
		}
	}
	return nil
}

// Blank tells whether a line has nothing but white space.
func Blank(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }

// errLong says that a line was too long and passed over.
var errLong = errors.New("line too long")

// readLong gathers a line that begins with part, up to err. A line that is passed over is
// read to its end, and takes no memory beyond Max.
func (l *Lines) readLong(part []byte, err error) ([]byte, error) {
	l.long = l.long[:0]
	skip := false
	for {
		if len(l.long)+len(part) > l.Max && !l.SkipLong {
			return nil, Last(Refuse(l.in.Name, l.Number+1, 0, "line is longer than %d bytes; is this %s?", l.Max, l.in.opts.Want))
		}
		if skip = skip || len(l.long)+len(part) > l.Max; !skip {
			l.long = append(l.long, part...)
		}
		if err != bufio.ErrBufferFull {
			break
		}
		part, err = l.in.ReadSlice('\n')
	}
	if skip && (err == nil || err == io.EOF) {
		return nil, errLong
	}
	return l.long, err
}

// EachLine calls use with the lines of a file that are not blank, without outer
// white space and at most 1 MiB long, until use returns an error.
func EachLine(path string, o Options, use func(number int, line string) error) error {
	s, err := Open(path, o)
	if err != nil {
		return err
	}
	defer s.Close()
	lines := s.Lines(1 << 20)
	for {
		line, err := lines.Filled(Blank)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := use(lines.Number, string(bytes.TrimSpace(line))); err != nil {
			return err
		}
	}
}

// ReadAll returns the whole text of r, at most max bytes of it once unpacked,
// as New and Lines would read it; a text that is empty has no bytes.
func ReadAll(r io.Reader, name string, max int64, o Options) ([]byte, error) {
	in := bufio.NewReader(r)
	if _, err := in.Peek(1); err == io.EOF {
		return nil, nil
	}
	s, err := New(in, name, o)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	data, err := readText(s, max+1)
	switch {
	case err != nil:
		return nil, Unreadable(name, 0, err)
	case int64(len(data)) > max:
		return nil, Refuse(name, 0, 0, "more than %d bytes, want %s", max, s.opts.Want)
	case !utf8.Valid(data):
		at := InvalidAt(data)
		line := bytes.Count(data[:at], []byte("\n"))
		column := at - bytes.LastIndexByte(data[:at], '\n')
		return nil, Refuse(name, line+1, column, "invalid UTF-8: byte 0x%02x; %s", data[at], s.opts.Mend)
	}
	return data, nil
}

// readText reads to the end of r, but no further than most bytes, nor than the first
// that is no UTF-8: a device gives such without end.
func readText(r io.Reader, most int64) (data []byte, err error) {
	checked := 0
	for int64(len(data)) < most {
		data = slices.Grow(data, 1<<16)
		n, err := r.Read(data[len(data):min(int64(cap(data)), most)])
		data = data[:len(data)+n]
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return data, err
		}
		// The last bytes may be the beginning of a character.
		if checked += InvalidAt(data[checked:]); checked+utf8.UTFMax <= len(data) {
			return data, nil
		}
	}
	return data, nil
}

// InvalidAt returns the place of the first byte that is no part of UTF-8 text,
// len(b) if all are.
func InvalidAt(b []byte) int {
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(b)
}

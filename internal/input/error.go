package input

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Error is a refusal of a file.
type Error struct {
	File    string // path or stream name as the caller gave it
	Line    int    // from 1; for .npy the row from 1; 0: the file as a whole
	Column  int    // byte in the line from 1; for .npy the column from 1; 0: the line as a whole
	Message string // what stood there, what was wanted, what to do
	Err     error  // the cause, such as fs.ErrNotExist; may be nil
	Row     bool   // only one row of examples is wrong; those after it can be read
	last    bool   // nothing can be read after it
}

// Error returns file:line:column: message, leaving out what is 0.
func (e *Error) Error() string {
	s := e.File
	if e.Line > 0 {
		s += ":" + strconv.Itoa(e.Line)
		if e.Column > 0 {
			s += ":" + strconv.Itoa(e.Column)
		}
	}
	return s + ": " + e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Refuse returns an *Error; line and column are 0 where they have no meaning.
func Refuse(file string, line, column int, format string, args ...any) error {
	return &Error{File: file, Line: line, Column: column, Message: fmt.Sprintf(format, args...)}
}

// Last marks an error of Refuse after which nothing can be read, such as a quote that
// is never closed.
func Last(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		e.last = true
	}
	return err
}

// MarkRow sets Row if err is about a line, and neither a failure to read it nor one
// that Last marked, and returns the *Error then, else nil.
func MarkRow(err error) *Error {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Line == 0 || e.Err != nil || e.last {
		return nil
	}
	e.Row = true
	return e
}

// At makes an *Error of err, which has no place yet, and keeps one that has.
func At(file string, line int, err error) error { return inWords(file, line, err.Error(), err) }

// inWords keeps an error that has its place already: who is nearest to the line knows
// best.
func inWords(file string, line int, message string, err error) error {
	if e := (*Error)(nil); errors.As(err, &e) {
		return err
	}
	return &Error{File: file, Line: line, Message: message, Err: err}
}

// Missing makes an *Error of what the system said when path was opened,
// without naming the file twice.
func Missing(path string, err error) error {
	message := "cannot read: " + cause(err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		message = "no such file; check the path"
	case errors.Is(err, fs.ErrPermission):
		message = "no right to read this file"
	}
	return inWords(path, 0, message, err)
}

// Unreadable turns an error of the stream, such as gzip data that ends early,
// into an *Error at the line or row that it keeps from being read.
func Unreadable(file string, line int, err error) error {
	message, data := "cannot read: "+cause(err), "the data"
	if p := (*packedError)(nil); errors.As(err, &p) {
		data = "the " + p.by + " data"
		if errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrWindowSizeTooSmall) {
			message = fmt.Sprintf("packed with zstd for a window of other than 1 KiB to %d MiB; pack it at level 19 or below, without --long", p.window>>20)
		}
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		message = data + " ends early; fetch or write the file anew"
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader), errors.Is(err, zstd.ErrCRCMismatch), errors.As(err, new(flate.CorruptInputError)):
		message = data + " is damaged; fetch or write the file anew"
	}
	return inWords(file, line, message, err)
}

// cause returns what the system said, without the file, which the message names.
func cause(err error) string {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		err = e.Err
	}
	switch {
	case errors.Is(err, syscall.EISDIR):
		return "it is a folder, want a file"
	case errors.Is(err, syscall.ENOTDIR):
		return "it, or a part of its path, is a file and no folder"
	}
	return err.Error()
}

// Clip quotes a value for a message, cut to 40 bytes, which may be within a character: that
// is quoted as \x then.
func Clip[T ~string | ~[]byte](value T) string {
	const most = 40
	if len(value) <= most {
		return strconv.Quote(string(value))
	}
	return strconv.Quote(string(value[:most])) + "..."
}

// Plural returns "1 row", "2 rows"; of nouns that take an s only.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Some joins names for a message, the first most of them: "a, b and 3 more". all is
// how many there are, where names are only some.
func Some(names []string, most, all int) string {
	n := min(len(names), most)
	text := strings.Join(names[:n], ", ")
	if all > n {
		text += fmt.Sprintf(" and %d more", all-n)
	}
	return text
}

// Wrap breaks a text into lines of at most width characters (code points), but for longer
// words. All white space counts as one space. A line takes every word that fits.
func Wrap(text string, width int) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		size := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+size > width:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += size
	}
	return b.String()
}

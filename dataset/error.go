package dataset

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"syscall"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Error is a refusal of a file. All that Open, OpenAll, NewReader and Reader.All
// refuse is an *Error.
type Error struct {
	File    string // path or stream name as the caller gave it
	Line    int    // from 1; for .npy the row from 1; 0: the file as a whole
	Column  int    // byte in the line from 1; for .npy the column from 1; 0: the line as a whole
	Message string // what stood there, what was wanted, what to do
	Err     error  // the cause, such as fs.ErrNotExist; may be nil
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

// refuse returns an *Error; line and column are 0 where they mean nothing.
func refuse(file string, line, column int, format string, args ...any) error {
	return &Error{File: file, Line: line, Column: column, Message: fmt.Sprintf(format, args...)}
}

// unreadable turns an error of the stream, such as gzip data that ends early,
// into an *Error at the line or row that it keeps from being read.
func unreadable(file string, line int, err error) error {
	message := "cannot read: " + cause(err)
	switch e := (*Error)(nil); {
	case errors.As(err, &e):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		message = "the data ends early; fetch or write the file anew"
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader), errors.Is(err, zstd.ErrCRCMismatch), errors.As(err, new(flate.CorruptInputError)):
		message = "the packed data are damaged; fetch or write the file anew"
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrWindowSizeTooSmall):
		message = fmt.Sprintf("packed with zstd for a window of other than 1 KiB to %d MiB; pack it at level 19 or below, without --long", maxWindow>>20)
	}
	return &Error{File: file, Line: line, Message: message, Err: err}
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

// clip quotes a value for a message, cut to a length that fits on a screen.
func clip[T ~string | ~[]byte](value T) string {
	const most = 40
	if len(value) <= most {
		return strconv.Quote(string(value))
	}
	return strconv.Quote(string(value[:most])) + "..."
}

// plural returns "1 row", "2 rows".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/treeloss/treeloss/internal/packed"
)

const (
	bufferSize = 64 << 10
	// maxWindow bounds what a zstd stream of a few bytes can make the decoder
	// allocate. Levels 1 to 20 stay below it.
	maxWindow = 32 << 20
)

// input is an opened stream, unpacked and without byte-order mark.
type input struct {
	name    string
	src     *bufio.Reader
	packed  bool     // gzip or zstd
	size    int64    // bytes of a plain regular file; -1 where that is not known
	again   bool     // a regular file, which can be opened again
	skipped int64    // bytes of the byte-order mark
	file    seekable // the stream before it is unpacked, if it is a file; nil otherwise
	base    int64    // where in it the stream begins
	closers []func() error
}

// seekable is what a file can do that a pipe cannot.
type seekable interface {
	io.ReaderAt
	io.Seeker
}

// random returns the input for reading at any place, and its length.
func (in *input) random() (io.ReaderAt, int64, error) {
	if in.packed {
		return nil, 0, refuse(in.name, 0, 0, "is a packed Parquet file; unpack it: Parquet is packed within and is read from its end")
	}
	if in.file == nil {
		return nil, 0, refuse(in.name, 0, 0, "is Parquet, which is read from its end, in a stream; save it to a file first and name that")
	}
	end, err := in.file.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, 0, unreadable(in.name, 0, err)
	}
	return io.NewSectionReader(in.file, in.base, end-in.base), end - in.base, nil
}

// close releases the decoder and the file, not the caller's reader.
func (in *input) close() error {
	var errs []error
	for _, f := range in.closers {
		errs = append(errs, f())
	}
	in.closers = nil
	return errors.Join(errs...)
}

// openFile opens a file that holds what, such as "examples".
func openFile(path, what string) (*input, error) {
	if path == "-" {
		return nil, refuse(path, 0, 0, "is the name of the standard input: give that to dataset.NewReader")
	}
	if path == "" {
		return nil, refuse(`""`, 0, 0, "the name of a file of %s is empty", what)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = refuse(path, 0, 0, "is a directory, want a file of %s: %s; folders of pictures go with --network", what, formats)
	}
	if err != nil {
		f.Close()
		return nil, fileError(path, err)
	}
	in, err := newInput(f, path)
	if err != nil {
		f.Close()
		return nil, err
	}
	in.again = info.Mode().IsRegular()
	if in.again && !in.packed {
		in.size = info.Size()
	}
	in.closers = append(in.closers, f.Close)
	return in, nil
}

// fileError makes an *Error of what the system said, without naming the file twice.
func fileError(path string, err error) error {
	if e := (*Error)(nil); errors.As(err, &e) {
		return err
	}
	message := "cannot read: " + cause(err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		message = "no such file; check the path"
	case errors.Is(err, fs.ErrPermission):
		message = "no right to read this file"
	}
	return &Error{File: path, Message: message, Err: err}
}

// newInput looks at the first bytes of r and unpacks what they announce.
func newInput(r io.Reader, name string) (*input, error) {
	in := &input{name: name, src: bufio.NewReaderSize(r, bufferSize), size: -1}
	if f, ok := r.(seekable); ok {
		if base, err := f.Seek(0, io.SeekCurrent); err == nil { // not a pipe
			in.file, in.base = f, base
		}
	}
	plain, by, err := packed.Open(in.src, maxWindow)
	if err != nil {
		return nil, &Error{File: name, Message: "begins like " + by + " but is not: " + err.Error(), Err: err}
	}
	if by != "" {
		in.packed, in.closers = true, append(in.closers, plain.Close)
		in.src = bufio.NewReaderSize(plain, bufferSize)
	} else if lower := strings.ToLower(name); strings.HasSuffix(lower, ".gz") || strings.HasSuffix(lower, ".zst") {
		if _, err := in.src.Peek(1); err == io.EOF {
			return nil, refuse(name, 0, 0, "is empty")
		}
		return nil, refuse(name, 0, 0, "the name says that it is packed, its first bytes do not; rename it, or fetch it anew if it is damaged")
	}
	if err := in.checkStart(); err != nil {
		in.close()
		return nil, err
	}
	return in, nil
}

// checkStart takes off a byte-order mark and refuses by name what is known to
// be no text, because "invalid UTF-8" would leave the user guessing.
func (in *input) checkStart() error {
	if _, err := in.src.Peek(1); err == io.EOF {
		return refuse(in.name, 0, 0, "is empty, want examples")
	} else if err != nil {
		return unreadable(in.name, 0, err)
	}
	if packed.StartsWith(in.src, "\xef\xbb\xbf") {
		in.skipped = 3
		_, err := in.src.Discard(3)
		return err
	}
	if head, _ := in.src.Peek(10); len(head) == 10 && string(head[4:8]) == "\x00\x00\x00\x00" && string(head[8:]) == `{"` {
		return refuse(in.name, 0, 0, "is a safetensors file, as models are; name a file of examples")
	}
	for _, known := range []struct{ magic, what string }{
		{"\x89PNG", "is a picture; want a file of examples, or pictures with a network"},
		{"\xff\xd8\xff", "is a picture; want a file of examples, or pictures with a network"},
		{"%PDF-", "is a PDF; want a file of examples"},
		{"\xd0\xcf\x11\xe0", "is an old Excel or Word file; export it as CSV"},
		{"\xff\xfe", "is UTF-16 text; save it as UTF-8"},
		{"\xfe\xff", "is UTF-16 text; save it as UTF-8"},
		{"\x00\x00\x00\x00", "begins with bytes of 0 and is no text; fetch or write the file anew"},
		{"PK\x03\x04", "is a zip file (.zip, .xlsx, .npz); unpack it or export it as CSV"},
		{"PARE", "is an encrypted Parquet file; write it without encryption"},
		{"\xfd7zXZ", "is packed with xz; unpack it, or pack it with gzip or zstd"},
		{"BZh91AY", "is packed with bzip2; unpack it, or pack it with gzip or zstd"},
	} {
		if packed.StartsWith(in.src, known.magic) {
			return refuse(in.name, 0, 0, "%s", known.what)
		}
	}
	return nil
}

// firstLine returns the first line that is not blank, or as much of it as the
// buffer holds, without consuming anything.
func firstLine(src *bufio.Reader) []byte {
	for n := 1; ; {
		b, err := src.Peek(n)
		if err == nil {
			b, _ = src.Peek(src.Buffered())
		}
		text := bytes.TrimLeft(b, "\r\n\t ")
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			return text[:i]
		}
		if err != nil || len(b) >= bufferSize {
			return text
		}
		n = len(b) + 1
	}
}

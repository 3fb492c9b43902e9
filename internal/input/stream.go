package input

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
)

// Options says what a stream should hold. The zero value is of a text file.
type Options struct {
	Want   string // what is wanted, such as "a file of examples"; "" means "a text file"
	Forms  string // the forms that it may have, such as "CSV or JSON lines"; may be ""
	Buffer int    // bytes read at once; 0 means 64 KiB
	Window uint64 // most bytes that a zstd frame may have the decoder allocate; 0 means 32 MiB, which levels 1 to 20 stay below

	Encoding string // of a text without byte-order mark, as EncodingOf knows it; "" means UTF-8
	Mend     string // what to do about a text that is not UTF-8; "" means "save the file as UTF-8"

	AnyText bool // do not refuse what begins like another kind of file

	Through func(io.Reader) io.Reader // wraps what is read before it is unpacked, such as to count; may be nil
}

// fill puts in the defaults.
func (o *Options) fill() {
	if o.Want == "" {
		o.Want = "a text file"
	}
	if o.Mend == "" {
		o.Mend = "save the file as UTF-8"
	}
	if o.Buffer == 0 {
		o.Buffer = 64 << 10
	}
	if o.Window == 0 {
		o.Window = 32 << 20
	}
}

// wanted returns "a file of examples: CSV or JSON lines".
func (o Options) wanted() string {
	if o.Forms == "" {
		return o.Want
	}
	return o.Want + ": " + o.Forms
}

// Stream is an opened file or stream, unpacked, decoded and without byte-order mark.
type Stream struct {
	*bufio.Reader
	Name     string // path or name as the caller gave it, for errors
	Packed   bool   // with gzip or zstd
	Encoding string // what it was decoded from, such as "UTF-16"; "" for UTF-8
	Bytes    int64  // length of a plain regular file; -1 where that is not known
	Again    bool   // a regular file, which can be opened again
	opts     Options
	skipped  int64    // bytes of the byte-order mark
	file     seekable // the stream before it is unpacked, if it is a file; nil otherwise
	base     int64    // where in it the stream begins
	closers  []func() error
}

// seekable is what a file can do that a pipe cannot.
type seekable interface {
	io.ReaderAt
	io.Seeker
}

// Open opens a file. All that it returns is an *Error: a path that is no file,
// and what New refuses.
func Open(path string, o Options) (*Stream, error) {
	o.fill()
	switch path {
	case "-":
		return nil, Refuse(path, 0, 0, "is the name of the standard input, want %s; name a file", o.Want)
	case "":
		return nil, Refuse(`""`, 0, 0, "the name of %s is empty; give one", o.Want)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, Missing(path, err)
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = Refuse(path, 0, 0, "is a folder, want %s; name a file in it", o.wanted())
	}
	if err != nil {
		f.Close()
		return nil, Missing(path, err)
	}
	s, err := New(f, path, o)
	if err != nil {
		f.Close()
		return nil, err
	}
	s.Again = info.Mode().IsRegular()
	if s.Again && !s.Packed {
		s.Bytes = info.Size()
	}
	s.OnClose(f.Close)
	return s, nil
}

// New looks at the first bytes of r, which stays the caller's to close, and
// unpacks what they announce. What is empty, packed in another way or known to
// be no text is an *Error.
func New(r io.Reader, name string, o Options) (*Stream, error) {
	o.fill()
	s := &Stream{Name: name, Bytes: -1, opts: o}
	if f, ok := r.(seekable); ok {
		if base, err := f.Seek(0, io.SeekCurrent); err == nil { // not a pipe
			s.file, s.base = f, base
		}
	}
	if o.Through != nil {
		r = o.Through(r)
	}
	s.Reader = bufio.NewReaderSize(r, o.Buffer)
	plain, by, err := unpack(s.Reader, o.Window)
	if err != nil {
		return nil, &Error{File: name, Message: "begins like " + by + " but is not: " + err.Error() + "; fetch it anew if it is damaged", Err: err}
	}
	if by != "" {
		s.Packed = true
		s.OnClose(plain.Close)
		s.Reader = bufio.NewReaderSize(packedReader{plain, by, o.Window}, o.Buffer)
	} else if lower := strings.ToLower(name); strings.HasSuffix(lower, ".gz") || strings.HasSuffix(lower, ".zst") {
		if _, err := s.Peek(1); err != io.EOF {
			return nil, Refuse(name, 0, 0, "the name says that it is packed, its first bytes do not; rename it, or fetch it anew if it is damaged")
		}
	}
	if err := s.checkStart(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// foreign are the first bytes of files that hold no text. "Invalid UTF-8" would
// leave the user guessing.
var foreign = []struct{ magic, what, advice string }{
	{"\x89PNG", "a picture", ""},
	{"\xff\xd8\xff", "a picture", ""},
	{"%PDF-", "a PDF", ""},
	{"\x89HDF\r\n", "an HDF5 file", "export it"},
	{"\xd0\xcf\x11\xe0", "an old Excel or Word file", "export it as CSV"},
	{"\xff\xfe\x00\x00", "UTF-32 text", "save it as UTF-8"}, {"\x00\x00\xfe\xff", "UTF-32 text", "save it as UTF-8"},
	{"PK\x03\x04", "a zip file (.zip, .xlsx, .npz)", "unpack it or export it as CSV"},
	{"PARE", "an encrypted Parquet file", "write it without encryption"},
	{"\xfd7zXZ", "packed with xz", "unpack it, or pack it with gzip or zstd"},
	{"BZh91AY", "packed with bzip2", "unpack it, or pack it with gzip or zstd"},
	{"\x80\x02", "a Python pickle", "export it"}, {"\x80\x03", "a Python pickle", "export it"},
	{"\x80\x04", "a Python pickle", "export it"}, {"\x80\x05", "a Python pickle", "export it"},
}

// checkStart refuses by name what is known to be no text, and has the rest decoded.
func (s *Stream) checkStart() error {
	if _, err := s.Peek(1); err == io.EOF {
		return Refuse(s.Name, 0, 0, "is empty, want %s", s.opts.Want)
	} else if err != nil {
		return Unreadable(s.Name, 0, err)
	}
	if s.opts.AnyText {
		return s.startEncoded()
	}
	if head, _ := s.Peek(10); len(head) == 10 && string(head[4:8]) == "\x00\x00\x00\x00" && string(head[8:]) == `{"` {
		return Refuse(s.Name, 0, 0, "is a safetensors file, as models are; want %s", s.opts.Want)
	}
	if s.StartsWith("\x00\x00\x00\x00") {
		return Refuse(s.Name, 0, 0, "begins with bytes of 0 and is no text; fetch or write the file anew")
	}
	for _, f := range foreign {
		switch {
		case !s.StartsWith(f.magic):
		case f.advice == "":
			return Refuse(s.Name, 0, 0, "is %s; want %s", f.what, s.opts.Want)
		default:
			return Refuse(s.Name, 0, 0, "is %s; %s", f.what, f.advice)
		}
	}
	return s.startEncoded()
}

// StartsWith reports whether what is to be read begins with magic.
func (s *Stream) StartsWith(magic string) bool { return startsWith(s.Reader, magic) }

// FirstLine returns the first line that is not blank, or as much of it as the
// buffer holds, without consuming anything; valid until the next read. It waits for no more
// than the end of that line.
func (s *Stream) FirstLine() []byte {
	for n := 1; ; {
		b, err := s.Peek(n)
		if err == nil {
			b, _ = s.Peek(s.Buffered())
		}
		text := bytes.TrimLeft(b, "\r\n\t ")
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			return text[:i]
		}
		if err != nil || len(b) >= s.Reader.Size() {
			return text
		}
		n = len(b) + 1
	}
}

// LineArrived tells whether the buffer has the end of a line that is not blank. It reads
// nothing.
func (s *Stream) LineArrived() bool {
	b, _ := s.Peek(s.Buffered())
	return bytes.IndexByte(bytes.TrimLeft(b, "\r\n\t "), '\n') >= 0
}

// Random returns the input for reading at any place, and its length; what says
// which kind of file needs that, for the error where it cannot be.
func (s *Stream) Random(what string) (io.ReaderAt, int64, error) {
	if s.Packed {
		return nil, 0, Refuse(s.Name, 0, 0, "is a packed %s file; unpack it: it is packed within and read from its end", what)
	}
	if s.file == nil {
		return nil, 0, Refuse(s.Name, 0, 0, "is %s, which is read from its end, in a stream; save it to a file first and name that", what)
	}
	end, err := s.file.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, 0, Unreadable(s.Name, 0, err)
	}
	return io.NewSectionReader(s.file, s.base, end-s.base), end - s.base, nil
}

// OnClose has Close call f, too.
func (s *Stream) OnClose(f func() error) { s.closers = append(s.closers, f) }

// Close releases the decoder and the file, not the caller's reader.
func (s *Stream) Close() error {
	var errs []error
	for _, f := range s.closers {
		errs = append(errs, f())
	}
	s.closers = nil
	return errors.Join(errs...)
}

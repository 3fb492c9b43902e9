package input

import (
	"bufio"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// unpack looks at the first bytes of in. If these are those of gzip (RFC 1952) or zstd (RFC
// 8878), it
// returns a reader of what is packed, to be closed, and by which of the two; else
// by is "" and nothing was read. A head that is damaged is an error, with by.
//
// A zstd frame may ask for up to window bytes of memory; one that asks for more
// is refused when it is read. What pzstd writes is zstd, too.
func unpack(in *bufio.Reader, window uint64) (plain io.ReadCloser, by string, err error) {
	switch {
	case startsWith(in, "\x1f\x8b"):
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, "gzip", err
		}
		return z, "gzip", nil
	case startsWith(in, "\x28\xb5\x2f\xfd"), startsSkippable(in):
		// One worker: no goroutines to leak, and no read-ahead before a line is out.
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window))
		if err != nil {
			return nil, "zstd", err
		}
		return z.IOReadCloser(), "zstd", nil
	}
	return nil, "", nil
}

// startsSkippable tells a zstd frame that is to be skipped, 0x50 to 0x5f and
// 2a 4d 18: pzstd puts one in front.
func startsSkippable(in *bufio.Reader) bool {
	first, err := in.Peek(1)
	return err == nil && first[0]&0xf0 == 0x50 && startsWith(in, string(first)+"\x2a\x4d\x18")
}

// startsWith reports whether the stream begins with magic. It asks for one byte
// more only while all before fit, so that a short first line typed at a
// terminal is not waited upon.
func startsWith(in *bufio.Reader, magic string) bool {
	for i := range len(magic) {
		b, err := in.Peek(i + 1)
		if err != nil || b[i] != magic[i] {
			return false
		}
	}
	return true
}

// packedReader says in its errors what packed the data.
type packedReader struct {
	io.Reader
	by     string
	window uint64
}

// Read marks all errors but the end: the same io.ErrUnexpectedEOF means another thing
// in packed data than in a plain file.
func (p packedReader) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if err != nil && err != io.EOF {
		err = &packedError{p.by, p.window, err}
	}
	return n, err
}

// packedError is what a decoder said. window, the most memory that a frame of zstd may
// ask for, is for the message about a frame that asks for more.
type packedError struct {
	by     string
	window uint64
	error
}

func (e *packedError) Error() string { return e.by + ": " + e.error.Error() }
func (e *packedError) Unwrap() error { return e.error }

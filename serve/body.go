package serve

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
)

// buffers are memory that requests use one after the other, for bodies and for answers.
var buffers = sync.Pool{New: func() any { return new(buffer) }}

type buffer struct{ bytes.Buffer }

// free gives a buffer back; one above 64 KiB, which few need, to the garbage collector: else
// each buffer of the pool would grow to the largest body that ever came.
func (b *buffer) free() {
	if b.Cap() <= 1<<16 {
		b.Reset()
		buffers.Put(b)
	}
}

// budget is how many bytes all bodies together may have: the limit of one body bounds a
// client, this one all of them.
type budget struct {
	limit int64
	used  atomic.Int64
}

// take takes n bytes, if there are so many. Added first and taken back, which needs no lock:
// two that come at once may both be refused where one had room, and never both get it.
func (b *budget) take(n int64) bool {
	if b.used.Add(n) > b.limit {
		b.used.Add(-n)
		return false
	}
	return true
}

// readBody reads the body of the request, unpacked. It is valid until the request ends, so
// what is kept of it longer, by a job that outlives its request, must be a copy. Bytes are
// counted as they come, whatever the header promises: a small packed body may be a large
// one, and a chunked one has no length. A body above the limit is refused by its header
// where that tells, before anything is read.
func (x *exchange) readBody() ([]byte, error) {
	limit, r := x.server.opts.Limits.MaxBody, x.request
	tooLarge := refuse(http.StatusRequestEntityTooLarge, "the body has more than %d bytes; send fewer examples at once", limit)
	if r.ContentLength > limit {
		return nil, tooLarge
	}
	in, err := unpacked(r)
	if err != nil {
		return nil, err
	}
	x.body = buffers.Get().(*buffer)
	for {
		x.body.Grow(512) // doubles when it is full, so that a body of n bytes takes O(n)
		room := x.body.AvailableBuffer()
		n, err := in.Read(room[:cap(room)])
		if err := x.hold(int64(n)); err != nil {
			return nil, err
		}
		x.body.Write(room[:n])
		switch {
		case x.held > limit:
			return nil, tooLarge
		case err == io.EOF:
			return x.body.Bytes(), nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, refuse(http.StatusRequestTimeout, "the body did not come in time")
		case err != nil:
			return nil, refuse(http.StatusBadRequest, "the body cannot be read: %v", err)
		}
	}
}

// hold takes bytes of the budget until the request ends.
func (x *exchange) hold(n int64) error {
	if !x.server.bodies.take(n) {
		return &problem{status: http.StatusTooManyRequests, text: "too many large requests at a time; ask again in a second", retry: true}
	}
	x.held += n
	return nil
}

// unpacked returns the body as it was before the client packed it. An encoding that is not
// known is a 415, a head that is damaged a 400.
func unpacked(r *http.Request) (in io.Reader, err error) {
	switch encoding := r.Header.Get("Content-Encoding"); encoding {
	case "", "identity":
		return r.Body, nil
	case "gzip":
		in, err = gzip.NewReader(r.Body)
	case "deflate":
		in, err = zlib.NewReader(r.Body) // deflate of HTTP is zlib's format: RFC 9110, 8.4.1.2
	default:
		return nil, refuse(http.StatusUnsupportedMediaType, "the content encoding %q; send gzip, deflate or none", encoding)
	}
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "the body is not what its content encoding says: %v", err)
	}
	return in, nil
}

// freeBody gives back the memory of the body.
func (x *exchange) freeBody() {
	if x.body != nil {
		x.body.free()
		x.body = nil
	}
	x.server.bodies.used.Add(-x.held)
	x.held = 0
}

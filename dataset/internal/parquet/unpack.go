package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// unpacker unpacks pages. parquet-go would do it too, but without an upper end:
// it grows its memory until a stream ends, and for LZ4 without one. What is
// costly to set up is kept.
type unpacker struct {
	max    int
	zstd   *zstd.Decoder
	gzip   *gzip.Reader
	brotli *brotli.Reader
}

func (u *unpacker) close() {
	if u.zstd != nil {
		u.zstd.Close()
	}
}

var errUnpack = errors.New("a page does not unpack to its length; fetch or write the file anew")

// unpack appends to dst[:0] what src unpacks to, which must be exactly size
// bytes, size being at most max. It grows dst as bytes come out where it can, so
// that a size that is a lie costs nothing.
func (u *unpacker) unpack(codec format.CompressionCodec, dst, src []byte, size int) ([]byte, error) {
	dst = dst[:0]
	var err error
	switch codec {
	case format.Snappy:
		// A copy of 64 bytes takes 2 or 3: nothing unpacks to more than 32 times
		// itself, and the decoder believes the length that the data begins with.
		n, lengthErr := snappy.DecodedLen(src)
		if lengthErr != nil || n != size || size > 32*len(src)+64 {
			return dst, errUnpack
		}
		dst, err = snappy.Decode(dst[:cap(dst)], src)
	case format.Gzip:
		in := bytes.NewReader(src)
		if u.gzip == nil {
			u.gzip = new(gzip.Reader)
		}
		if err = u.gzip.Reset(in); err == nil {
			dst, err = readUpTo(dst, u.gzip, size)
		}
	case format.Brotli:
		in := bytes.NewReader(src)
		if u.brotli == nil {
			u.brotli = brotli.NewReader(in)
		} else if err = u.brotli.Reset(in); err != nil {
			return dst, err
		}
		dst, err = readUpTo(dst, u.brotli, size)
	case format.Zstd:
		if u.zstd == nil {
			u.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(uint64(u.max)+1))
			if err != nil {
				return dst, err
			}
		}
		dst, err = u.zstd.DecodeAll(src, dst)
	case format.Lz4Raw:
		if size > 255*len(src)+64 { // a byte more of a length stands for up to 255
			return dst, errUnpack
		}
		if cap(dst) < size {
			dst = make([]byte, size)
		}
		var n int
		n, err = lz4.UncompressBlock(src, dst[:size])
		dst = dst[:max(n, 0)]
	default:
		return dst, fmt.Errorf("is packed with %s, want Snappy, zstd, gzip, Brotli, LZ4_RAW or none; write it with one of these", codec)
	}
	if err != nil || len(dst) != size {
		return dst, errUnpack
	}
	return dst, nil
}

// readUpTo appends to dst what r has, up to one byte more than size.
func readUpTo(dst []byte, r io.Reader, size int) ([]byte, error) {
	out := bytes.NewBuffer(dst)
	_, err := io.Copy(out, io.LimitReader(r, int64(size)+1))
	return out.Bytes(), err
}

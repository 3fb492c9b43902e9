package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// Codecs of pages.
const (
	codecNone   = 0
	codecSnappy = 1
	codecGzip   = 2
	codecZstd   = 6
	codecLZ4    = 7
)

// codecName names any codec there is, for messages.
func codecName(codec int32) string {
	names := []string{"nothing", "Snappy", "gzip", "LZO", "Brotli", "LZ4 in Hadoop's framing", "zstd", "LZ4"}
	if codec < 0 || int(codec) >= len(names) {
		return fmt.Sprintf("codec %d", codec)
	}
	return names[codec]
}

// unpacker unpacks pages. It keeps what is costly to set up.
type unpacker struct {
	max  int
	zstd *zstd.Decoder
	gzip *gzip.Reader
}

func (u *unpacker) close() {
	if u.zstd != nil {
		u.zstd.Close()
	}
}

var errUnpack = errors.New("a page does not unpack to its length; fetch or write the file anew")

// unpack appends to dst[:0] what src unpacks to, which must be exactly size
// bytes, size being at most max. It grows dst as bytes come out, so that a
// size that is a lie costs nothing.
func (u *unpacker) unpack(codec int32, dst, src []byte, size int) ([]byte, error) {
	dst = dst[:0]
	var err error
	switch codec {
	case codecSnappy:
		// A copy of 64 bytes takes 2 or 3: nothing unpacks to more than 32 times
		// itself, and the decoder believes the length that the data begins with.
		n, lengthErr := snappy.DecodedLen(src)
		if lengthErr != nil || n != size || size > 32*len(src)+64 {
			return dst, errUnpack
		}
		dst, err = snappy.Decode(dst[:cap(dst)], src)
	case codecGzip:
		dst, err = u.gunzip(dst, src, size)
	case codecZstd:
		if u.zstd == nil {
			u.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(uint64(u.max)+1))
			if err != nil {
				return dst, err
			}
		}
		dst, err = u.zstd.DecodeAll(src, dst)
	case codecLZ4:
		dst, err = unpackLZ4(dst, src, size)
	default:
		return dst, fmt.Errorf("is packed with %s, want Snappy, zstd, gzip or none; write it with one of these", codecName(codec))
	}
	if err != nil || len(dst) != size {
		return dst, errUnpack
	}
	return dst, nil
}

func (u *unpacker) gunzip(dst, src []byte, size int) ([]byte, error) {
	var err error
	in := bytes.NewReader(src)
	if u.gzip == nil {
		u.gzip, err = gzip.NewReader(in)
	} else {
		err = u.gzip.Reset(in)
	}
	if err != nil {
		u.gzip = nil
		return dst, err
	}
	out := bytes.NewBuffer(dst)
	_, err = io.Copy(out, io.LimitReader(u.gzip, int64(size)+1))
	return out.Bytes(), err
}

var errLZ4 = errors.New("damaged LZ4 data")

// unpackLZ4 unpacks an LZ4 block: sequences of literals and copies of what
// came before, until the input ends.
func unpackLZ4(dst, src []byte, size int) ([]byte, error) {
	for len(src) > 0 {
		token := src[0]
		src = src[1:]
		literals, rest, ok := lz4Length(int(token>>4), src)
		if !ok || literals > len(rest) || len(dst)+literals > size {
			return dst, errLZ4
		}
		dst, src = append(dst, rest[:literals]...), rest[literals:]
		if len(src) == 0 {
			return dst, nil
		}
		if len(src) < 2 {
			return dst, errLZ4
		}
		back := int(binary.LittleEndian.Uint16(src))
		match, rest, ok := lz4Length(int(token&15), src[2:])
		if src = rest; !ok || back == 0 || back > len(dst) || len(dst)+match+4 > size {
			return dst, errLZ4
		}
		for match += 4; match > 0; {
			n := min(match, back) // what is copied may overlap what it makes
			from := len(dst) - back
			dst = append(dst, dst[from:from+n]...)
			match -= n
		}
	}
	return dst, nil
}

// lz4Length reads a length of which the token holds up to 15.
func lz4Length(n int, src []byte) (int, []byte, bool) {
	if n < 15 {
		return n, src, true
	}
	for i, b := range src {
		n += int(b)
		if b < 255 {
			return n, src[i+1:], true
		}
	}
	return 0, nil, false
}

package safetensors

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"slices"
	"strings"
)

// ChecksumKey and CRCKey are the metadata entries that Write sets and Verify reads;
// the package comment defines them.
const (
	ChecksumKey = "checksum"
	CRCKey      = "crc32c"
)

// ErrFormat says that the bytes are no complete safetensors file: truncated,
// damaged or of another kind.
var ErrFormat = errors.New("not a complete safetensors file")

// ErrChecksum says that a file has no checksum, or another than its bytes.
var ErrChecksum = errors.New("the file was altered, or another program wrote it")

// maxHeader is the longest header in bytes, as in the Python library.
const maxHeader = 100_000_000

// metadataKey is the header entry that is no tensor.
const metadataKey = "__metadata__"

// File is the content of a safetensors file.
type File struct {
	Path     string            // of ReadFile and Map; "" where there is none
	Tensors  []Tensor          // Write orders them itself; Read gives them in file order
	Metadata map[string]string // Write replaces the checksums; Read keeps what the file has

	// What Verify needs, set by Read.
	header     []byte // as it stands in the file
	entries    []entry
	checksumAt int    // where in header the 64 digits start; 0 if it has none
	crcAt      int    // the same for the 8 digits of the CRC
	data       []byte // everything behind the header
}

// Tensor returns the tensor of that name. A name that the file does not have
// is an error that lists up to eight of those it has.
func (f *File) Tensor(name string) (*Tensor, error) {
	i := slices.IndexFunc(f.Tensors, func(t Tensor) bool { return t.Name == name })
	if i >= 0 {
		return &f.Tensors[i], nil
	}
	var names []string
	for n, t := range f.Tensors {
		if n == 8 {
			names = append(names, "...")
			break
		}
		names = append(names, fmt.Sprintf("%q", t.Name))
	}
	return nil, fmt.Errorf("no tensor %q; the file has %d: %s", name, len(f.Tensors), strings.Join(names, ", "))
}

// Verify computes the CRC of a file that Read returned, or the checksum of one that has
// no CRC, and compares it with that in the metadata. Call it before changing any tensor,
// as these share their memory with the file. It takes one pass over the data, of some 10
// gigabytes a second for the CRC, 1 or 2 for the checksum. The error wraps ErrChecksum:
// the file was altered, or another program wrote it.
func (f *File) Verify() error {
	switch {
	case f.header == nil:
		return fmt.Errorf("verify: this file was made in memory, want one from Read: %w", ErrChecksum)
	case f.crcAt > 0:
		return f.compare(f.crcAt, crcDigits, newCRC(f.header, f.crcAt))
	case f.checksumAt > 0:
		return f.compare(f.checksumAt, checksumDigits, newChecksum(f.header, f.checksumAt))
	}
	return fmt.Errorf("the metadata has no %q of 64 hexadecimal digits: %w",
		ChecksumKey, ErrChecksum)
}

// compare returns an error unless sum, which has had the header, comes with the data to
// the digits in the header.
func (f *File) compare(at, digits int, sum hash.Hash) error {
	stored := string(f.header[at : at+digits])
	sum.Write(f.data)
	if got := hex.EncodeToString(sum.Sum(nil)); got != stored {
		return fmt.Errorf("the bytes have checksum %.12s..., want %.12s...: %w",
			got, stored, ErrChecksum)
	}
	return nil
}

const (
	checksumDigits = 2 * sha256.Size
	crcDigits      = 2 * crc32.Size
)

// newChecksum starts the checksum of a file with its length and header; the data must
// follow. The digits at header[at:] count as '0'; those of a CRC are.
func newChecksum(header []byte, at int) hash.Hash {
	return startSum(sha256.New(), header, at, checksumDigits)
}

// newCRC is newChecksum for the CRC, with the checksum as it is in the header.
func newCRC(header []byte, at int) hash.Hash {
	return startSum(crc32.New(crc32.MakeTable(crc32.Castagnoli)), header, at, crcDigits)
}

func startSum(sum hash.Hash, header []byte, at, digits int) hash.Hash {
	var length [8]byte
	binary.LittleEndian.PutUint64(length[:], uint64(len(header)))
	sum.Write(length[:])
	sum.Write(header[:at])
	sum.Write([]byte(strings.Repeat("0", digits)))
	sum.Write(header[at+digits:])
	return sum
}

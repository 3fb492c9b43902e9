package feature

import (
	"errors"
	"strconv"
	"strings"
)

// ErrHashed says that bytes are no complete file of WriteHashed: truncated,
// damaged or of another kind.
var ErrHashed = errors.New("not a complete file of hashed n-grams")

// hashedMagic begins a file of WriteHashed; the number is the format's version.
const hashedMagic = "treeloss n-grams 1\n"

// maxHashedBytes bounds an unpacked file, so that a damaged one cannot ask for
// more memory than some 20 times as much.
const maxHashedBytes = 1 << 24

// hash32 returns the 32-bit FNV-1a hash of an n-gram, block byte included.
func hash32(gram []byte) uint32 {
	hash := uint32(2166136261)
	for _, b := range gram {
		hash = (hash ^ uint32(b)) * 16777619
	}
	return hash
}

// appendKey appends what stands for an n-gram among hashed ones: its block's
// byte and its hash in eight hexadecimal digits.
func appendKey(dst []byte, block byte, hash uint32) []byte {
	dst = append(dst, block)
	for shift := 28; shift >= 0; shift -= 4 {
		dst = append(dst, "0123456789abcdef"[hash>>shift&15])
	}
	return dst
}

// isKey tells whether gram is what appendKey makes.
func isKey(gram string) bool {
	return len(gram) == 9 && strings.Trim(gram[1:], "0123456789abcdef") == ""
}

// hashOf is what a file holds of an n-gram: the byte of its block above the 32
// bits of its hash.
func hashOf(gram string, hashed bool) uint64 {
	block := uint64(gram[0]) << 32
	if hashed {
		hash, _ := strconv.ParseUint(gram[1:], 16, 32) // a key is always well formed
		return block | hash
	}
	return block | uint64(hash32([]byte(gram)))
}

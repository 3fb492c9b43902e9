package safetensors

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"strings"
)

// HasFormat tells, from the head of a file, whether it is a safetensors file
// whose metadata name that format, whole or damaged behind it. A file that cannot
// be read is none.
func HasFormat(path, format string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var size uint64
	if binary.Read(f, binary.LittleEndian, &size) != nil || size > maxHeader {
		return false
	}
	pair, err := json.Marshal(map[string]string{"format": format})
	if err != nil {
		return false
	}
	head, err := io.ReadAll(io.LimitReader(f, int64(size)))
	return err == nil && strings.Contains(string(head), string(pair[1:len(pair)-1]))
}

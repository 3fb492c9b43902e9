package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/treeloss/treeloss/internal/atomicfile"
)

// Read reads a whole file of size bytes. It takes what the Python library
// takes, in any order of tensors, and checks everything but the checksum (see
// File.Verify): lengths, offsets without gaps or overlaps, shapes, types, and
// names that come twice. Every error about the content wraps ErrFormat.
//
// The tensors share one block of memory of the file's size. Nothing is
// allocated on the word of the header alone.
func Read(r io.ReaderAt, size int64) (*File, error) {
	f, err := readHeader(r, size)
	if err != nil {
		return nil, err
	}
	start := 8 + int64(len(f.header))
	data := make([]byte, size-start)
	if err := readFull(r, data, start); err != nil {
		return nil, fmt.Errorf("read the tensors: %w", err)
	}
	f.attach(data)
	return f, nil
}

// readHeader returns the file of a header that fits size bytes, without data.
func readHeader(r io.ReaderAt, size int64) (*File, error) {
	if size < 8 {
		return nil, badFile("%d bytes, want at least 8", size)
	}
	var first, last [8]byte
	if _, err := r.ReadAt(first[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read the header length: %w", err)
	}
	// A size that is too large must not make us allocate that much.
	if n, err := r.ReadAt(last[:1], size-1); n != 1 {
		return nil, badFile("the file ends before byte %d (%v)", size-1, err)
	}
	length, rest := binary.LittleEndian.Uint64(first[:]), uint64(size-8)
	if length > maxHeader {
		return nil, badFile("the first 8 bytes give a header of %d bytes, want at most %d", length, maxHeader)
	}
	if length > rest {
		return nil, badFile("the header has %d bytes but only %d follow; the file is truncated or of another kind", length, rest)
	}
	header := make([]byte, length)
	if err := readFull(r, header, 8); err != nil {
		return nil, fmt.Errorf("read the header: %w", err)
	}
	parsed, err := parseHeader(header)
	if err != nil {
		return nil, err
	}
	if err := parsed.checkOffsets(rest - length); err != nil {
		return nil, err
	}
	return &File{Metadata: parsed.metadata, header: header, checksumAt: parsed.checksumAt, crcAt: parsed.crcAt, entries: parsed.entries}, nil
}

// attach gives the tensors their data, of which checkOffsets knows the size.
func (f *File) attach(data []byte) {
	f.data = data
	for _, e := range f.entries {
		f.Tensors = append(f.Tensors, Tensor{Name: e.name, DType: e.dtype, Shape: e.shape, Data: data[e.start:e.end:e.end]})
	}
}

// ReadFile reads the file at path; see Read. Errors name the path. Call Verify
// on the result unless another program may have written the file.
func ReadFile(path string) (*File, error) {
	return open(path, func(in *os.File, size int64) (*File, error) { return Read(in, size) })
}

// Map is ReadFile without a copy where the system allows it: the tensors are the file
// itself, mapped into memory until the File is garbage. They must not be changed or
// used beyond that (runtime.KeepAlive), and the file must not be written to meanwhile;
// WriteFile puts another in its place.
func Map(path string) (*File, error) {
	return open(path, func(in *os.File, size int64) (*File, error) {
		data, err := mapFile(in, size)
		if err != nil {
			return Read(in, size)
		}
		f, err := readHeader(bytes.NewReader(data), size)
		if err != nil {
			return nil, errors.Join(err, unmapFile(data))
		}
		f.attach(data[8+len(f.header):])
		runtime.AddCleanup(f, func(data []byte) { _ = unmapFile(data) }, data) // fails for no memory that mapFile returned
		return f, nil
	})
}

// open hands the regular file at path and its size to read.
func open(path string, read func(in *os.File, size int64) (*File, error)) (*File, error) {
	info, err := os.Stat(path) // to open a pipe would wait for who writes into it
	if err != nil {
		return nil, err // it names the path
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: is %s, want a regular file", path, atomicfile.Kind(info.Mode()))
	}
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	f, err := read(in, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f.Path = path
	return f, nil
}

// HasFormat tells, from the head of a file, whether it is a safetensors file
// whose metadata name that format, whole or damaged behind it. A file that cannot
// be read is none.
func HasFormat(path, format string) bool {
	// To look into a pipe would take from it.
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
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

// checkOffsets sorts the entries by offset and returns an error unless they
// fill exactly size bytes, each with as many as its type and shape need.
func (h *header) checkOffsets(size uint64) error {
	slices.SortStableFunc(h.entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end), cmp.Compare(a.name, b.name))
	})
	at := uint64(0)
	for _, e := range h.entries {
		if e.start != at {
			return badFile("tensor %q starts at byte %d, want %d: no gap and no overlap", e.name, e.start, at)
		}
		if e.end < e.start {
			return badFile("tensor %q ends at byte %d, before its start %d", e.name, e.end, e.start)
		}
		want, err := byteLength(e.dtype, e.shape)
		if err != nil {
			return badFile("tensor %q: %v", e.name, err)
		}
		if e.end-e.start != uint64(want) {
			return badFile("tensor %q has %d bytes, want %d for type %s and shape %v", e.name, e.end-e.start, want, e.dtype, e.shape)
		}
		at = e.end
	}
	if at > size {
		return badFile("the tensors have %d bytes but only %d are there; the file is truncated", at, size)
	}
	if at < size {
		return badFile("the tensors have %d bytes but %d are there, want no more", at, size)
	}
	return nil
}

// readFull fills buf from r, starting at offset.
func readFull(r io.ReaderAt, buf []byte, offset int64) error {
	_, err := io.ReadFull(io.NewSectionReader(r, offset, int64(len(buf))), buf)
	return err
}

// badFile returns an error that wraps ErrFormat.
func badFile(format string, args ...any) error {
	return fmt.Errorf("%w: %w", fmt.Errorf(format, args...), ErrFormat)
}

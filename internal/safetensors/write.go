package safetensors

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Write writes f with its checksum; f is not changed. Two tensors of one name,
// data that do not fit their shape, text that is not UTF-8 and a header of
// more than 100 MB are errors, and then nothing has been written. The data are
// read twice (checksum, output) and not copied.
func Write(w io.Writer, f *File) error {
	tensors, header, err := prepare(f)
	if err != nil {
		return err
	}
	return writeAll(w, tensors, header)
}

// prepare returns the tensors in file order and the finished header.
func prepare(f *File) ([]Tensor, []byte, error) {
	for i := range f.Tensors {
		if err := f.Tensors[i].check(); err != nil {
			return nil, nil, err
		}
	}
	tensors := slices.SortedStableFunc(slices.Values(f.Tensors), func(a, b Tensor) int {
		return cmp.Or(cmp.Compare(b.DType.rank(), a.DType.rank()), cmp.Compare(a.Name, b.Name))
	})
	metadata := maps.Clone(f.Metadata)
	if metadata == nil {
		metadata = map[string]string{}
	}
	metadata[ChecksumKey] = strings.Repeat("0", checksumDigits)

	header, at, err := encodeHeader(tensors, metadata)
	if err != nil {
		return nil, nil, err
	}
	sum := newChecksum(header, at)
	for i := range tensors {
		sum.Write(tensors[i].Data)
	}
	hex.Encode(header[at:at+checksumDigits], sum.Sum(nil))
	return tensors, header, nil
}

func writeAll(w io.Writer, tensors []Tensor, header []byte) error {
	start := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	if _, err := w.Write(append(start, header...)); err != nil {
		return fmt.Errorf("safetensors: write the header: %w", err)
	}
	for i := range tensors {
		if _, err := w.Write(tensors[i].Data); err != nil {
			return fmt.Errorf("safetensors: write tensor %q: %w", tensors[i].Name, err)
		}
	}
	return nil
}

// encodeHeader returns the header of tensors in this order, as the Python
// library spells it, and where the value of the checksum starts in it, 0 if
// metadata has none. A nil map leaves "__metadata__" out.
func encodeHeader(tensors []Tensor, metadata map[string]string) (header []byte, checksumAt int, err error) {
	h := headerWriter{out: []byte{'{'}}
	if metadata != nil {
		h.text(metadataKey)
		h.out = append(h.out, ":{"...)
		for i, key := range slices.Sorted(maps.Keys(metadata)) {
			h.comma(i > 0)
			h.text(key)
			h.out = append(h.out, ':')
			if key == ChecksumKey {
				checksumAt = len(h.out) + 1 // behind the quote
			}
			h.text(metadata[key])
		}
		h.out = append(h.out, '}')
	}
	offset := 0
	seen := map[string]bool{metadataKey: true}
	for i, t := range tensors {
		if seen[t.Name] {
			return nil, 0, fmt.Errorf("safetensors: tensor name %q is taken, want each name once and none called %q", t.Name, metadataKey)
		}
		seen[t.Name] = true
		h.comma(metadata != nil || i > 0)
		h.text(t.Name)
		h.out = fmt.Appendf(h.out, `:{"dtype":"%s","shape":[`, t.DType)
		for j, n := range t.Shape {
			h.comma(j > 0)
			h.out = strconv.AppendInt(h.out, int64(n), 10)
		}
		h.out = fmt.Appendf(h.out, `],"data_offsets":[%d,%d]}`, offset, offset+len(t.Data))
		offset += len(t.Data)
	}
	h.out = append(h.out, '}')
	for len(h.out)%8 != 0 {
		h.out = append(h.out, ' ')
	}
	if h.bad != "" {
		return nil, 0, fmt.Errorf("safetensors: %q is not valid UTF-8, want names and metadata in UTF-8", h.bad)
	}
	if len(h.out) > maxHeader {
		return nil, 0, fmt.Errorf("safetensors: the header has %d bytes, want at most %d: store long metadata as a U8 tensor", len(h.out), maxHeader)
	}
	return h.out, checksumAt, nil
}

// headerWriter builds the JSON by hand: encoding/json escapes more than the
// Python library does.
type headerWriter struct {
	out []byte
	bad string // the start of the first text that is not UTF-8
}

func (h *headerWriter) comma(need bool) {
	if need {
		h.out = append(h.out, ',')
	}
}

// text appends s as a JSON string.
func (h *headerWriter) text(s string) {
	if h.bad == "" && !utf8.ValidString(s) {
		h.bad = s[:min(len(s), 80)]
	}
	h.out = append(h.out, '"')
	rest := s
	for rest != "" {
		n := strings.IndexFunc(rest, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' })
		if n < 0 {
			break
		}
		h.out = append(h.out, rest[:n]...)
		if at := strings.IndexByte("\"\\\b\t\n\f\r", rest[n]); at >= 0 {
			h.out = append(h.out, '\\', `"\btnfr`[at])
		} else {
			h.out = fmt.Appendf(h.out, `\u%04x`, rest[n])
		}
		rest = rest[n+1:]
	}
	h.out = append(append(h.out, rest...), '"')
}

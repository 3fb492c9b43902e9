package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/treeloss/treeloss/internal/atomicfile"
)

// Write writes f with its checksums; f is not changed. Two tensors of one name,
// data that do not fit their shape, text that is not UTF-8 and a header of
// more than 100 MB are errors, and then nothing has been written. The data are
// read three times (checksums, output) and not copied.
func Write(w io.Writer, f *File) error {
	tensors, header, err := prepare(f)
	if err != nil {
		return err
	}
	return writeAll(w, tensors, header)
}

// WriteFile writes f to path, which holds the old file or the new one, whole,
// whatever happens in between; see package atomicfile.
func WriteFile(path string, f *File) error {
	tensors, header, err := prepare(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return atomicfile.Write(path, func(w io.Writer) error { return writeAll(w, tensors, header) })
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
	metadata := map[string]string{}
	maps.Copy(metadata, f.Metadata)
	metadata[ChecksumKey] = strings.Repeat("0", checksumDigits)
	metadata[CRCKey] = strings.Repeat("0", crcDigits)

	header, at, err := encodeHeader(tensors, metadata)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range []struct {
		key   string
		begin func(header []byte, at int) hash.Hash
	}{{ChecksumKey, newChecksum}, {CRCKey, newCRC}} { // the second has the digits of the first
		sum := s.begin(header, at[s.key])
		for i := range tensors {
			for _, piece := range tensors[i].pieces() {
				sum.Write(piece)
			}
		}
		hex.Encode(header[at[s.key]:], sum.Sum(nil))
	}
	return tensors, header, nil
}

// writeAll writes the length of the header, the header, and the data as they are.
func writeAll(w io.Writer, tensors []Tensor, header []byte) error {
	start := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	if _, err := w.Write(append(start, header...)); err != nil {
		return fmt.Errorf("safetensors: write the header: %w", err)
	}
	for i := range tensors {
		for _, piece := range tensors[i].pieces() {
			if _, err := w.Write(piece); err != nil {
				return fmt.Errorf("safetensors: write tensor %q: %w", tensors[i].Name, err)
			}
		}
	}
	return nil
}

// encodeHeader returns the header of tensors in this order, as the Python
// library spells it, and where the digits of the checksums that metadata has start in
// it. A nil map leaves "__metadata__" out.
//
// The JSON is put together by hand: encoding/json escapes more than the Python
// library does.
func encodeHeader(tensors []Tensor, metadata map[string]string) (header []byte, at map[string]int, err error) {
	escape := newEscaper()
	quote := func(text string) string {
		if err == nil && !utf8.ValidString(text) {
			err = fmt.Errorf("safetensors: %q is not valid UTF-8, want names and metadata in UTF-8", text[:min(len(text), 80)])
		}
		return `"` + escape.Replace(text) + `"`
	}
	var fields []string
	if metadata != nil {
		var pairs []string
		for _, key := range slices.Sorted(maps.Keys(metadata)) {
			pairs = append(pairs, quote(key)+":"+quote(metadata[key]))
		}
		fields = append(fields, quote(metadataKey)+":{"+strings.Join(pairs, ",")+"}")
	}
	offset := 0
	seen := map[string]bool{metadataKey: true}
	for _, t := range tensors {
		if seen[t.Name] {
			return nil, nil, fmt.Errorf("safetensors: tensor name %q is taken, want each name once and none called %q", t.Name, metadataKey)
		}
		seen[t.Name] = true
		shape := strings.ReplaceAll(fmt.Sprint(t.Shape), " ", ",") // [2,3]
		fields = append(fields, fmt.Sprintf(`%s:{"dtype":"%s","shape":%s,"data_offsets":[%d,%d]}`, quote(t.Name), t.DType, shape, offset, offset+t.size()))
		offset += t.size()
	}
	if err != nil {
		return nil, nil, err
	}
	header = []byte("{" + strings.Join(fields, ",") + "}")
	header = append(header, strings.Repeat(" ", -len(header)&7)...)
	if len(header) > maxHeader {
		return nil, nil, fmt.Errorf("safetensors: the header has %d bytes, want at most %d: store long metadata as a U8 tensor", len(header), maxHeader)
	}
	at = map[string]int{}
	for _, key := range []string{ChecksumKey, CRCKey} {
		if value, ok := metadata[key]; ok {
			field := quote(key) + ":" + quote(value) // within a text its quotes would be escaped
			at[key] = bytes.Index(header, []byte(field)) + len(quote(key)+`:"`)
		}
	}
	return header, at, nil
}

// newEscaper returns what makes the inside of a JSON string of a text: quotes,
// backslashes and control characters are escaped, and nothing else.
func newEscaper() *strings.Replacer {
	pairs := []string{`"`, `\"`, `\`, `\\`, "\b", `\b`, "\t", `\t`, "\n", `\n`, "\f", `\f`, "\r", `\r`}
	for c := range ' ' { // of a character that comes twice the first counts
		pairs = append(pairs, string(c), fmt.Sprintf(`\u%04x`, c))
	}
	return strings.NewReplacer(pairs...)
}

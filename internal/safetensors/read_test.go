package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
)

// raw builds a file from a header as it stands and so many bytes of data.
func raw(header string, data int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), make([]byte, data)...)
}

func TestReadTakesWhatOthersWrite(t *testing.T) {
	for _, tc := range []struct {
		name string
		data []byte
		want []string // names in file order
	}{
		{"nothing", raw("{}", 0), nil},
		{"old order, odd alignment, white space", raw(" {\n\"b\" : {\"shape\":[ 1 , 1 ],\"data_offsets\":[1,5],\"dtype\":\"F32\"},\t\"a\":{\"dtype\":\"BOOL\",\"shape\":[],\"data_offsets\":[0,1]}}\r\n ", 5), []string{"a", "b"}},
		{"escaped name", raw(`{"\u0061\"":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, 2), []string{`a"`}},
		{"empty tensors share a place", raw(`{"b":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"U8","shape":[3,0],"data_offsets":[0,0]},"c":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 1), []string{"a", "b", "c"}},
		{"metadata without a checksum", raw(`{"__metadata__":{"format":"np"}}`, 0), nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, err := decodeFile(tc.data)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tensor := range f.Tensors {
				names = append(names, tensor.Name)
			}
			if strings.Join(names, "|") != strings.Join(tc.want, "|") {
				t.Errorf("tensors %q, want %q", names, tc.want)
			}
			if err := f.Verify(); !errors.Is(err, ErrChecksum) {
				t.Errorf("Verify: %v, want ErrChecksum", err)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	tensor := func(fields string) string { return `{"w":{` + fields + `}}` }
	const whole = `"dtype":"F32","shape":[1],"data_offsets":[0,4]`
	for _, tc := range []struct {
		name, header string
		data         int
		want         string
	}{
		{"empty header", "", 0, "the header ends"},
		{"another kind", "label,text", 0, "invalid character 'l'"},
		{"a list", "[]", 0, "want an object"},
		{"not UTF-8", "{\"\xff\":1}", 0, "UTF-8"},
		{"text behind the object", "{} x", 0, "nothing but spaces"},
		{"cut off", tensor(whole)[:20], 4, "ends"},
		{"cut off behind a backslash", `{"\`, 0, "ends"},
		{"bad escape", `{"\q":{` + whole + `}}`, 4, "invalid character 'q' in string escape"},
		{"raw control character", "{\"a\nb\":{" + whole + `}}`, 4, "invalid character '\\n' in string"},
		{"no comma", tensor(`"dtype":"F32" "shape":[1]`), 4, "invalid character '\"'"},
		{"comma too many", tensor(whole + `,`), 4, "invalid character '}'"},
		{"comma too many in a list", tensor(`"dtype":"F32","shape":[1,],"data_offsets":[0,4]`), 4, "invalid character ']'"},
		{"name twice", `{"w":{` + whole + `},"w":{` + whole + `}}`, 4, `"w" comes twice`},
		{"metadata twice", `{"__metadata__":{},"__metadata__":{}}`, 0, "comes twice"},
		{"metadata key twice", `{"__metadata__":{"a":"1","a":"2"}}`, 0, "\"a\" comes twice in the metadata"},
		{"metadata of another type", `{"__metadata__":{"a":1}}`, 0, "metadata a is 1, want a text"},
		{"field twice", tensor(whole + `,"dtype":"F32"`), 4, "comes twice"},
		{"unknown field", tensor(whole + `,"x":"y"`), 4, `a field "x"`},
		{"field missing", tensor(`"dtype":"F32","shape":[1]`), 4, "once each"},
		{"unknown type", tensor(`"dtype":"F4","shape":[1],"data_offsets":[0,4]`), 4, "unknown dtype"},
		{"three offsets", tensor(`"dtype":"F32","shape":[1],"data_offsets":[0,4,4]`), 4, "3 data_offsets, want 2"},
		{"one offset", tensor(`"dtype":"F32","shape":[1],"data_offsets":[0]`), 4, "want 2"},
		{"negative number", tensor(`"dtype":"F32","shape":[-1],"data_offsets":[0,4]`), 4, "negative dimension"},
		{"fraction", tensor(`"dtype":"F32","shape":[1.0],"data_offsets":[0,4]`), 4, "cannot unmarshal number 1.0"},
		{"leading zero", tensor(`"dtype":"F32","shape":[01],"data_offsets":[0,4]`), 4, "invalid character '1' after array element"},
		{"number beyond 64 bits", tensor(`"dtype":"F32","shape":[18446744073709551616],"data_offsets":[0,4]`), 4, "cannot unmarshal number 18446744073709551616"},
		{"dimension beyond an int", tensor(`"dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,4]`), 4, "cannot unmarshal number 9223372036854775808"},
		{"product beyond an int", tensor(`"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]`), 0, "more than"},
		{"offset beyond the file", tensor(`"dtype":"U8","shape":[9223372036854775807],"data_offsets":[0,9223372036854775807]`), 4, "truncated"},
		{"many dimensions", tensor(`"dtype":"F32","shape":[` + strings.Repeat("1,", 64) + `1],"data_offsets":[0,4]`), 4, "65 dimensions, want at most 64"},
		{"shape and offsets differ", tensor(`"dtype":"F32","shape":[2],"data_offsets":[0,4]`), 4, "has 4 bytes, want 8"},
		{"ends before its start", `{"v":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"w":{"dtype":"F32","shape":[0],"data_offsets":[4,0]}}`, 4, "before its start"},
		{"gap at the start", tensor(`"dtype":"F32","shape":[1],"data_offsets":[4,8]`), 8, "no gap"},
		{"overlap", `{"v":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"w":{"dtype":"U8","shape":[2],"data_offsets":[3,5]}}`, 5, "no overlap"},
		{"data too short", tensor(whole), 3, "truncated"},
		{"data too long", tensor(whole), 5, "want no more"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := decodeFile(raw(tc.header, tc.data))
			if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want ErrFormat with %q", err, tc.want)
			}
		})
	}
	for n := range 8 {
		if _, err := decodeFile(make([]byte, n)); !errors.Is(err, ErrFormat) {
			t.Errorf("a file of %d bytes: %v", n, err)
		}
	}
	for _, length := range []uint64{3, maxHeader, maxHeader + 1, math.MaxInt64, math.MaxUint64} {
		data := append(binary.LittleEndian.AppendUint64(nil, length), "{}"...)
		if _, err := decodeFile(data); !errors.Is(err, ErrFormat) {
			t.Errorf("a header length of %d in a file of %d bytes: %v", length, len(data), err)
		}
	}
	if _, err := Read(strings.NewReader("{}"), 1<<60); !errors.Is(err, ErrFormat) {
		t.Errorf("a size far beyond the reader: %v", err)
	}
}

// brokenReader fails from byte `from` on, but knows its last byte.
type brokenReader struct {
	data []byte
	from int64
}

func (r brokenReader) ReadAt(p []byte, offset int64) (int, error) {
	if len(p) > 1 && offset+int64(len(p)) > r.from {
		return 0, io.ErrNoProgress
	}
	return bytes.NewReader(r.data).ReadAt(p, offset)
}

func TestReadReportsABrokenDisk(t *testing.T) {
	data := encodeFile(t, sample())
	for _, from := range []int64{0, 8, int64(len(data)) - 1} {
		if _, err := Read(brokenReader{data, from}, int64(len(data))); !errors.Is(err, io.ErrNoProgress) {
			t.Errorf("broken from byte %d on: %v", from, err)
		}
	}
}

// No excuses: any changed byte is found, white space in the header included.
func TestEveryChangedByteIsFound(t *testing.T) {
	data := encodeFile(t, sample())
	for at := range data {
		for _, flip := range []byte{0x01, 0x20, 0x80, 0xff} {
			altered := bytes.Clone(data)
			altered[at] ^= flip
			f, err := decodeFile(altered)
			if err == nil {
				err = f.Verify()
			}
			if err == nil {
				t.Fatalf("byte %d of %d, %q instead of %q: not found", at, len(data), altered[at], data[at])
			}
			if !errors.Is(err, ErrFormat) && !errors.Is(err, ErrChecksum) {
				t.Fatalf("byte %d: %v wraps neither ErrFormat nor ErrChecksum", at, err)
			}
		}
	}
}

func TestEveryTruncationIsFound(t *testing.T) {
	data := encodeFile(t, sample())
	for n := range data {
		if _, err := decodeFile(data[:n]); !errors.Is(err, ErrFormat) {
			t.Fatalf("the first %d of %d bytes: %v", n, len(data), err)
		}
	}
	if _, err := decodeFile(append(data, 0)); !errors.Is(err, ErrFormat) {
		t.Errorf("one byte too many: %v", err)
	}
}

func TestVerifyRefuses(t *testing.T) {
	sum := func(value string) []byte { return raw(`{"__metadata__":{"checksum":`+value+`}}`, 0) }
	zeros := strings.Repeat("0", 64)
	for _, tc := range []struct {
		name string
		data []byte
		want string
	}{
		{"wrong", sum(`"` + zeros + `"`), "the file was altered"},
		{"too short", sum(`"` + zeros[1:] + `"`), "has no"},
		{"escaped", sum(`"\u0030` + zeros[1:] + `"`), "has no"},
		{"escaped to the right length", sum(`"\u0030` + zeros[6:] + `"`), "has no"},
		{"absent", raw("{}", 0), "has no"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, err := decodeFile(tc.data)
			if err != nil {
				t.Fatal(err)
			}
			if err := f.Verify(); !errors.Is(err, ErrChecksum) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want ErrChecksum with %q", err, tc.want)
			}
		})
	}
	if err := sample().Verify(); !errors.Is(err, ErrChecksum) {
		t.Errorf("a file made in memory: %v", err)
	}
}

func TestTensorNotThere(t *testing.T) {
	f := &File{}
	for i := range 10 {
		f.Tensors = append(f.Tensors, New[byte](fmt.Sprint("t", i), nil, 0))
	}
	_, err := f.Tensor("weight")
	if err == nil || !strings.Contains(err.Error(), `no tensor "weight"; the file has 10: "t0", "t1"`) || !strings.HasSuffix(err.Error(), `"t7", ...`) {
		t.Error(err)
	}
}

// FuzzRead: whatever the bytes, Read returns or refuses, what it returns obeys
// the layout, and writing it gives a file that reads and verifies.
func FuzzRead(f *testing.F) {
	f.Add(encodeFile(f, sample()))
	f.Add(raw(`{"b":{"shape":[1,1],"data_offsets":[1,5],"dtype":"F32"},"a":{"dtype":"BOOL","shape":[],"data_offsets":[0,1]}}`, 5))
	f.Add(raw(`{"__metadata__":{"a":"\ud800"},"\u0000":{"dtype":"F16","shape":[0,18446744073709551615],"data_offsets":[0,0]}}`, 0))
	f.Add([]byte("label,text\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := decodeFile(data)
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Errorf("%v does not wrap ErrFormat", err)
			}
			return
		}
		total := 8 + len(file.header)
		for i := range file.Tensors {
			tensor := &file.Tensors[i]
			if err := tensor.check(); err != nil {
				t.Error(err)
			}
			if _, err := tensor.Float32s(); err == nil && tensor.DType != F32 && tensor.DType != F16 && tensor.DType != BF16 {
				t.Errorf("%s read as float32", tensor.DType)
			}
			total += len(tensor.Data)
		}
		if total != len(data) {
			t.Errorf("header and tensors have %d bytes, the file %d", total, len(data))
		}
		again, err := decodeFile(encodeFile(t, file))
		if err != nil {
			t.Fatal(err)
		}
		if err := again.Verify(); err != nil {
			t.Error(err)
		}
		if len(again.Tensors) != len(file.Tensors) || len(again.Metadata) < len(file.Metadata) {
			t.Error("content was lost on the way")
		}
	})
}

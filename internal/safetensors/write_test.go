package safetensors

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// sample has each type once, in an order that is not the file's.
func sample() *File {
	return &File{
		Tensors: []Tensor{
			New("vocabulary", []byte("new\nold"), 7),
			New("weight", []float32{1, -2.5, 3, float32(math.Inf(1)), 0, 1e-40}, 2, 3),
			New("bias", []float32{0.5, 0.25}, 2),
			New("counts", []int32{-1, math.MaxInt32}, 2),
			New("mean", []float64{math.Pi}),
			New("seed", []int64{math.MinInt64}, 1),
			New[float32]("none", nil, 0, 5),
		},
		Metadata: map[string]string{"format_version": "1", "labels": `["a \"b\"","\u00fc\tü"]`, "": "empty key"},
	}
}

func encodeFile(t testing.TB, f *File) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func decodeFile(data []byte) (*File, error) { return Read(bytes.NewReader(data), int64(len(data))) }

// What the Python library writes for save({"w": ..., "b": ..., "id": ...}):
// widest type first, then by name, no white space, spaces to a multiple of 8.
func TestHeaderIsThatOfPython(t *testing.T) {
	for _, tc := range []struct {
		name     string
		tensors  []Tensor
		metadata map[string]string
		want     string
	}{
		{"nothing", nil, nil, "{}      "},
		{"metadata only", nil, map[string]string{"format": "pt"}, `{"__metadata__":{"format":"pt"}}`},
		{"one tensor, no padding needed", []Tensor{New("attn.0", make([]float32, 6), 1, 2, 3)}, nil,
			`{"attn.0":{"dtype":"F32","shape":[1,2,3],"data_offsets":[0,24]}}`},
		{"types before names", []Tensor{
			New("a", []byte{1}, 1), New("c", []float32{1}), New("b", []float32{1}, 1), New("z", []float64{1}, 1), New("y", []int64{1}, 1),
		}, map[string]string{"b": "2", "a": "1"},
			`{"__metadata__":{"a":"1","b":"2"},` +
				`"y":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},` +
				`"z":{"dtype":"F64","shape":[1],"data_offsets":[8,16]},` +
				`"b":{"dtype":"F32","shape":[1],"data_offsets":[16,20]},` +
				`"c":{"dtype":"F32","shape":[],"data_offsets":[20,24]},` +
				`"a":{"dtype":"U8","shape":[1],"data_offsets":[24,25]}}`},
		{"only what must be escaped is", nil, map[string]string{"k": "\"\\/<>&\u2028ü\b\f\n\r\t\x00\x1f\x7f"},
			"{\"__metadata__\":{\"k\":\"\\\"\\\\/<>&\u2028ü\\b\\f\\n\\r\\t\\u0000\\u001f\x7f\"}}"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			sorted, _, err := prepare(&File{Tensors: tc.tensors})
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := encodeHeader(sorted, tc.metadata)
			if err != nil {
				t.Fatal(err)
			}
			for len(tc.want)%8 != 0 {
				tc.want += " "
			}
			if string(got) != tc.want {
				t.Errorf("got\n%s, want\n%s", got, tc.want)
			}
			if !json.Valid(got) {
				t.Error("the header is not JSON")
			}
		})
	}
}

func TestRoundTrip(t *testing.T) {
	want := sample()
	data := encodeFile(t, want)
	got, err := decodeFile(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := got.Verify(); err != nil {
		t.Error(err)
	}
	if len(got.Tensors) != len(want.Tensors) {
		t.Errorf("%d tensors, want %d", len(got.Tensors), len(want.Tensors))
	}
	for _, w := range want.Tensors {
		g, err := got.Tensor(w.Name)
		if err != nil {
			t.Fatal(err)
		}
		if g.DType != w.DType || !slices.Equal(g.Shape, w.Shape) || !bytes.Equal(g.Data, w.Data) {
			t.Errorf("tensor %q: got %v, want %v", w.Name, *g, w)
		}
	}
	if _, there := want.Metadata[ChecksumKey]; there {
		t.Error("Write changed the metadata of its argument")
	}
	withoutSum := maps.Clone(got.Metadata)
	delete(withoutSum, ChecksumKey)
	delete(withoutSum, CRCKey)
	if !maps.Equal(withoutSum, want.Metadata) {
		t.Errorf("metadata %v, want %v", withoutSum, want.Metadata)
	}
	if again := encodeFile(t, got); !bytes.Equal(again, data) {
		t.Error("writing what was read gives other bytes")
	}
	slices.Reverse(want.Tensors)
	if again := encodeFile(t, want); !bytes.Equal(again, data) {
		t.Error("the order of the tensors changes the bytes")
	}
}

// The package comment promises that anybody can compute the checksums.
func TestChecksumAsDocumented(t *testing.T) {
	data := encodeFile(t, sample())
	f, err := decodeFile(data)
	if err != nil {
		t.Fatal(err)
	}
	digits := f.Metadata[ChecksumKey]
	crc := f.Metadata[CRCKey]
	zeroed := bytes.Replace(data, []byte(crc), []byte(strings.Repeat("0", 8)), 1)
	if want := fmt.Sprintf("%08x", crc32.Checksum(zeroed, crc32.MakeTable(crc32.Castagnoli))); crc != want {
		t.Errorf("CRC %s, want %s", crc, want)
	}
	zeroed = bytes.Replace(zeroed, []byte(digits), []byte(strings.Repeat("0", 64)), 1)
	want := sha256.Sum256(zeroed)
	if digits != hex.EncodeToString(want[:]) {
		t.Errorf("checksum %s, want %x", digits, want)
	}
	if n := binary.LittleEndian.Uint64(data); n%8 != 0 || data[8] != '{' {
		t.Errorf("header of %d bytes that starts with %q, want a multiple of 8 and '{'", n, data[8])
	}
}

func TestTensorsAreAligned(t *testing.T) {
	data := encodeFile(t, sample())
	f, _ := decodeFile(data)
	at := 8 + len(f.header)
	for _, tensor := range f.Tensors {
		if at%tensor.DType.Size() != 0 {
			t.Errorf("tensor %q of %s starts at byte %d of the file", tensor.Name, tensor.DType, at)
		}
		at += len(tensor.Data)
	}
}

func TestWriteRefuses(t *testing.T) {
	one := []float32{1}
	for _, tc := range []struct {
		name string
		file File
		want string
	}{
		{"same name twice", File{Tensors: []Tensor{New("w", one, 1), New("w", []byte{1}, 1)}}, "is taken"},
		{"reserved name", File{Tensors: []Tensor{New("__metadata__", one, 1)}}, "is taken"},
		{"shape too large", File{Tensors: []Tensor{New("w", one, 2)}}, "4 bytes of data, want 8"},
		{"shape overflows", File{Tensors: []Tensor{New("w", one, 1<<31, 1<<31, 2)}}, "more than"},
		{"negative shape", File{Tensors: []Tensor{New("w", one, -1, -1)}}, "negative"},
		{"many dimensions", File{Tensors: []Tensor{New("w", one, make([]int, 65)...)}}, "at most 64"},
		{"unknown type", File{Tensors: []Tensor{{Name: "w", DType: "F4"}}}, `unknown dtype "F4"`},
		{"name not UTF-8", File{Tensors: []Tensor{New("\xff", one, 1)}}, "UTF-8"},
		{"metadata not UTF-8", File{Metadata: map[string]string{"k": "\xc3"}}, "UTF-8"},
		{"header too long", File{Metadata: map[string]string{"k": strings.Repeat("x", maxHeader)}}, "at most 100000000"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var b bytes.Buffer
			err := Write(&b, &tc.file)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an error with %q", err, tc.want)
			}
			if b.Len() > 0 {
				t.Errorf("%d bytes were written", b.Len())
			}
		})
	}
}

// limitedWriter fails after so many bytes, like a full disk.
type limitedWriter struct{ left int }

var errFull = errors.New("disk full")

func (w *limitedWriter) Write(p []byte) (int, error) {
	if len(p) > w.left {
		return w.left, errFull
	}
	w.left -= len(p)
	return len(p), nil
}

func TestWriteReportsAFullDisk(t *testing.T) {
	whole := len(encodeFile(t, sample()))
	for n := range whole {
		if err := Write(&limitedWriter{n}, sample()); !errors.Is(err, errFull) {
			t.Fatalf("room for %d of %d bytes: got %v", n, whole, err)
		}
	}
	if err := Write(&limitedWriter{whole}, sample()); err != nil {
		t.Error(err)
	}
}

func TestEqualContentGivesEqualBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	f := &File{Metadata: map[string]string{}}
	for i := range 40 {
		name := string(rune('a'+i%26)) + strings.Repeat("x", i)
		f.Tensors = append(f.Tensors, New(name, []int32{int32(i)}, 1))
		f.Metadata[name] = name
	}
	want := encodeFile(t, f)
	for range 10 {
		rng.Shuffle(len(f.Tensors), func(i, j int) { f.Tensors[i], f.Tensors[j] = f.Tensors[j], f.Tensors[i] })
		f.Metadata = maps.Collect(maps.All(f.Metadata))
		if !bytes.Equal(encodeFile(t, f), want) {
			t.Fatal("other bytes for the same content")
		}
	}
}

// A tensor in pieces is written as one in a row.
func TestJoined(t *testing.T) {
	whole := &File{Tensors: []Tensor{New("x", []int32{1, 2, 3, 4}, 4), New("y", []uint16{5}, 1)}}
	parts := &File{Tensors: []Tensor{Joined("x", []int32{1}, nil, []int32{2, 3, 4}), Joined("y", []uint16{5})}}
	if got := encodeFile(t, parts); !bytes.Equal(got, encodeFile(t, whole)) {
		t.Errorf("pieces are written as %q", got)
	}
	parts.Tensors[0].Shape = []int{5}
	if err := Write(io.Discard, parts); err == nil {
		t.Error("pieces of another length than the shape, and no error")
	}
}

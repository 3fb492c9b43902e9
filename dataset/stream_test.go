package dataset

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// generator gives head once and then line after line until size bytes are out,
// keeping none.
type generator struct {
	head string
	line func(i int) string
	size int
	i    int
	rest []byte
}

func (g *generator) Read(p []byte) (int, error) {
	if g.rest == nil {
		g.rest = []byte(g.head)
	}
	for len(g.rest) == 0 {
		if g.size <= 0 {
			return 0, io.EOF
		}
		g.rest = append(g.rest[:0], g.line(g.i)...)
		g.i++
		g.size -= len(g.rest)
	}
	n := copy(p, g.rest)
	g.rest = g.rest[n:]
	return n, nil
}

// 50 MB pass through while the live heap, measured after a collection every
// few thousand examples, stays within 4 MB of where it was.
func TestMemoryDoesNotGrow(t *testing.T) {
	text := strings.Repeat("words of some length, ", 200) // 4.4 kB a row
	plain := strings.ReplaceAll(text[:1000], ",", "")
	var names, numbers, pairs strings.Builder
	for i := range 600 {
		fmt.Fprintf(&names, ",c%d", i)
		fmt.Fprintf(&numbers, ",%d.25", i)
		fmt.Fprintf(&pairs, " %d:0.5", i+1)
	}
	for _, tc := range []struct {
		name, head string
		line       func(i int) string
		size       int
	}{
		{"text.csv", "text,label\n", func(i int) string { return "\"" + text + "\n\"\"\",l" + strconv.Itoa(i%100) + "\n" }, 50 << 20},
		{"labels.csv", "text,label\n", func(i int) string { return "a," + strconv.Itoa(i) + plain + "\n" }, 50 << 20}, // no label twice
		{"text.jsonl", "", func(i int) string { return "{\"text\":\"" + text + "\\n\",\"label\":" + strconv.Itoa(i%100) + "}\n" }, 50 << 20},
		{"text.ft", "", func(i int) string { return "__label__" + strconv.Itoa(i%100) + " " + text + "\n" }, 20 << 20},
		{"pairs.svm", "", func(i int) string { return strconv.Itoa(i%100) + pairs.String() + "\n" }, 20 << 20},
		{"numbers.csv", "label" + names.String() + "\n", func(i int) string { return strconv.Itoa(i%100) + numbers.String() + "\n" }, 20 << 20},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := &generator{head: tc.head, line: tc.line, size: tc.size}
			r, err := NewReader(g, tc.name, Options{})
			if err != nil {
				t.Fatal(err)
			}
			base, peak, rows := heap(), uint64(0), 0
			for _, err := range r.All() {
				if err != nil {
					t.Fatal(err)
				}
				if rows++; rows%1500 == 0 {
					peak = max(peak, heap())
				}
			}
			if peak == 0 || peak > base+4<<20 {
				t.Errorf("%d rows: heap %d kB at first, %d kB at the peak", rows, base>>10, peak>>10)
			}
		})
	}
}

// heap returns the bytes that live after a collection.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A few bytes that unpack to a line without end are refused at the limit.
func TestPackedBomb(t *testing.T) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	fmt.Fprint(w, "text,label\na,")
	zeros := make([]byte, 1<<20)
	for range 40 {
		w.Write(zeros)
	}
	w.Close()
	_, _, err := readText(b.String(), "a.csv.gz", Options{MaxRecord: 8 << 20})
	if err == nil || !strings.Contains(err.Error(), "a.csv.gz:2: line is longer than 8388608 bytes") {
		t.Error(err)
	}
	// A zstd frame that asks for a window of 1 GB.
	_, _, err = readText("\x28\xb5\x2f\xfd\x00\xa0\x01\x00\x00", "a.csv.zst", Options{})
	if err == nil || !strings.Contains(err.Error(), "a.csv.zst: packed with zstd for a window of other than") {
		t.Errorf("a window of 1 GB: %v", err)
	}
}

// What pzstd writes begins with a frame to be skipped.
func TestParallelZstd(t *testing.T) {
	data := append([]byte("\x50\x2a\x4d\x18\x04\x00\x00\x00size"), zstandard([]byte("label,text\nash,grey bark\n"))...)
	if got, _, err := readText(string(data), "a.csv.zst", Options{}); err != nil || len(got) != 1 || got[0].Text != "grey bark" {
		t.Errorf("%+v, %v", got, err)
	}
}

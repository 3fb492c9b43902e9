package console

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/treeloss/treeloss/softmax"
)

func TestTrainLine(t *testing.T) {
	half := softmax.Progress{Step: 5, Loss: 0.25, Fraction: 0.5}
	for _, tc := range []struct {
		name     string
		p        softmax.Progress
		took     time.Duration
		examples int
		want     string
	}{
		{"too early for a rate", half, time.Millisecond, 100, "names [============            ]  50 %  step 5  loss 0.2500"},
		{"rate and time left", half, 8 * time.Second, 100, "names [============            ]  50 %  step 5  loss 0.2500  50 rows/s  8s left"},
		{"a stream, within its first epoch", softmax.Progress{Step: 1, Rows: 400, Loss: 0.25, Fraction: 0.5}, 8 * time.Second, 100, "names [============            ]  50 %  step 1  loss 0.2500  50 rows/s  8s left"},
		{"no rows to count", half, 8 * time.Second, 0, "names [============            ]  50 %  step 5  loss 0.2500  8s left"},
		{"done", softmax.Progress{Step: 2, Fraction: 1}, time.Second, 0, "names [========================] 100 %  step 2  loss 0.0000"},
	} {
		if got := trainLine("names", tc.p, tc.took, tc.examples); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestBytesLine(t *testing.T) {
	for _, tc := range []struct {
		name        string
		bytes, size int64
		took        time.Duration
		want        string
	}{
		{"just begun", 0, 4e6, 0, "reading [                        ]   0 %  0 MB"},
		{"half", 2e6, 4e6, 2 * time.Second, "reading [============            ]  50 %  2 MB  1 MB/s  2s left"},
		{"no size", 2e6, 0, 2 * time.Second, "reading  2 MB  1 MB/s"},
		{"a file that grew", 5e6, 4e6, time.Millisecond, "reading [========================] 100 %  5 MB"},
	} {
		if got := bytesLine(tc.bytes, tc.size, tc.took); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestBarIsWiped(t *testing.T) {
	var log bytes.Buffer
	b := &Bar{Out: &log}
	line := func(text string) func(time.Duration) string { return func(time.Duration) string { return text } }
	b.Draw(true, line("a long line"))
	b.Draw(true, line("short"))
	b.Draw(false, line("too early"))
	b.End()
	b.End()
	b.Draw(true, line("too late"))
	if got, want := log.String(), "\ra long line\rshort      \r     \r"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestNoBarWithoutATerminal(t *testing.T) {
	var log bytes.Buffer
	b := NewBar(&log)
	b.Train("names", softmax.Progress{Step: 1, Fraction: 1})
	b.Rows(1, 1)
	b.Bytes(1)
	b.End()
	if log.Len() > 0 {
		t.Errorf("%q in a log that is no terminal", log.String())
	}
}

func TestTableLinesUp(t *testing.T) {
	var out strings.Builder
	table := NewTable(&out, "class", "n")
	table.Row("größe", "10")
	table.Row("a\tb", "9")
	table.Flush()
	if got, want := out.String(), "class   n\ngröße  10\na\\tb    9\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

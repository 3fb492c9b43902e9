package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/treeloss/treeloss/softmax"
)

func TestBarLine(t *testing.T) {
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
		if got := barLine("names", tc.p, tc.took, tc.examples); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestBarIsWiped(t *testing.T) {
	var log bytes.Buffer
	b := &progress{app: &app{log: &log}}
	b.draw("a long line")
	b.draw("short")
	b.done()
	b.done()
	if got, want := log.String(), "\ra long line\rshort      \r     \r"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestNoBarWithoutATerminal(t *testing.T) {
	var log bytes.Buffer
	b := &progress{app: &app{log: &log}}
	b.report("names", softmax.Progress{Step: 1, Fraction: 1})
	if log.Len() > 0 {
		t.Errorf("%q in a log that is no terminal", log.String())
	}
}

func TestTableLinesUp(t *testing.T) {
	var out strings.Builder
	table := newTable(&out, "class", "n")
	table.row("größe", "10")
	table.row("a\tb", "9")
	table.flush()
	if got, want := out.String(), "class   n\ngröße  10\na\\tb    9\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

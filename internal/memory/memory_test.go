package memory

import (
	"math"
	"runtime/debug"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]int64{
		"4G": 4e9, "4g": 4e9, "4 GB": 4e9, "4GiB": 4 << 30, "1.5G": 1.5e9, "512M": 512e6, "512mib": 512 << 20,
		"2T": 2e12, "100k": 1e5, "123456789": 123456789, "0": 0,
	} {
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "G", "much", "-1G", "4X", "NaN", "Inf", "1e300G", "4GG"} {
		if got, err := Parse(text); err == nil || !strings.Contains(err.Error(), "such as 4G") {
			t.Errorf("%q: %d, %v, want an error that says how", text, got, err)
		}
	}
}

func TestText(t *testing.T) {
	for bytes, want := range map[int64]string{1.66e9: "1.7 GB", 350e6: "350 MB", 1: "1 MB", 0: "0 MB", 2.04e12: "2.0 TB", 9.6e8: "1.0 GB"} {
		if got := Text(bytes); got != want {
			t.Errorf("%d: %q, want %q", bytes, got, want)
		}
	}
}

func TestMachineHasMemory(t *testing.T) {
	if n := Machine(); n < Least {
		t.Errorf("%d bytes, want at least %d", n, int64(Least))
	}
	if got := Budget(5e9); got != 5e9 {
		t.Errorf("a budget of 5 GB became %d", got)
	}
	if got, most := Budget(0), max(Machine()/2, Least); got != most {
		t.Errorf("the default is %d, want %d", got, most)
	}
}

func TestKeepIsUndone(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	undo := Keep(1e9)
	if got := debug.SetMemoryLimit(-1); got > 1e9 {
		t.Errorf("the limit is %d, want at most 1e9", got)
	}
	Keep(math.MaxInt64)() // more than what holds already changes nothing
	if got := debug.SetMemoryLimit(-1); got > 1e9 {
		t.Errorf("a looser budget raised the limit to %d", got)
	}
	undo()
	if got := debug.SetMemoryLimit(-1); got != before {
		t.Errorf("the limit is %d, was %d before", got, before)
	}
}

// Package memory tells how many bytes this process may use, reads and writes such
// sizes as people do, and keeps to a budget of them.
package memory

import (
	"fmt"
	"math"
	"runtime/debug"
	"strconv"
	"strings"
)

// Least is the smallest budget that makes sense: the program itself and its
// buffers take a part of it.
const Least = 64 << 20

// unknown is taken for the memory of a machine that does not tell.
const unknown = 8e9

// Machine returns the bytes that this process can have at most: the memory of the
// machine, or what its container (cgroups 1 and 2) or a limit of its address space
// (ulimit -v) allows where that is less.
func Machine() int64 {
	n := machine()
	if n <= 0 {
		return unknown
	}
	return n
}

// Budget returns n, or half of Machine where n is 0.
func Budget(n int64) int64 {
	if n > 0 {
		return n
	}
	return max(Machine()/2, Least)
}

// Keep makes the garbage collector work harder before the process grows beyond a
// budget, and returns what undoes it. A lower limit that is set already (GOMEMLIMIT)
// stays.
func Keep(budget int64) (undo func()) {
	// Some of what the system counts is no memory of Go's: the program's code, its
	// stacks, pages not yet given back.
	limit := budget - budget/16
	old := debug.SetMemoryLimit(-1)
	if limit >= old {
		return func() {}
	}
	debug.SetMemoryLimit(limit)
	return func() { debug.SetMemoryLimit(old) }
}

// units are those that Parse knows, in lower case and without a B at the end.
var units = []struct {
	name  string
	bytes float64
}{{"ki", 1 << 10}, {"mi", 1 << 20}, {"gi", 1 << 30}, {"ti", 1 << 40}, {"k", 1e3}, {"m", 1e6}, {"g", 1e9}, {"t", 1e12}}

// Parse reads a size such as 4G, 512 MB, 1.5GiB or 4000000000. Units are powers of
// 1000; with an i, as in GiB, of 1024.
func Parse(text string) (int64, error) {
	number, factor := strings.TrimSuffix(strings.ToLower(strings.TrimSpace(text)), "b"), 1.0
	for _, u := range units {
		if rest, ok := strings.CutSuffix(number, u.name); ok {
			number, factor = rest, u.bytes
			break
		}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if n *= factor; err != nil || !(n >= 0) || n >= math.MaxInt64 {
		return 0, fmt.Errorf("%q is no size; write a number and a unit, such as 4G or 512M", text)
	}
	return int64(n), nil
}

// Text returns a size in words: "1.7 GB", "350 MB".
func Text(bytes int64) string {
	for _, u := range []struct {
		name  string
		bytes float64
	}{{"TB", 1e12}, {"GB", 1e9}} {
		if x := float64(bytes) / u.bytes; x >= 0.95 {
			return strconv.FormatFloat(x, 'f', 1, 64) + " " + u.name
		}
	}
	return strconv.FormatFloat(math.Ceil(float64(bytes)/1e6), 'f', 0, 64) + " MB"
}

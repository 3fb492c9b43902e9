package kernel

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// checkCombine runs CombineRows and, where the rows follow each other,
// CombineAllRows on every kind and compares them with float64 and each other.
func checkCombine(t *testing.T, index []int32, value, rows []float32, stride int, start []float32, makeY func(int) []float32) {
	t.Helper()
	follow := true
	want, size := as64(start), magnitude(as64(start))
	for n, i := range index {
		follow = follow && int(i) == n
		for j := range want {
			p := float64(value[n]) * float64(rows[int(i)*stride+j])
			want[j] += p
			size[j] += math.Abs(p)
		}
	}
	var vector []float32
	for _, k := range kinds() {
		for _, all := range []bool{false, true}[:1+btoi(follow)] {
			name := fmt.Sprintf("kind=%v all=%v nonzeros=%d stride=%d cols=%d", k, all, len(index), stride, len(start))
			y := makeY(len(start))
			copy(y, start)
			if all {
				combineAllRows32(k, value[:len(index)], rows, stride, y)
			} else {
				combineRows32(k, index, value, rows, stride, y)
			}
			checkFence(t, name, y)
			for j := range y {
				if finite := size[j] < math.MaxFloat32; finite {
					checkSum(t, fmt.Sprintf("%s [%d]", name, j), y[j], want[j], size[j], len(index)+1)
				}
				if vector != nil && !same(y[j], vector[j]) {
					t.Fatalf("%s [%d]: %g, earlier kind %g", name, j, y[j], vector[j])
				}
			}
			if k != plain {
				vector = append([]float32{}, y...)
			}
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestCombineRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	makeRows, makeValue, makeY := guarded(t, 12*1200), guarded(t, 60), guarded(t, 1100)
	widths := []int{400, 511, 512, 513, 768, 1000, 1024, 1100}
	for cols := range 300 {
		widths = append(widths, cols)
	}
	for _, cols := range widths {
		for _, nonzeros := range []int{0, 1, 2 + rng.IntN(50)} {
			wild := rng.IntN(2) == 0
			stride := cols + rng.IntN(2)*rng.IntN(40)
			count := 1 + rng.IntN(12)
			// The last row ends where the array does.
			rows := makeRows((count-1)*stride + cols)
			value, start := makeValue(nonzeros), make([]float32, cols)
			fill(rng, rows, wild)
			fill(rng, value, wild)
			fill(rng, start, wild)
			index := make([]int32, nonzeros)
			for n := range index {
				index[n] = int32(rng.IntN(count))
			}
			checkCombine(t, index, value, rows, stride, start, makeY)
			for n := range min(nonzeros, count) {
				index[n] = int32(n)
			}
			checkCombine(t, index[:min(nonzeros, count)], value, rows, stride, start, makeY)
		}
	}
}

// A column must not depend on how many others there are: panels of y differ.
func TestCombineRowsColumnsAreIndependent(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	const cols, count = 600, 9
	rows, value := make([]float32, cols*count), make([]float32, count)
	fill(rng, rows, false)
	fill(rng, value, false)
	for _, k := range kinds() {
		whole := make([]float32, cols)
		combineAllRows32(k, value, rows, cols, whole)
		for n := 1; n < cols; n += 37 {
			part := make([]float32, n)
			combineAllRows32(k, value, rows[cols-n:], cols, part)
			for j := range part {
				if part[j] != whole[cols-n+j] && k != plain {
					t.Fatalf("kind=%v: column %d of the last %d is %g, of all %g", k, j, n, part[j], whole[cols-n+j])
				}
			}
		}
	}
}

func TestCombineRowsOutsidePanics(t *testing.T) {
	for _, cols := range []int{1, 3, 20, 300} {
		rows := make([]float32, 4*cols)
		for _, tc := range []struct {
			name   string
			index  int32
			rows   []float32
			stride int
		}{
			{"one row too far", 4, rows, cols},
			{"negative", -1, rows, cols},
			{"far away", math.MaxInt32, rows, cols},
			{"far below", math.MinInt32, rows, cols},
			{"within the capacity only", 3, rows[: 4*cols-1 : 4*cols], cols},
			{"array shorter than a row", 0, rows[: cols-1 : cols], cols},
			{"no rows", 0, nil, cols},
			{"last row cut short by the stride", 3, rows, cols + 1},
		} {
			for _, k := range kinds()[1:] {
				mustPanic(t, fmt.Sprintf("%s cols=%d kind=%v", tc.name, cols, k), func() {
					combineRows32(k, []int32{0, tc.index}, make([]float32, 2), tc.rows, tc.stride, make([]float32, cols))
				})
				if tc.index >= 0 && tc.index < 10 {
					mustPanic(t, fmt.Sprintf("all: %s cols=%d kind=%v", tc.name, cols, k), func() {
						combineAllRows32(k, make([]float32, tc.index+1), tc.rows, tc.stride, make([]float32, cols))
					})
				}
			}
		}
		mustPanic(t, "values missing", func() {
			CombineRows([]int32{0, 1}, make([]float32, 1), rows, cols, make([]float32, cols))
		})
	}
}

// floatsOf reads float32 numbers from fuzz input.
func floatsOf(data []byte) []float32 {
	x := make([]float32, len(data)/4)
	for i := range x {
		x[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return x
}

func FuzzCombineRows(f *testing.F) {
	f.Add(uint64(1), uint16(77), uint8(30), uint8(3), []byte("0123456789abcdef"))
	f.Add(uint64(2), uint16(300), uint8(1), uint8(0), []byte{})
	f.Add(uint64(3), uint16(17), uint8(200), uint8(200), []byte("\x00\x00\x80\x7f\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, seed uint64, cols uint16, nonzeros, gap uint8, data []byte) {
		rng := rand.New(rand.NewPCG(seed, 0))
		stride, width := int(cols)%700+int(gap), int(cols)%700
		count := 1 + rng.IntN(6)
		rows := guarded(t, 6*1000)((count-1)*stride + width)
		value, start := make([]float32, nonzeros), make([]float32, width)
		fill(rng, rows, seed%2 == 0)
		fill(rng, value, seed%3 == 0)
		copy(rows, floatsOf(data)) // any bits, NaN and Inf included
		index := make([]int32, nonzeros)
		for n := range index {
			index[n] = int32(rng.IntN(count))
		}
		checkCombine(t, index, value, rows, stride, start, guarded(t, 700))
	})
}

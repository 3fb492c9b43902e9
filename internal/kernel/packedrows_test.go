package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/treeloss/treeloss/internal/half"
)

// packedRows makes random packed rows of some widths, with where each begins and its
// numbers.
func packedRows(random *rand.Rand, count, width int, density float64) (rows []uint16, at []int32, dense [][PackedWidth]uint16) {
	for range count {
		at = append(at, int32(len(rows)))
		var place []uint8
		var value []uint16
		var full [PackedWidth]uint16
		for c := range width {
			if random.Float64() < density {
				v := half.Round(float32(random.NormFloat64()))
				place, value, full[c] = append(place, uint8(c)), append(value, v), v
			}
		}
		rows, dense = AppendPackedRow(rows, place, value), append(dense, full)
	}
	for range PackedSlack {
		rows = append(rows, uint16(random.Uint32())) // what is behind the last row counts for nothing
	}
	return rows, at, dense
}

// Every kind adds the same bits, which are those of plain sums.
func TestAddPackedRows(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 2))
	for _, width := range []int{1, 7, 16, 17, 101, 255, 256} {
		for _, density := range []float64{0, 0.02, 0.5, 1} {
			for _, large := range []bool{false, true} {
				rows, at, dense := packedRows(random, 23, width, density)
				order := append(random.Perm(len(at)), 3, 3, 3)
				var from []int32
				var x []float32
				var want [PackedWidth]float32
				for c := range want {
					want[c] = float32(random.NormFloat64())
				}
				start := want
				for _, r := range order {
					f := float32(random.NormFloat64())
					if large {
						f *= 0x1p20
					}
					from, x = append(from, at[r]), append(x, f)
					for c, v := range dense[r] {
						want[c] += float32(f * half.Float32(v))
					}
				}
				for _, k := range kinds() {
					if large && k != plain {
						continue // AddPackedRows leaves these to plain Go
					}
					got := start
					addPackedRows32(k, &got, from, x, rows)
					if got != want {
						t.Fatalf("%v, width %d, density %v: %v, want %v", k, width, density, got, want)
					}
				}
				got := start
				AddPackedRows(&got, from, x, rows)
				if got != want {
					t.Fatalf("width %d, density %v: %v, want %v", width, density, got, want)
				}
			}
		}
	}
}

// Nothing beyond the slack is read.
func TestAddPackedRowsStaysInside(t *testing.T) {
	rows, at, _ := packedRows(rand.New(rand.NewPCG(1, 1)), 5, 200, 0.7)
	make32 := guarded(t, len(rows)/2+1)
	fenced := make32((len(rows) + 1) / 2)
	words := unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(fenced))), 2*len(fenced))
	copy(words[len(words)-len(rows):], rows)
	for _, k := range kinds() {
		var a, b [PackedWidth]float32
		x := []float32{1, 2, 3, 4, 5}
		addPackedRows32(k, &a, at, x, rows)
		addPackedRows32(k, &b, at, x, words[len(words)-len(rows):])
		if a != b {
			t.Errorf("%v: another place, another result", k)
		}
	}
}

func TestPackedRow(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	rows, at, dense := packedRows(random, 50, 200, 0.2)
	ends := append(slices.Clone(at[1:]), int32(len(rows)-PackedSlack))
	for r, from := range at {
		row := rows[from:ends[r]]
		if err := CheckPackedRow(row, 200); err != nil {
			t.Fatal(err)
		}
		place, value := UnpackRow(nil, row)
		var back [PackedWidth]uint16
		for i, c := range place {
			back[c] = value[i]
		}
		if back != dense[r] {
			t.Fatalf("row %d comes back as %v, want %v", r, back, dense[r])
		}
		if len(place) > 0 {
			if CheckPackedRow(row, int(place[len(place)-1])) == nil || CheckPackedRow(row[:len(row)-1], 200) == nil || CheckPackedRow(append(slices.Clone(row), 0), 200) == nil {
				t.Errorf("row %d: too wide, cut or too long, and no error", r)
			}
		}
	}
	if CheckPackedRow(nil, 5) == nil || CheckPackedRow([]uint16{1, 0}, 16) == nil || CheckPackedRow([]uint16{math.MaxUint16}, 256) == nil {
		t.Error("a row of nothing, an empty group or no masks, and no error")
	}
}

func TestAddPackedRowsOutside(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	rows, _, _ := packedRows(rand.New(rand.NewPCG(1, 1)), 2, 20, 1)
	AddPackedRows(new([PackedWidth]float32), []int32{int32(len(rows) - PackedSlack)}, []float32{1}, rows)
}

func BenchmarkAddPackedRows(b *testing.B) {
	rows, at, _ := packedRows(rand.New(rand.NewPCG(2, 2)), 200, 101, 0.55)
	x := make([]float32, len(at))
	for _, k := range kinds() {
		b.Run(fmt.Sprintf("kind=%v/rows=%d/width=101", k, len(at)), func(b *testing.B) {
			var y [PackedWidth]float32
			for b.Loop() {
				addPackedRows32(k, &y, at, x, rows)
			}
		})
	}
}

package kernel

import "testing"

// The advice changes no number, however the memory lies.
func TestHugePagesKeepNumbers(t *testing.T) {
	const most = 3 << 20
	all := make([]float32, most)
	for i := range all {
		all[i] = float32(i)
	}
	for _, bounds := range [][2]int{{0, 0}, {0, 1}, {5, 1 << 19}, {0, most}, {1, most}, {3, most - 7}} {
		HugePages(all[bounds[0]:bounds[1]])
	}
	HugePages[float64](nil)
	for i, x := range all {
		if x != float32(i) {
			t.Fatalf("number %d has become %v", i, x)
		}
	}
}

package half

import (
	"math"
	"testing"
)

// The values that IEEE 754-2019 names for binary16.
func TestFloat32(t *testing.T) {
	for h, want := range map[uint16]float64{
		0x3c00: 1, 0xc000: -2, 0x3555: 1365. / 4096, // the nearest to 1/3
		0x7bff: 65504,           // the largest
		0x0400: 0x1p-14,         // the smallest normal one
		0x0001: 0x1p-24,         // the smallest
		0x83ff: -1023 * 0x1p-24, // the largest subnormal one, negative
		0x7c00: math.Inf(1), 0xfc00: math.Inf(-1), 0: 0,
	} {
		if got := float64(Float32(h)); got != want {
			t.Errorf("%#04x is %v, want %v", h, got, want)
		}
	}
	if got := float64(Float32(0x8000)); got != 0 || !math.Signbit(got) {
		t.Errorf("0x8000 is %v, want -0", got)
	}
	if got := float64(Float32(0x7e00)); !math.IsNaN(got) {
		t.Errorf("0x7e00 is %v, want NaN", got)
	}
	// Positive numbers are in the order of their bits.
	for h := uint16(1); h <= 0x7c00; h++ {
		if !(float64(Float32(h)) > float64(Float32(h-1))) {
			t.Fatalf("%#04x is %v, not above %v", h, float64(Float32(h)), float64(Float32(h-1)))
		}
	}
}

// Round is the inverse of Float32, and of what lies between two numbers it takes the
// nearer one, in the middle the even one.
func TestRound(t *testing.T) {
	for h := range uint16(0x7c00) {
		x, next := Float32(h), float64(Float32(h+1))
		if got := Round(x); got != h {
			t.Fatalf("%v becomes %#04x, want %#04x", x, got, h)
		}
		if got := Round(-x); got != h|0x8000 {
			t.Fatalf("%v becomes %#04x, want %#04x", -x, got, h|0x8000)
		}
		if h == 0x7bff {
			next = 65536
		}
		middle := float32((float64(x) + next) / 2)
		if got, even := Round(middle), h+h&1; got != even {
			t.Fatalf("%v becomes %#04x, want the even one %#04x", middle, got, even)
		}
		if got := Round(math.Nextafter32(middle, 0)); got != h {
			t.Fatalf("just below %v: %#04x, want %#04x", middle, got, h)
		}
		if got := Round(math.Nextafter32(middle, 1e9)); got != h+1 {
			t.Fatalf("just above %v: %#04x, want %#04x", middle, got, h+1)
		}
	}
	if Round(float32(math.Inf(-1))) != 0xfc00 || Round(1e30) != 0x7c00 || Round(float32(math.NaN()))&0x7fff <= 0x7c00 {
		t.Error("infinities and NaN")
	}
}

// Finite differs from Float32 only where that is infinite or NaN.
func TestFinite(t *testing.T) {
	for n := range 1 << 16 {
		h := uint16(n)
		got, want := Finite(h), Float32(h)
		if h&0x7c00 == 0x7c00 {
			if size := math.Abs(float64(got)); size < 65536 || size > 131008 {
				t.Errorf("%#04x is %v", h, got)
			}
		} else if math.Float32bits(got) != math.Float32bits(want) {
			t.Errorf("%#04x is %v, want %v", h, got, want)
		}
	}
}

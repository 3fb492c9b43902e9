package safetensors

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/internal/half"
)

func TestTypedRoundTrip(t *testing.T) {
	f, err := decodeFile(encodeFile(t, sample()))
	if err != nil {
		t.Fatal(err)
	}
	get := func(name string) *Tensor {
		tensor, err := f.Tensor(name)
		if err != nil {
			t.Fatal(err)
		}
		return tensor
	}
	if x, err := get("weight").Float32s(); err != nil || !slices.Equal(x, []float32{1, -2.5, 3, float32(math.Inf(1)), 0, 1e-40}) {
		t.Error(x, err)
	}
	if x, err := get("none").Float32s(); err != nil || len(x) != 0 {
		t.Error(x, err)
	}
	if x, err := get("mean").Float64s(); err != nil || !slices.Equal(x, []float64{math.Pi}) {
		t.Error(x, err)
	}
	if x, err := get("counts").Int32s(); err != nil || !slices.Equal(x, []int32{-1, math.MaxInt32}) {
		t.Error(x, err)
	}
	if x, err := get("seed").Int64s(); err != nil || !slices.Equal(x, []int64{math.MinInt64}) {
		t.Error(x, err)
	}
	if x, err := get("vocabulary").Bytes(); err != nil || string(x) != "new\nold" {
		t.Error(x, err)
	}
	if _, err := get("mean").Float32s(); err == nil || !strings.Contains(err.Error(), `"mean" has type F64, want F32`) {
		t.Error(err)
	}
}

// The plain way, which big-endian machines and odd offsets take, is the other
// opinion on the way without a copy.
func TestCopyAgreesWithView(t *testing.T) {
	x := []float64{0, -1, math.Pi, math.SmallestNonzeroFloat64, math.Inf(-1)}
	if !bytes.Equal(toBytes(x), encode(x)) {
		t.Errorf("% x, want % x", toBytes(x), encode(x))
	}
	room := make([]byte, 1+8*len(x)+8)
	for shift := range 8 {
		data := room[shift : shift+8*len(x)]
		copy(data, encode(x))
		tensor := Tensor{Name: "x", DType: F64, Shape: []int{len(x)}, Data: data}
		got, err := tensor.Float64s()
		if err != nil || !slices.Equal(got, x) {
			t.Errorf("moved by %d bytes: %v, %v", shift, got, err)
		}
	}
}

func TestTensorThatDoesNotFitIsRefused(t *testing.T) {
	bad := Tensor{Name: "w", DType: F32, Shape: []int{2}, Data: make([]byte, 7)}
	if _, err := bad.Float32s(); err == nil {
		t.Error("F32 with 7 bytes of data was read")
	}
	bad.DType = BF16
	if _, err := bad.Float32s(); err == nil {
		t.Error("BF16 with 7 bytes of data was read")
	}
}

// All 65,536 half-precision numbers against the definition.
func TestHalfPrecision(t *testing.T) {
	for h := range 1 << 16 {
		sign := 1.0
		if h>>15 == 1 {
			sign = -1
		}
		exponent, fraction := h>>10&31, float64(h&1023)
		var want float64
		switch {
		case exponent == 31 && fraction > 0:
			want = math.NaN()
		case exponent == 31:
			want = math.Inf(int(sign))
		case exponent == 0:
			want = math.Copysign(math.Ldexp(fraction, -24), sign)
		default:
			want = sign * math.Ldexp(1+fraction/1024, exponent-15)
		}
		got := float64(half.Float32(uint16(h)))
		if got != want && !(math.IsNaN(got) && math.IsNaN(want)) || math.Signbit(got) != (sign < 0) {
			t.Fatalf("%#04x: %v, want %v", h, got, want)
		}
	}
	short := Tensor{DType: F16, Shape: []int{2}, Data: []byte{0x00, 0x3c, 0x00, 0xc0}}
	if x, err := short.Float32s(); err != nil || !slices.Equal(x, []float32{1, -2}) {
		t.Error(x, err)
	}
	brain := Tensor{DType: BF16, Shape: []int{2}, Data: []byte{0x80, 0x3f, 0x00, 0xc0}}
	if x, err := brain.Float32s(); err != nil || !slices.Equal(x, []float32{1, -2}) {
		t.Error(x, err)
	}
}

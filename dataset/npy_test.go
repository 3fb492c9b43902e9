package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// Every type and header version gives the same numbers.
func TestNPYTypes(t *testing.T) {
	labels := write(t, "labels.txt", []byte("a\n b c \r\ncafé"))
	want := [][]float64{{0, 1}, {2, 3}, {4, 100}}
	for _, tc := range []struct {
		descr string
		data  any
	}{
		{"<f2", []uint16{0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x5640}},
		{"<f4", []float32{0, 1, 2, 3, 4, 100}},
		{"<f8", []float64{0, 1, 2, 3, 4, 100}},
		{"|i1", []int8{0, 1, 2, 3, 4, 100}},
		{"<i2", []int16{0, 1, 2, 3, 4, 100}},
		{"<i4", []int32{0, 1, 2, 3, 4, 100}},
		{"<i8", []int64{0, 1, 2, 3, 4, 100}},
		{"|u1", []uint8{0, 1, 2, 3, 4, 100}},
		{"<u2", []uint16{0, 1, 2, 3, 4, 100}},
		{"<u4", []uint32{0, 1, 2, 3, 4, 100}},
		{"<u8", []uint64{0, 1, 2, 3, 4, 100}},
	} {
		for version := byte(1); version <= 3; version++ {
			data := npyBytes(version, tc.descr, "(3, 2)", tc.data)
			for name, data := range map[string][]byte{"x.npy": data, "x.npy.gz": gzipped(data), "x": zstandard(data)} {
				t.Run(fmt.Sprintf("%s version %d %s", tc.descr, version, name), func(t *testing.T) {
					r, err := Open(write(t, name, data), Options{Labels: labels})
					if err != nil {
						t.Fatal(err)
					}
					defer r.Close()
					for range 2 {
						got, err := collect(r)
						if err != nil || len(got) != 3 {
							t.Fatal(got, err)
						}
						for i, label := range []string{"a", "b c", "café"} {
							if !reflect.DeepEqual(got[i].Values, want[i]) || got[i].Label != label || got[i].Place.Line != i+1 {
								t.Errorf("row %d is %+v", i, got[i])
							}
						}
					}
					if r.Width() != 2 || r.Columns() != nil || r.Kind() != Numbers || !strings.Contains(r.Describe(), ": 3 rows of 2 columns, labels from ") {
						t.Error(r.Describe())
					}
				})
			}
		}
	}
}

func TestNPYSigns(t *testing.T) {
	for _, tc := range []struct {
		descr string
		data  any
		want  float64
	}{
		{"|i1", []int8{-5}, -5}, {"<i2", []int16{-500}, -500}, {"<i4", []int32{math.MinInt32}, math.MinInt32}, {"<i8", []int64{-5}, -5},
		{"|u1", []uint8{255}, 255}, {"<u8", []uint64{1 << 63}, 1 << 63}, {"<f2", []uint16{0xc500}, -5}, {"<f2", []uint16{1}, 0x1p-24},
		{"<f2", []uint16{0x7bff}, 65504}, {"<f4", []float32{-1e-40}, float64(float32(-1e-40))},
	} {
		got, _, err := readText(string(npyBytes(1, tc.descr, "(1, 1)", tc.data)), "x.npy", Options{Unlabelled: true})
		if err != nil || len(got) != 1 || got[0].Values[0] != tc.want || got[0].Label != "" {
			t.Errorf("%s %v: got %+v, %v; want %v", tc.descr, tc.data, got, err, tc.want)
		}
	}
}

func TestNPYLabels(t *testing.T) {
	x := write(t, "x.npy", npyBytes(1, "<f4", "(2, 1)", []float32{1, 2}))
	utf32 := func(s string, n int) []uint32 {
		out := make([]uint32, n)
		for i, r := range []rune(s) {
			out[i] = uint32(r)
		}
		return out
	}
	for _, tc := range []struct {
		name string
		data []byte
		want []string
	}{
		{"int8", npyBytes(1, "|i1", "(2,)", []int8{-3, 4}), []string{"-3", "4"}},
		{"int64", npyBytes(1, "<i8", "(2,)", []int64{math.MinInt64, 1 << 53}), []string{"-9223372036854775808", "9007199254740992"}},
		{"uint64", npyBytes(1, "<u8", "(2,)", []uint64{math.MaxUint64, 0}), []string{"18446744073709551615", "0"}},
		{"uint16 in one column", npyBytes(2, "<u2", "(2, 1)", []uint16{65535, 1}), []string{"65535", "1"}},
		{"unicode", npyBytes(3, "<U5", "(2,)", append(utf32(" café", 5), utf32("🔥", 5)...)), []string{"café", "🔥"}},
		{"bytes", npyBytes(1, "|S4", "(2,)", []byte("ab\x00\x00caf.")), []string{"ab", "caf."}},
		{"text", []byte("\xef\xbb\xbfoak tree\r\nelm\r\n"), []string{"oak tree", "elm"}},
		{"blank lines at the end", []byte("oak\nelm\n\n \n"), []string{"oak", "elm"}},
		{"packed text", gzipped([]byte("oak\nelm")), []string{"oak", "elm"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, err := Open(x, Options{Labels: write(t, "y", tc.data)})
			if err != nil {
				t.Fatal(err)
			}
			got, err := collect(r)
			if err != nil || len(got) != 2 || got[0].Label != tc.want[0] || got[1].Label != tc.want[1] {
				t.Errorf("got %+v, %v; want %q", got, err, tc.want)
			}
		})
	}
	for _, tc := range []struct {
		name string
		data []byte
		want string
	}{
		{"too few", []byte("a\n"), "1 label, but " + x + " has 2 rows"},
		{"too few, array", npyBytes(1, "|i1", "(1,)", []int8{1}), "1 label, but " + x + " has 2 rows"},
		{"too many", []byte("a\nb\nc\n"), `a label "c" after that of the last row`},
		{"empty label", []byte("a\n\nb\n"), "the label of row 2 is empty"},
		{"empty label, array", npyBytes(1, "|S1", "(2,)", []byte("a\x00")), "the label of row 2 is empty"},
		{"bytes are not UTF-8", npyBytes(1, "|S1", "(2,)", []byte("a\xff")), `label "\xff" is not UTF-8`},
		{"no character", npyBytes(1, "<U1", "(2,)", []uint32{65, 0xd800}), "label with the number 0xd800, which is no Unicode character"},
		{"fractions", npyBytes(1, "<f4", "(2,)", []float32{1, 2}), "labels of type f4, want integers or strings"},
		{"one-hot", npyBytes(1, "<i4", "(2, 3)", make([]int32, 6)), "labels of shape [2 3], want one a row"},
		{"objects", npyBytes(1, "|O", "(2,)", make([]int32, 2)), "the elements are Python objects"},
		{"no width", npyBytes(1, "<U0", "(2,)", []int8{}), "labels of 0 bytes"},
		{"text is not UTF-8", []byte("a\n\xff\n"), "invalid UTF-8: byte 0xff at byte offset 2"},
		{"empty", nil, "is empty"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			y := write(t, "y", tc.data)
			r, err := Open(x, Options{Labels: y})
			if err == nil {
				_, err = collect(r)
			}
			var e *Error
			if !errors.As(err, &e) || e.File != y || !strings.HasPrefix(e.Message, tc.want) {
				t.Errorf("got  %v\nwant %s", err, tc.want)
			}
		})
	}
	if _, err := Open(x, Options{Labels: filepath.Join(t.TempDir(), "none")}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := OpenAll([]string{x}, Options{Labels: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "is a folder, want a file of labels") {
		t.Error(err)
	}
}

func TestNPYRefusals(t *testing.T) {
	good := npyBytes(1, "<f4", "(2, 2)", []float32{1, 2, 3, 4})
	replace := func(from, to string) []byte {
		return []byte(strings.Replace(string(good), from, to+strings.Repeat(" ", max(0, len(from)-len(to))), 1))
	}
	huge := append([]byte(npyMagic), 2, 0)
	huge = binary.LittleEndian.AppendUint32(huge, math.MaxUint32)
	for _, tc := range []struct {
		name string
		data []byte
		want string
	}{
		{"other file", []byte("text,label\n"), "is not a .npy file"},
		{"version 4", replace("NUMPY\x01", "NUMPY\x04"), ".npy version 4"},
		{"huge header", huge, "a header of 2147483647 bytes"},
		{"header ends early", good[:20], "the header ends early"},
		{"version 2 ends early", []byte(npyMagic + "\x02\x00\x00\x00"), "the header ends early"},
		{"no dictionary", replace("fortran_order", "fortune_order"), "the header "},
		{"Fortran order", replace("False,", "True,"), "the array is in Fortran order"},
		{"big-endian", replace("<f4", ">f4"), "the elements 'descr': '>f4' are big-endian"},
		{"complex", npyBytes(1, "<c8", "(1, 1)", []float32{1, 2}), "elements of type c8, want float16"},
		{"records", replace("'<f4'", "[('a', '<f4')]"), "the elements are Python objects or records"},
		{"one dimension", npyBytes(1, "<f4", "(2,)", []float32{1, 2}), "an array of 1 dimension, want rows and columns"},
		{"three dimensions", npyBytes(1, "<f4", "(1, 1, 1)", []float32{1}), "an array of 3 dimensions"},
		{"no dimension", npyBytes(1, "<f4", "()", []float32{1}), "shape (), want rows and columns"},
		{"no columns", npyBytes(1, "<f4", "(3, 0)", []float32{}), "an array of shape [3 0] has no columns"},
		{"no rows", npyBytes(1, "<f4", "(0, 3)", []float32{}), "no examples in it"},
		{"larger than any file", npyBytes(1, "<f4", "(4611686018427387904, 4611686018427387904)", []float32{}), "an array of shape"},
		{"product overflows", npyBytes(1, "<f4", "(2, 4611686018427387904, 4611686018427387904)", []float32{}), "shape ("},
		{"row too long", npyBytes(1, "<f4", "(1, 1073741824)", []float32{}), "a row of 1073741824 columns is longer than"},
		{"ends early", good[:len(good)-1], "the array ends in row 2 of 2"},
		{"goes on", append(append([]byte(nil), good...), 0), "more bytes after the last of 2 rows"},
		{"NaN", npyBytes(1, "<f4", "(1, 2)", []float32{1, float32(math.NaN())}), "row 1, column 2 is NaN"},
		{"Inf in half precision", npyBytes(1, "<f2", "(1, 1)", []uint16{0xfc00}), "row 1, column 1 is -Inf"},
		{"NaN in half precision", npyBytes(1, "<f2", "(1, 1)", []uint16{0x7c01}), "row 1, column 1 is NaN"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, _, err := readText(string(tc.data), "x.npy", Options{Unlabelled: true})
			var e *Error
			if !errors.As(err, &e) || !strings.HasPrefix(e.Message, tc.want) {
				t.Errorf("got  %v\nwant %s", err, tc.want)
			}
		})
	}
	for _, tc := range []struct {
		data []byte
		want string
	}{{good[:len(good)-1], "has 143 bytes, but an array of shape [2 2] takes 144"}, {append(good, 0), "has 145 bytes, but"}} {
		if _, err := Open(write(t, "x.npy", tc.data), Options{Unlabelled: true}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("got %v, want %s", err, tc.want)
		}
	}
	if _, _, err := readText(string(good), "x.npy", Options{}); err == nil || !strings.Contains(err.Error(), "name their file with Options.Labels") {
		t.Error(err)
	}
	if _, _, err := readText(string(good), "x.npy", Options{Unlabelled: true, Columns: []string{"a"}}); err == nil || !strings.Contains(err.Error(), "leave out Options.Columns") {
		t.Error(err)
	}
}

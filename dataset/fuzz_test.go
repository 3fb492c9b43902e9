package dataset

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/treeloss/treeloss/internal/input"
)

// checkLaws reads data and checks what every read promises: no panic, an *Error
// for a refusal, and of a labelled read a label, finite numbers and ascending
// feature numbers, in memory of a small multiple of the input.
func checkLaws(t *testing.T, data []byte, opts Options, again bool) (examples []Example, failed error) {
	t.Helper()
	var before, after runtime.MemStats
	if again {
		runtime.ReadMemStats(&before)
	}
	r, err := NewReader(bytes.NewReader(data), "fuzz", opts)
	if err == nil {
		for ex, err := range r.All() {
			if err != nil {
				failed = err
				break
			}
			checkExample(t, ex, r, opts)
			if len(examples) < 1000 {
				examples = append(examples, ex.Clone())
			}
		}
		r.Close()
	} else {
		failed = err
	}
	if e := (*Error)(nil); failed != nil && (!errors.As(failed, &e) || e.File == "" || e.Message == "" || strings.Contains(failed.Error(), "\n")) {
		t.Fatalf("refused by %q, want an *Error on one line that names the file", failed)
	}
	if again {
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20+200*uint64(len(data)) {
			t.Fatalf("%d bytes took %d of memory", len(data), used)
		}
	}
	return examples, failed
}

func checkExample(t *testing.T, ex Example, r *Reader, opts Options) {
	t.Helper()
	if ex.Label == "" && !opts.Unlabelled && !opts.Several() || ex.Label != strings.TrimSpace(ex.Label) || !utf8.ValidString(ex.Label) || !utf8.ValidString(ex.Text) {
		t.Fatalf("label %q, text %q", ex.Label, ex.Text)
	}
	if !(ex.Weight >= 0) || math.IsInf(ex.Weight, 0) || ex.Place.Line < 1 {
		t.Fatalf("weight %v at %v", ex.Weight, ex.Place)
	}
	checkMix(t, ex)
	if (ex.Labels != nil) != opts.Several() || opts.Several() && (len(ex.Labels) == 0) != (ex.Label == "") {
		t.Fatalf("labels %q, label %q", ex.Labels, ex.Label)
	}
	for i, l := range ex.Labels { // a set, in order
		if l == "" || l != strings.TrimSpace(l) || !utf8.ValidString(l) || i == 0 && l != ex.Label || i > 0 && l <= ex.Labels[i-1] {
			t.Fatalf("labels %q", ex.Labels)
		}
	}
	for _, v := range ex.Values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatalf("value %v", v)
		}
	}
	switch r.Kind() {
	case Text:
		if ex.Values != nil || ex.Index != nil {
			t.Fatalf("text with numbers %v", ex.Values)
		}
	case Numbers:
		if len(ex.Values) != r.Width() || r.Width() == 0 || ex.Index != nil {
			t.Fatalf("%d values, want %d", len(ex.Values), r.Width())
		}
	case Sparse:
		last := int32(-1)
		for _, i := range ex.Index {
			if i <= last {
				t.Fatalf("feature numbers %v", ex.Index)
			}
			last = i
		}
		if len(ex.Index) != len(ex.Values) {
			t.Fatalf("%d feature numbers, %d values", len(ex.Index), len(ex.Values))
		}
	}
}

// checkMix checks the laws of Example.Mix.
func checkMix(t *testing.T, ex Example) {
	t.Helper()
	if ex.Mix == nil {
		return
	}
	var sum, top float64
	first := ""
	for i, s := range ex.Mix {
		if !(s.Share > 0) || s.Share > 1 || s.Label == "" || s.Label != strings.TrimSpace(s.Label) || i > 0 && s.Label <= ex.Mix[i-1].Label {
			t.Fatalf("mix %v", ex.Mix)
		}
		if s.Share > top {
			top, first = s.Share, s.Label
		}
		sum += s.Share
	}
	if math.Abs(sum-1) > 1e-6 || ex.Label != first {
		t.Fatalf("mix %v sums to %v, label %q", ex.Mix, sum, ex.Label)
	}
}

// fuzzFormat fuzzes one format; the bytes also arrive one at a time, which must
// not matter.
func fuzzFormat(f *testing.F, format Format, seeds ...string) {
	for i, seed := range seeds {
		f.Add([]byte(seed), byte(i))
	}
	f.Fuzz(func(t *testing.T, data []byte, bits byte) {
		opts := Options{Format: format, MaxRecord: 1 << 20, Unlabelled: bits&1 != 0, FirstLabel: bits&2 != 0, ZeroBased: bits&4 != 0, NoQuotes: bits&8 != 0}
		if opts.Multilabel = bits&32 != 0 && !opts.FirstLabel && format != NPY; opts.Multilabel && format <= TSV {
			opts.LabelSeparator = ";"
		}
		if bits&16 != 0 && format <= JSONL {
			opts.Weight, opts.Columns = "w", []string{"x*"}
		}
		got, err := checkLaws(t, data, opts, !bytes.HasPrefix(data, []byte("\x28\xb5\x2f\xfd")) && !bytes.HasPrefix(data, []byte("\x1f\x8b")))
		r, err2 := NewReader(byteAtATime{bytes.NewReader(data)}, "fuzz", opts)
		if err2 == nil {
			n := 0
			for ex, err := range r.All() {
				if err2 = err; err == nil && n < len(got) && !same(ex, got[n]) {
					t.Fatalf("example %d is %+v byte by byte, %+v at once", n, ex, got[n])
				}
				n++
			}
			r.Close()
		}
		if (err == nil) != (err2 == nil) || err != nil && err.Error() != err2.Error() {
			t.Fatalf("error %v at once, %v byte by byte", err, err2)
		}
	})
}

func FuzzCSV(f *testing.F) {
	fuzzFormat(f, CSV, "text,label\n\"a\nb\",c\n", "x1,w,x2,y\n1,2,3,a\n", "\xef\xbb\xbfx,y\r\n1,a\r\n", "text,label\n\"a,b\n", "x,y\nNaN,a\n")
}

func FuzzTSV(f *testing.F) {
	fuzzFormat(f, TSV, "text\tlabel\n\"a\"\"\"\tc\n", "x1\tw\ty\n1\t2\ta\n1\t2\n")
}

func FuzzJSONL(f *testing.F) {
	fuzzFormat(f, JSONL, `{"text":"a\u00e9","label":1}`+"\n"+`{"label":true,"text":""}`, `{"x":[1,2],"y":"a"}`+"\n"+`{"x":[1],"y":"a"}`, `{"x1":1,"w":2,"x2":-3e1,"y":"a"}`, `{"text":{"a":[[[`,
		`{"text":"a","labels":{"cat":0.75,"dog":0.25," emu":1e-308}}`+"\n"+`{"text":"b","labels":"cat"}`, `{"text":"a","labels":["cat","dog"]}`+"\n"+`{"text":"b","labels":[]}`)
}

func FuzzFastText(f *testing.F) {
	fuzzFormat(f, FastText, "__label__a b c\n", "b __label__a __label__c\n\n", "__label__b __label__a x\nnone\n", "__label__ b\x00__label__c", "plain\r\n")
}

func FuzzLIBSVM(f *testing.F) {
	fuzzFormat(f, LIBSVM, "a 1:2 3:4 # c\nb\n", "1,2 1:1e5\n", "2 5 4\n3,1 0:1\n 4:2\n", "+1 qid:1 2:1", "0:1 1:2")
}

func FuzzNPY(f *testing.F) {
	fuzzFormat(f, NPY, string(npyBytes(1, "<f4", "(2, 2)", []float32{1, 2, 3, 4})), string(npyBytes(2, "|i1", "(3, 1)", []int8{1, 2, 3})),
		string(npyBytes(3, "<f2", "(1, 1)", []uint16{0x7c00})), string(npyBytes(1, "<f8", "(9223372036854775807, 9223372036854775807)", []byte{})))
}

// FuzzAuto sniffs the format and unpacks.
func FuzzAuto(f *testing.F) {
	for _, name := range []string{"intents.csv", "intents.tsv", "intents.jsonl", "flowers.csv", "flowers.svm"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, false)
		f.Add(gzipped(data), true)
		f.Add(zstandard(data), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, unlabelled bool) {
		checkLaws(t, data, Options{Unlabelled: unlabelled, MaxRecord: 1 << 20}, false)
	})
}

// FuzzLabelsFile reads labels beside an array of two rows.
func FuzzLabelsFile(f *testing.F) {
	f.Add([]byte("a\nb\n"))
	f.Add(npyBytes(1, "<U1", "(2,)", []uint32{65, 66}))
	f.Add(npyBytes(1, "<i8", "(2, 1)", []int64{-1, 1 << 60}))
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := input.New(bytes.NewReader(data), "y", Options{}.reading())
		if err != nil {
			return
		}
		defer in.Close()
		src, err := newNPYLabels(in, Options{MaxRecord: 1 << 20})
		if err != nil {
			return
		}
		for {
			label, err := src()
			if err == io.EOF {
				return
			}
			if e := (*Error)(nil); err != nil && !errors.As(err, &e) {
				t.Fatalf("%v is no *Error", err)
			}
			if err != nil {
				return
			}
			if !utf8.ValidString(label) || label != strings.TrimSpace(label) {
				t.Fatalf("label %q", label)
			}
		}
	})
}

package input

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const window = 1 << 20

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, text)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zstded(t *testing.T, text string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(w.EncodeAll([]byte(text), nil))
}

func TestUnpack(t *testing.T) {
	const text = "label,text\nhello,good morning\n"
	for _, tc := range []struct{ name, data, by, want string }{
		{"plain", text, "", ""},
		{"empty", "", "", ""},
		{"one byte of gzip's two", "\x1f", "", ""},
		{"text that begins with P", "P*M", "", ""},
		{"gzip", gzipped(t, text), "gzip", text},
		{"gzip of nothing", gzipped(t, ""), "gzip", ""},
		{"two gzip files in one", gzipped(t, text) + gzipped(t, text), "gzip", text + text},
		{"zstd", zstded(t, text), "zstd", text},
		{"zstd behind a frame to skip, as of pzstd", "\x5e\x2a\x4d\x18\x04\x00\x00\x00size" + zstded(t, text), "zstd", text},
	} {
		in := bufio.NewReader(strings.NewReader(tc.data))
		plain, by, err := unpack(in, window)
		if err != nil || by != tc.by {
			t.Errorf("%s: packed by %q, %v, want %q", tc.name, by, err, tc.by)
			continue
		}
		if by == "" {
			if rest, err := io.ReadAll(in); err != nil || string(rest) != tc.data {
				t.Errorf("%s: %q is left of %q, %v", tc.name, rest, tc.data, err)
			}
			continue
		}
		got, err := io.ReadAll(plain)
		if err != nil || string(got) != tc.want {
			t.Errorf("%s: %q, %v, want %q", tc.name, got, err, tc.want)
		}
		if err := plain.Close(); err != nil {
			t.Errorf("%s: close: %v", tc.name, err)
		}
	}
}

// A damaged head, data that ends early and a window beyond the limit are errors.
func TestDamaged(t *testing.T) {
	long := zstded(t, strings.Repeat("green grass ", 1000))
	for name, data := range map[string]string{
		"gzip's head":      "\x1f\x8b\x07\x00\x00\x00\x00\x00\x00\x00",
		"gzip ends early":  gzipped(t, "green grass")[:20],
		"zstd ends early":  long[:len(long)-9],
		"a window of 1 GB": "\x28\xb5\x2f\xfd\x00\xa0\x01\x00\x00",
	} {
		plain, by, err := unpack(bufio.NewReader(strings.NewReader(data)), window)
		if err == nil {
			_, err = io.ReadAll(plain)
			plain.Close()
		}
		if err == nil || by == "" {
			t.Errorf("%s: no error, packed by %q", name, by)
		}
	}
}

// A first line that is being typed is not waited upon.
func TestUnpackDoesNotWait(t *testing.T) {
	r, w := io.Pipe()
	defer r.Close()
	go w.Write([]byte("a"))
	if _, by, err := unpack(bufio.NewReader(r), window); err != nil || by != "" {
		t.Errorf("packed by %q, %v", by, err)
	}
}

package backend

import (
	"errors"
	"strings"
	"testing"
)

// The best backend is always one that works, and warns only about what is
// compiled in and cannot be opened.
func TestOpenBest(t *testing.T) {
	t.Setenv("ONNXRUNTIME_SHARED_LIBRARY_PATH", "")
	t.Setenv("PJRT_PLUGIN_LIBRARY_PATH", t.TempDir())
	var warnings []string
	b, err := Open("", func(line string) { warnings = append(warnings, line) })
	if err != nil {
		t.Fatal(err)
	}
	b.Finalize()
	want := 0 // a line for each that is compiled in and cannot be opened, none for the card
	for _, name := range []string{"xla", "onnx"} {
		if b, err := Open(name, nil); err == nil {
			b.Finalize()
		} else if !errors.Is(err, errNotBuilt) {
			want++
		}
	}
	if len(warnings) != want {
		t.Errorf("%d warnings, want %d: %q", len(warnings), want, warnings)
	}
	for _, line := range warnings {
		if strings.Contains(line, errNotBuilt.Error()) || strings.Contains(line, "\n") {
			t.Errorf("warning %q", line)
		}
	}
}

// A backend asked for by name is an error of one line if it is not there.
func TestOpenByName(t *testing.T) {
	t.Setenv("ONNXRUNTIME_SHARED_LIBRARY_PATH", "")
	t.Setenv("PJRT_PLUGIN_LIBRARY_PATH", t.TempDir())
	b, err := Open(Go, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.Finalize()
	for _, name := range []string{"onnx", "xla", "xla:cuda", "tpu"} {
		b, err := Open(name, nil)
		if err == nil {
			b.Finalize()
			t.Errorf("%s: opened", name)
			continue
		}
		if !strings.HasPrefix(err.Error(), "backend: ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %q", name, err)
		}
	}
}

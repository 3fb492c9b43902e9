package safetensors

import (
	"os"
	"path/filepath"
	"testing"
)

func TestHasFormat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.safetensors")
	if HasFormat(path, "here") {
		t.Error("a file that is not there has a format")
	}
	if err := WriteFile(path, &File{Metadata: map[string]string{"format": "here", "about": "elsewhere"}}); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, format string
		content      []byte
		want         bool
	}{
		{"whole", "here", whole, true},
		{"another format", "elsewhere", whole, false},
		{"a part of the word", "her", whole, false},
		{"damaged behind the head", "here", append(whole[:len(whole):len(whole)], 1), true},
		{"cut in its length", "here", whole[:7], false},
		{"a text", "here", []byte(`"format":"here", said a long enough text`), false},
		{"empty", "here", nil, false},
	} {
		if err := os.WriteFile(path, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := HasFormat(path, c.format); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

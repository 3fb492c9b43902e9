package licences

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The program's texts name Go, a module of one platform alone, and what lies in folders.
func TestTexts(t *testing.T) {
	texts, err := Texts("../../..", "./cmd/treeloss", Platform{"linux", "amd64"}, Platform{"windows", "amd64"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Go, its standard library and runtime: LICENSE\n", "github.com/spf13/cobra ", "github.com/inconshreveable/mousetrap ", "licenses/ftl.txt\n", "zstd/internal/xxhash/LICENSE.txt\n"} {
		if !strings.Contains(string(texts), want) {
			t.Errorf("no %q", want)
		}
	}
}

// A module without terms is refused by name.
func TestNoLicence(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":      "module example.org/main\n\ngo 1.26\n\nrequire example.org/bare v1.0.0\n\nreplace example.org/bare => ./bare\n",
		"main.go":     "package main\n\nimport _ \"example.org/bare\"\n\nfunc main() {}\n",
		"bare/go.mod": "module example.org/bare\n\ngo 1.26\n",
		"bare/a.go":   "package bare\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Texts(root, ".", Platform{"linux", "amd64"}); err == nil || !strings.Contains(err.Error(), "example.org/bare v1.0.0 has no licence") {
		t.Errorf("%v", err)
	}
}

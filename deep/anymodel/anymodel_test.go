package anymodel

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treeloss/treeloss"
	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/classinfo"
)

// A linear model opens; what is no model says so by its name. Networks are opened by
// the tests of the program.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.safetensors")
	m, err := treeloss.Fit(context.Background(), []treeloss.Example{{Text: "red", Label: "a"}, {Text: "red", Label: "a"}, {Text: "blue", Label: "b"}, {Text: "blue", Label: "b"}}, treeloss.Options{Sharing: classinfo.Spec{classinfo.None}})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	c, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if about := c.About(); about.Kind != classify.LinearModel || len(about.Labels) != 2 || about.Temperature != 1 || about.Calibrated || !IsFile(path) {
		t.Errorf("%+v", about)
	}
	table := filepath.Join(dir, "table.csv")
	if err := os.WriteFile(table, []byte("text,label\na,b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{table: "is no model", dir: "is a folder", filepath.Join(dir, "none"): "no such model file"} {
		if _, err := Open(name, Options{}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

package treeloss_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Each package imports only packages above it in the table of ARCHITECTURE.md,
// and each package is in the table. Only deep and those below it import GoMLX.
func TestPackageOrder(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, row := range regexp.MustCompile("(?m)^\\| (?:root )?`([a-z/]+)` \\|").FindAllStringSubmatch(string(text), -1) {
		order = append(order, row[1])
	}
	const module = "github.com/treeloss/treeloss"
	err = filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (path != "." && strings.HasPrefix(entry.Name(), ".") || strings.HasPrefix(entry.Name(), "_") || entry.Name() == "testdata") {
			return filepath.SkipDir
		}
		if _, err := os.Stat(filepath.Join(path, "go.mod")); entry.IsDir() && path != "." && err == nil {
			return filepath.SkipDir // a module of its own
		}
		if entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		place := func(name string) int {
			for ; name != "."; name = filepath.ToSlash(filepath.Dir(name)) { // dataset/internal/x belongs to dataset
				if i := slices.Index(order, name); i >= 0 {
					return i
				}
			}
			return slices.Index(order, "treeloss")
		}
		own := filepath.ToSlash(filepath.Dir(path))
		if own != "." && place(own) == slices.Index(order, "treeloss") {
			t.Errorf("package %s is not in the table", own)
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if strings.HasPrefix(name, "github.com/gomlx/") && own != "deep" && !strings.HasPrefix(own, "deep/") {
				t.Errorf("%s imports %s, which is for deep alone", path, name)
			}
			imported, ours := strings.CutPrefix(name, module)
			if !ours {
				continue
			}
			if imported = strings.TrimPrefix(imported, "/"); imported == "" {
				imported = "."
			}
			if place(imported) > place(own) {
				t.Errorf("%s imports %s, which stands below it in the table", path, imported)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(order) < 20 {
		t.Errorf("the table has %d packages", len(order))
	}
}

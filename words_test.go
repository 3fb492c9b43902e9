package treeloss_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// coinages are words of ours in place of the field's, and sentences that sound
// translated, each with what to write.
var coinages = []struct{ pattern, write string }{
	{`\balike [a-z]|(that|which|classes|names) are alike|how alike`, "similar"},
	{`\bstrangers?\b`, "out-of-scope example"},
	{`shares of (a|the) label|with shares\b`, "soft labels"},
	{`how far (the )?weights may go`, "prior variance of the weights"},
	{`weight of what each class has for itself`, "class-specific variance, relative to the shared part"},
	{`ready distances`, "precomputed distances"},
	{`\b(is|are|was|were|be) taken for\b|"taken for"`, "predicted as"},
	{`yardstick`, "baseline"},
	{`points (are )?over\b`, "percentage points (pp) above cross entropy"},
	{`(^|[^-])\+-([^-]|$)`, "±"},
	{`broken off|broke off`, "interrupted"},
	{`(to|gives?) the same bits|the very same`, "bit-identical, byte-identical"},
	{`told apart`, "significantly different"},
	{`bears? (it |them )?out`, "supported by the data"},
	{`for want of`, "skipped: no ..."},
	{`\bhigh(er|est)? tree`, "tall tree"},
	{`\bbelieves?\b`, "the plain verb"},
	{`(treeloss|train|predict|model|file|program|flag|trainer|network|it) (knows|wants)\b|wants others`, "has, needs, accepts"},
	{`of what the class would say`, "expected information gain"},
	{`means nothing (for|to|with)`, "has no effect with"},
	{`\b1 epochs\b`, "1 epoch"},
}

// TestWords finds none of them in what a user reads: README, docs, and the
// strings of the code, of which help, errors and pages are made.
func TestWords(t *testing.T) {
	var bad []*regexp.Regexp
	for _, c := range coinages {
		bad = append(bad, regexp.MustCompile(`(?i)`+c.pattern))
	}
	check := func(place, text string) {
		for i, r := range bad {
			if found := r.FindString(text); found != "" {
				t.Errorf("%s: %q; write: %s", place, found, coinages[i].write)
			}
		}
	}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && (name == "testdata" || name == "bench" || strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") && name != ".") {
			return fs.SkipDir
		}
		switch {
		case strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "CHANGELOG.md"):
		case strings.HasSuffix(path, ".md"), strings.HasSuffix(path, ".tmpl"), strings.HasSuffix(path, ".html"), strings.HasPrefix(path, "cmd/treeloss/help/"):
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			n := 0
			for line := range strings.Lines(string(text)) {
				n++
				check(path+fmt.Sprint(":", n), line)
			}
		case strings.HasSuffix(path, ".go"):
			set := token.NewFileSet()
			f, err := parser.ParseFile(set, path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING {
					check(set.Position(s.Pos()).String(), s.Value)
				}
				return true
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

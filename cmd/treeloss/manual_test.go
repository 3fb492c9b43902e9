package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// docs/reference.md is what treeloss manual writes.
func TestReference(t *testing.T) {
	folder := t.TempDir()
	succeed(t, "manual", "--out", folder)
	if string(content(t, filepath.Join(folder, "reference.md"))) != string(content(t, "../../docs/reference.md")) {
		t.Error("docs/reference.md is not what the commands say: run treeloss manual --out build and cp build/reference.md docs")
	}
	if o := call(t, "manual"); o.status != 2 {
		t.Errorf("without --out: status %d, %s", o.status, o.log)
	}
}

// groff has nothing to say about a man page.
func TestManPages(t *testing.T) {
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("groff, which checks the man pages, is not installed")
	}
	folder := t.TempDir()
	succeed(t, "manual", "--out", folder)
	pages, err := filepath.Glob(filepath.Join(folder, "man1", "*.1"))
	if err != nil || len(pages) < 30 {
		t.Fatalf("%d man pages, %v", len(pages), err)
	}
	for _, page := range pages {
		said, err := exec.Command(groff, "-man", "-ww", "-z", page).CombinedOutput()
		if err != nil || len(said) > 0 {
			t.Errorf("%s: %v %s", filepath.Base(page), err, strings.TrimSpace(string(said)))
		}
	}
}

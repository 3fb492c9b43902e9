package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each sentence of numbers.txt stands once in its page, whatever its numbers, and each of
// its placeholders names a command above it.
func TestSentencesStandInThePages(t *testing.T) {
	pages, err := parse(list)
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) < 5 {
		t.Errorf("%d pages, want at least 5", len(pages))
	}
	for _, p := range pages {
		content, err := os.ReadFile(filepath.Join("..", "..", p.path))
		if err != nil {
			t.Fatal(err)
		}
		named := map[string]bool{"*": true}
		for _, x := range p.steps {
			if x.shell != "" {
				named[x.name] = true
				continue
			}
			if _, _, err := x.find(string(content)); err != nil {
				t.Errorf("%s: %v", p.path, err)
			}
			for _, m := range placeholder.FindAllStringSubmatch(x.says, -1) {
				if name, _, _ := strings.Cut(m[1], ":"); !named[name] {
					t.Errorf("numbers.txt:%d: {%s}: no command %s$ above", x.line, m[1], name)
				}
			}
		}
	}
}

func TestMeasured(t *testing.T) {
	const table = `{"accuracy":0.5,"results":[{"method":"names","shots":1,"difference":0.0316,"difference_se":0.004},
		{"method":"names","shots":5,"difference":-0.01}]}`
	for _, tc := range []struct{ output, path, want string }{
		{table, "accuracy|%", "50.0"},
		{table, "accuracy|.3f", "0.500"},
		{table, "results/names|±", "+3.2 ± 0.4"},
		{table, "results/names@5|+", "-1.0"},
		{table, "results/1/shots", "5"},
		{"is in 8919 rows", `/in (\d+) rows/`, "8919"},
	} {
		if got, err := measured(tc.output, tc.path); err != nil || got != tc.want {
			t.Errorf("%s: %q, want %q (%v)", tc.path, got, tc.want, err)
		}
	}
	for _, path := range []string{"results/vectors|+", "nothing", "results/names@9|%", `/(no)t/`} {
		if got, err := measured(table, path); err == nil {
			t.Errorf("%s: %q, want an error", path, got)
		}
	}
}

// A page that says something else is mended: its numbers change, its line breaks do not.
func TestFindAndMend(t *testing.T) {
	x := step{says: "names {a:results/names|±} {*} of {a:n} rows"}
	output := map[string]string{"a": `{"n":77,"results":[{"method":"names","difference":0.05,"difference_se":0.001}]}`}
	want, err := x.fill(output)
	if err != nil {
		t.Fatal(err)
	}
	text := "The table:\n  names  +4.2 ± 0.5   0.3\nof 76 rows, 5 draws"
	found, _, err := x.find(text)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(found), " ")
	if agrees(got, want) {
		t.Errorf("%q agrees with %q", got, want)
	}
	mended := respaced(found, want)
	if mended != "names  +5.0 ± 0.1   0.3\nof 77 rows" {
		t.Errorf("mended to %q", mended)
	}
	if !agrees(strings.Join(strings.Fields(mended), " "), want) {
		t.Errorf("%q does not agree with %q", mended, want)
	}
	if _, _, err := x.find(text + text); err == nil {
		t.Error("a sentence that stands twice is accepted")
	}
}

package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"
)

// A model is trained on, measured on and asked about files as spreadsheets write them,
// without a flag, or with the one that the error names.
func TestSpreadsheets(t *testing.T) {
	var rows []string
	for i := range 12 {
		rows = append(rows, fmt.Sprintf("größe;\"zu klein; Nummer %d\";%d,5", i, i), fmt.Sprintf("café;zu heiß oder kalt %d;%d,25", i, 50+i))
	}
	table := "label;text;punkte\r\n" + strings.Join(rows, "\r\n") + "\r\n"
	var wide []byte
	for _, unit := range utf16.Encode([]rune("\ufeff" + strings.ReplaceAll(table, ";", "\t"))) {
		wide = append(wide, byte(unit), byte(unit>>8))
	}
	western, err := charmap.Windows1252.NewEncoder().String(table)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, data string
		args       []string
		found      string
	}{
		{"semicolons.csv", "\ufeff" + table, nil, "; separated by semicolons"},
		{"named.csv", "sep=;\r\n" + table, nil, "; separated by semicolons"},
		{"wide.csv", string(wide), nil, "; UTF-16, separated by tabs"},
		{"western.csv", western, []string{"--encoding", "windows-1252"}, "; windows-1252, separated by semicolons"},
		{"numbers.csv", table, []string{"--features", "punkte"}, "; separated by semicolons, with decimal commas"},
	} {
		path, model := file(t, tc.name, tc.data), filepath.Join(t.TempDir(), "m.safetensors")
		o := succeed(t, append([]string{"train", "--data", path, "--model", model}, tc.args...)...)
		if !strings.Contains(o.log, tc.found+"\n") {
			t.Errorf("%s: the log of train is %q, want %q", tc.name, o.log, tc.found)
		}
		o = succeed(t, append([]string{"evaluate", "--data", path, "--model", model, "--json"}, tc.args...)...)
		if got := parse(t, o.out)["accuracy"]; got != 1.0 {
			t.Errorf("%s: accuracy %v on the training rows, want 1", tc.name, got)
		}
		o = succeed(t, append([]string{"predict", path, "--model", model}, tc.args...)...)
		if lines := strings.Split(o.out, "\n"); len(lines) != 25 || !strings.HasPrefix(lines[0], "größe\t") || !strings.HasPrefix(lines[1], "café\t") {
			t.Errorf("%s: predict writes %q", tc.name, o.out)
		}
	}
	o := call(t, "train", "--data", file(t, "western.csv", western), "--model", "none")
	if o.status != 1 || !strings.Contains(o.log, "western.csv:2:3: invalid UTF-8") || !strings.Contains(o.log, "--encoding windows-1252") {
		t.Errorf("without --encoding: status %d, %q", o.status, o.log)
	}
	// What Excel calls Unicode text is named .txt, as lines of fastText are.
	excel := file(t, "excel.txt", string(wide))
	o = call(t, "train", "--data", excel, "--model", "none")
	if o.status != 1 || !strings.Contains(o.log, "excel.txt:1: no label") || !strings.Contains(o.log, "--format") {
		t.Errorf("a table named .txt: status %d, %q", o.status, o.log)
	}
	o = succeed(t, "train", "--data", excel, "--format", "tsv", "--model", filepath.Join(t.TempDir(), "m.safetensors"))
	if !strings.Contains(o.log, "; UTF-16\n") {
		t.Errorf("a table named .txt: %q", o.log)
	}
	o = call(t, "train", "--data", file(t, "a.csv", western), "--model", "none", "--encoding", "ebcdic")
	if o.status != 2 || !strings.Contains(o.log, `--encoding "ebcdic", want a name such as windows-1252`) {
		t.Errorf("an unknown encoding: status %d, %q", o.status, o.log)
	}
}

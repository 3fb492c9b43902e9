package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// inParts runs a command in n parts, the last of them first, and returns the folder. Parts
// print nothing.
func inParts(t *testing.T, n int, args ...string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "parts")
	for i := n - 1; i >= 0; i-- {
		if o := succeed(t, append(args[:len(args):len(args)], "--shard", fmt.Sprintf("%d/%d", i, n), "--out", folder)...); o.out != "" {
			t.Errorf("part %d printed %q", i, o.out)
		}
	}
	return folder
}

// noSeconds is a document in JSON, or a text, without the times in it.
func noSeconds(text string) string {
	return regexp.MustCompile(`("seconds": |, |in )[0-9.e+-]+( s\n|)`).ReplaceAllString(text, "$1")
}

// What parts have counted, gathered, is what evaluate prints of everything.
func TestShardsOfEvaluate(t *testing.T) {
	model := quickModel(t)
	data := file(t, "test.csv", string(content(t, desk))+"no label,\nnever seen,another class\n")
	oos := file(t, "oos.txt", "colourless green ideas\nthe lamp is lit\nfive\n")
	for n, args := range [][]string{
		{"evaluate", "--model", model, "--data", data, "--skip-bad", "--per-class"},
		{"evaluate", "--model", model, "--data", data, "--skip-bad", "--oos", oos, "--reject", "0.4", "--unknown-labels", "skip"},
	} {
		confusions := []string{filepath.Join(t.TempDir(), "whole.csv"), filepath.Join(t.TempDir(), "parts.csv")}
		whole := succeed(t, append(args[:len(args):len(args)], "--confusions", confusions[0])...).out
		folder := inParts(t, 3+5*n, append(args[:len(args):len(args)], "--confusions", confusions[1])...)
		if got := succeed(t, "gather", folder).out; noSeconds(got) != noSeconds(whole) {
			t.Errorf("%v: gathered\n%s\nwant\n%s", args, got, whole)
		}
		document := succeed(t, append(args[:len(args):len(args)], "--json")...).out
		if got := succeed(t, "gather", folder, "--json").out; noSeconds(got) != noSeconds(document) {
			t.Errorf("%v: gathered\n%s\nwant\n%s", args, got, document)
		}
		if !bytes.Equal(content(t, confusions[0]), content(t, confusions[1])) {
			t.Errorf("%v: another matrix of confusions", args)
		}
	}
	for _, tc := range []struct {
		want string
		args []string
	}{
		{"keep no rows", []string{"--shard", "0/3", "--out", "parts", "--report", "page"}},
		{"name it with --out", []string{"--shard", "0/3"}},
	} {
		if o := call(t, append([]string{"evaluate", "--model", model, "--data", data}, tc.args...)...); o.status != 2 || !strings.Contains(o.log, tc.want) {
			t.Errorf("%v: status %d, %q, want %q", tc.args, o.status, o.log, tc.want)
		}
	}
}

// Parts, gathered, are what predict writes of everything, to the byte.
func TestShardsGather(t *testing.T) {
	var questions strings.Builder
	questions.WriteString("id,text\n")
	for i := range 40 {
		fmt.Fprintf(&questions, "%d,\"where is my card,\n%s please\"\n\n", i, strings.Repeat("really ", i%7))
	}
	path, model, folder := file(t, "questions.csv", questions.String()), quickModel(t), filepath.Join(t.TempDir(), "parts")
	args := []string{"predict", "--model", model, "--id", "id", "--json", "--top", "2", path}
	whole := succeed(t, args...).out
	for i := range 3 {
		if i == 2 {
			if o := call(t, "gather", folder); o.status != 1 || !strings.Contains(o.log, "not finished: 2;") || o.out != "" {
				t.Errorf("gather without a part: status %d, %q, output %q", o.status, o.log, o.out)
			}
		}
		if o := succeed(t, append(args, "--shard", fmt.Sprintf("%d/3", i), "--out", folder)...); o.out != "" {
			t.Errorf("part %d printed %q", i, o.out)
		}
	}
	if o := succeed(t, append(args, "--shard", "1/3", "--out", folder, "--threads", "1")...); !strings.Contains(o.log, "already") {
		t.Errorf("a part that is there: %q", o.log)
	}
	if got := succeed(t, "gather", folder).out; got != whole {
		t.Errorf("gathered %d bytes, want the %d of predict", len(got), len(whole))
	}
	answers := filepath.Join(t.TempDir(), "answers.jsonl")
	succeed(t, "gather", folder, "--out", answers)
	if got, err := os.ReadFile(answers); err != nil || string(got) != whole {
		t.Errorf("gather --out wrote %d bytes, %v", len(got), err)
	}
	for _, tc := range []struct {
		want   string
		status int
		args   []string
	}{
		{`--shard "3/3", want`, 2, append(args, "--shard", "3/3", "--out", folder)},
		{"name it with --out", 2, append(args, "--shard", "0/3")},
		{"give --shard i/n", 2, append(args, "--out", folder)},
		{"standard input", 2, []string{"predict", "--model", model, "--shard", "0/3", "--out", folder}},
		{"options", 1, append(args[:len(args):len(args)], "--shard", "0/3", "--out", folder, "--reject", "0.5")},
		{"one of 3 parts", 1, append(args, "--shard", "0/4", "--out", folder)},
		{"one folder", 2, []string{"gather"}},
		{"give --json to each", 2, []string{"gather", folder, "--json"}},
		{"no file", 1, []string{"gather", filepath.Join(folder, "none")}},
	} {
		if o := call(t, tc.args...); o.status != tc.status || !strings.Contains(o.log, tc.want) {
			t.Errorf("%v: status %d, %q, want %d and %q", tc.args, o.status, o.log, tc.status, tc.want)
		}
	}
}

// Cells of parts, gathered, are the tables of one process.
func TestShardsOfGrids(t *testing.T) {
	for n, args := range [][]string{
		{"cv", "--data", desk, "--folds", "3", "--sharing", "names", "--prior", "10"},
		{"compare", "--data", desk, "--methods", "v-tree,auto", "--prior", "10", "--shots", "1,2", "--seeds", "2"},
	} {
		report := filepath.Join(t.TempDir(), "page")
		whole := succeed(t, append(args[:len(args):len(args)], "--json")...).out
		if args[0] == "compare" {
			args = append(args, "--report", report)
		}
		folder := inParts(t, 2+n, args...)
		if _, err := os.Stat(report); err == nil {
			t.Error("a part has written the page")
		}
		o := succeed(t, "gather", folder, "--json")
		if noSeconds(o.out) != noSeconds(whole) {
			t.Errorf("%v: gathered\n%s\nwant\n%s", args, o.out, whole)
		}
		if _, err := os.Stat(filepath.Join(report, "index.html")); args[0] == "compare" && err != nil {
			t.Errorf("gather has not written the page: %v", err)
		}
		// Another file of the same name was not what the parts were made of.
		if o := call(t, append(args, "--shard", "0/2", "--out", folder, "--seed", "2")...); o.status != 1 || !strings.Contains(o.log, "name another folder") {
			t.Errorf("a part of other flags: status %d, %q", o.status, o.log)
		}
	}
	if o := call(t, "tune", "--data", desk, "--shard", "0/2"); o.status != 2 || !strings.Contains(o.log, "depends on those before") {
		t.Errorf("tune in parts: status %d, %q", o.status, o.log)
	}
}

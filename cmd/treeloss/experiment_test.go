package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/treeloss/treeloss/internal/experiment"
)

// smallShapes is an experiment of little work.
func smallShapes(folder string, more ...string) []string {
	return append([]string{"experiment", "tree-shapes", "--runs", "2", "--protocol", "paper", "--n", "30", "--d", "4", "--k", "7", "--out", folder}, more...)
}

// numbersOf returns the CSV and SVG files of a folder.
func numbersOf(t *testing.T, folder string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, pattern := range []string{"*.csv", "*.svg"} {
		names, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			out[filepath.Base(name)] = string(content(t, name))
		}
	}
	return out
}

func TestExperimentFiles(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "out")
	o := succeed(t, smallShapes(folder)...)
	for _, want := range []string{"base of the cover tree 1.3", "v-tree", "cross-entropy-scaled", "Paper's protocol (learning rate 0.0001"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("no %q in %q", want, o.out)
		}
	}
	page := string(content(t, filepath.Join(folder, "index.html")))
	for _, want := range []string{"Seed", "Program", "Machine", "Time taken", "learning rate 0.0001"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q on the page", want)
		}
	}
	if n := len(numbersOf(t, folder)); n < 6 {
		t.Errorf("%d CSV and SVG files", n)
	}
	if o := call(t, smallShapes(folder)...); o.status != 1 || !strings.Contains(o.log, "--resume") {
		t.Errorf("a second run into the same folder: status %d, %q", o.status, o.log)
	}
	if o := call(t, smallShapes(folder, "--resume", "--seed", "2")...); o.status != 1 || !strings.Contains(o.log, "seed 1") {
		t.Errorf("resumed with another seed: status %d, %q", o.status, o.log)
	}
}

func TestExperimentJSON(t *testing.T) {
	doc := parse(t, succeed(t, "experiment", "norms", "--runs", "2", "--json").out)
	norms, _ := doc["norms"].(map[string]any)
	if doc["experiment"] != "norms" || doc["seed"] != 1.0 || doc["runs"] != 2.0 || doc["truth"] != "isotropic" || norms == nil || len(norms["exponents"].([]any)) == 0 {
		t.Errorf("norms: %v", doc)
	}
	doc = parse(t, succeed(t, "experiment", "metric-quality", "--runs", "1", "--protocol", "paper", "--n", "20", "--d", "3", "--k", "4", "--json").out)
	sweeps := doc["sweeps"].([]any)
	row := sweeps[0].(map[string]any)["rows"].([]any)[0].(map[string]any)
	if len(sweeps) != 2 || row["method"] != "cross-entropy" || row["difference"].(map[string]any)["low"] != nil {
		t.Errorf("metric-quality: first row %v of %d sweeps, want cross entropy with bounds null for one run", row, len(sweeps))
	}
}

func TestExperimentUsage(t *testing.T) {
	for name, args := range map[string][]string{
		"no name":        {},
		"unknown":        {"figure-6"},
		"two":            {"norms", "tree-shapes"},
		"protocol":       {"norms", "--protocol", "best"},
		"truth":          {"norms", "--truth", "flat"},
		"init":           {"norms", "--init", "ones"},
		"average":        {"norms", "--average", "maybe"},
		"runs":           {"norms", "--runs", "0"},
		"k":              {"norms", "--k", "1"},
		"resume without": {"norms", "--resume"},
	} {
		if o := call(t, append([]string{"experiment"}, args...)...); o.status != 2 || o.out != "" || strings.Count(o.log, "\n") != 1 {
			t.Errorf("%s: status %d, out %q, log %q", name, o.status, o.out, o.log)
		}
	}
	if o := call(t, "experiment", "norms", "--out", filepath.Join(t.TempDir(), "no", "such", "folder")); o.status != 1 || !strings.Contains(o.log, "--out") {
		t.Errorf("a folder that cannot be made: status %d, %q", o.status, o.log)
	}
}

// A program that is killed leaves cells from which another goes on to the same
// files.
func TestExperimentKilled(t *testing.T) {
	root := t.TempDir()
	whole, broken := filepath.Join(root, "whole"), filepath.Join(root, "broken")
	succeed(t, smallShapes(whole)...)
	for kill := range 2 {
		c := exec.Command(os.Args[0], smallShapes(broken, "--resume", "--threads", "1")...)
		c.Env = append(os.Environ(), asProgram+"=1")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		// Wait until there are some cells more, however slow the machine is.
		want := 10 * (kill + 1)
		for range 3000 {
			data, _ := os.ReadFile(filepath.Join(broken, "cells.jsonl"))
			if bytes.Count(data, []byte("\n")) > want {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := c.Wait(); err == nil {
			t.Fatal("the program was done before it could be killed")
		}
	}
	o := succeed(t, smallShapes(broken, "--resume")...)
	if !strings.Contains(o.log, "cells are finished already") {
		t.Errorf("log %q", o.log)
	}
	got, want := numbersOf(t, broken), numbersOf(t, whole)
	for name, data := range want {
		if got[name] != data {
			t.Errorf("%s differs after two kills", name)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
}

func TestExperimentLine(t *testing.T) {
	line := experimentLine(experiment.Progress{Sweep: "norms", Done: 5, Total: 20, Fraction: 0.25}, 10*time.Second)
	for _, want := range []string{"[======  ", " 25 %", "5 of 20 cells", "norms", "30s left"} {
		if !strings.Contains(line, want) {
			t.Errorf("no %q in %q", want, line)
		}
	}
}

package main

import (
	"strings"
	"testing"
)

func TestBench(t *testing.T) {
	o := succeed(t, "bench", "--tiny", "--threads", "2")
	head, rows, found := strings.Cut(o.out, "\n\n")
	if !found || !strings.HasPrefix(head, "instructions ") || !strings.Contains(head, "CPUs") {
		t.Errorf("bench begins with %q", head)
	}
	lines := strings.Split(rows, "\n")
	for _, want := range []string{"product X W^T", "softmax", "training step", "training step, tree", "epoch on sparse text", "cover tree", "predict a dense row"} {
		found := false
		for _, line := range lines {
			found = found || strings.HasPrefix(line, want+"  ") && strings.Contains(line, "/s")
		}
		if !found {
			t.Errorf("no row %q in\n%s", want, rows)
		}
	}
	if fields := strings.Fields(lines[0]); strings.Join(fields, " ") != "what size threads time rate ratio" {
		t.Errorf("columns %q", fields)
	}
}

func TestBenchJSON(t *testing.T) {
	report := parse(t, succeed(t, "bench", "--tiny", "--json", "--threads", "1").out)
	for _, key := range []string{"instructions", "os", "arch", "cpus", "results"} {
		if _, ok := report[key]; !ok {
			t.Errorf("no key %q", key)
		}
	}
	results := report["results"].([]any)
	if len(results) < 10 {
		t.Fatalf("%d results", len(results))
	}
	for _, r := range results {
		for _, key := range []string{"name", "size", "threads", "seconds", "rate", "unit"} {
			if _, ok := r.(map[string]any)[key]; !ok {
				t.Errorf("no key %q in %v", key, r)
			}
		}
	}
}

func TestBenchRefuses(t *testing.T) {
	for _, args := range [][]string{{"bench", "--threads", "-1"}, {"bench", "file"}} {
		if o := call(t, args...); o.status != 2 {
			t.Errorf("%q: status %d, %q", args, o.status, o.log)
		}
	}
}

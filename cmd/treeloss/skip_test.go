package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// With --skip-bad, train, evaluate and predict do without the rows that cannot be used
// and tell of them; without it the error names the flag.
func TestSkipBad(t *testing.T) {
	data := "text,label\n"
	for i := range 10 {
		data += fmt.Sprintf("hello there %d,greeting\ngood bye %d,parting\n", i, i)
	}
	good := data
	for i := range 12 {
		data += fmt.Sprintf("row %d,\n", i)
	}
	bad, model := file(t, "bad.csv", data), filepath.Join(t.TempDir(), "m.safetensors")
	o := call(t, "train", "--data", bad, "--model", model)
	if o.status != 1 || !strings.HasSuffix(o.log, "fill it in or remove the row; --skip-bad leaves such rows out\n") {
		t.Errorf("without --skip-bad: status %d, %q", o.status, o.log)
	}
	check := func(command, log string) {
		if !strings.Contains(log, "left out because of --skip-bad: 12 rows\n  "+bad+":22:7: column \"label\": the label is empty") ||
			!strings.Contains(log, bad+":31:7") || strings.Contains(log, bad+":32:7") || !strings.Contains(log, "\n  and 2 more\n") {
			t.Errorf("the log of %s is %q, want ten of the twelve rows", command, log)
		}
	}
	check("train", succeed(t, "train", "--data", bad, "--model", model, "--skip-bad").log)
	check("train --valid", succeed(t, "train", "--data", file(t, "good.csv", good), "--valid", bad, "--model", model, "--skip-bad").log)
	o = succeed(t, "evaluate", "--data", bad, "--model", model, "--skip-bad", "--json")
	check("evaluate", o.log)
	if n := parse(t, o.out)["examples"]; n != 20.0 {
		t.Errorf("evaluate measures %v examples, want 20", n)
	}
	o = succeed(t, "predict", "--model", model, "--skip-bad", file(t, "ask.csv", "text,n\nhello,1\nwell\nbye,2\n"))
	if strings.Count(o.out, "\n") != 2 || !strings.Contains(o.log, "--skip-bad: 1 row\n") {
		t.Errorf("predict writes %q and logs %q, want two answers", o.out, o.log)
	}
}

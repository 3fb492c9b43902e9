package main

import (
	"bytes"
	"context"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestCV(t *testing.T) {
	args := []string{"cv", "--data", desk, "--folds", "4", "--class-weight", "balanced"}
	v := parse(t, succeed(t, append(args, "--json", "--quiet")...).out)
	folds := v["folds"].([]any)
	if len(folds) != 4 || v["examples"] != 48.0 || v["classes"] != 6.0 {
		t.Fatalf("%d folds of %v examples and %v classes", len(folds), v["examples"], v["classes"])
	}
	for _, key := range []string{"accuracy", "top5_accuracy", "macro_f1", "similarity_accuracy", "log_loss", "calibration_error"} {
		var sum, squares, pooled, tested float64
		for _, f := range folds {
			fold := f.(map[string]any)
			x := fold[key].(float64)
			sum, squares = sum+x, squares+x*x
			pooled += x * fold["tested"].(float64)
			tested += fold["tested"].(float64)
			if fold["trained"].(float64)+fold["tested"].(float64) != 48 {
				t.Errorf("a fold of %v and %v rows", fold["trained"], fold["tested"])
			}
		}
		mean := sum / 4
		se := math.Sqrt(max(squares/4-mean*mean, 0) / 3)
		if got := v["mean"].(map[string]any)[key].(float64); math.Abs(got-mean) > 1e-12 {
			t.Errorf("%s: mean %v, want %v", key, got, mean)
		}
		if got := v["standard_error"].(map[string]any)[key].(float64); math.Abs(got-se) > 1e-6 {
			t.Errorf("%s: standard error %v, want %v", key, got, se)
		}
		got := v["pooled"].(map[string]any)[key].(float64)
		if key != "macro_f1" && key != "calibration_error" && math.Abs(got-pooled/tested) > 1e-12 {
			t.Errorf("%s: pooled %v, want the mean over rows %v", key, got, pooled/tested)
		}
	}
	again := parse(t, succeed(t, append(args, "--json", "--quiet", "--threads", "1")...).out)
	if again["pooled"].(map[string]any)["log_loss"] != v["pooled"].(map[string]any)["log_loss"] {
		t.Error("another number of threads gave another answer")
	}
	o := succeed(t, args...)
	for _, want := range []string{"fold", "measure", "macro F1", "mean over folds", "pooled", "48 examples, 6 classes", "similarity of classes: name n-grams"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("cv prints\n%swant %q in it", o.out, want)
		}
	}
}

func TestCVWarnsOfRareClasses(t *testing.T) {
	data := string(content(t, desk)) + "Where do I park my bicycle?,parking\nIs there a cafe?,food\nCan I buy a coffee?,food\n"
	o := succeed(t, "cv", "--json", "--data", file(t, "rare.csv", data), "--sharing", "none", "--prior", "10")
	if !strings.Contains(o.log, `2 of 8 classes have fewer examples than there are folds`) || !strings.Contains(o.log, `1 of 8 classes have one example`) {
		t.Errorf("the log is %q", o.log)
	}
	v := parse(t, o.out)
	if rare := texts(t, v["rare"]); strings.Join(rare, ",") != "food,parking" {
		t.Errorf("rare classes %q", rare)
	}
	if single := texts(t, v["single"]); strings.Join(single, ",") != "parking" {
		t.Errorf("classes of one row %q", single)
	}
	for _, f := range v["folds"].([]any) {
		if prior := f.(map[string]any)["prior"]; prior != 10.0 {
			t.Errorf("a fold with the prior %v, want 10", prior)
		}
	}
}

func TestCVCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, log bytes.Buffer
	status := execute(ctx, []string{"cv", "--quiet", "--data", desk}, strings.NewReader(""), &out, &log)
	if status != 130 || !strings.Contains(log.String(), "fold 1 of 5") || out.Len() > 0 {
		t.Errorf("status %d, %q, %q", status, out.String(), log.String())
	}
}

// The rows of --out are the data in their order, each answered out of fold, and add up
// to what is pooled.
func TestCVRows(t *testing.T) {
	data, input := "number,text,label\n", rowsOf(t, desk)
	for i, row := range input {
		data += strconv.Itoa(i) + ",\"" + row[0] + "\"," + row[1] + "\n"
	}
	for _, stdin := range []string{"", data} {
		path := file(t, "x.csv", data)
		place := path
		if stdin != "" {
			path, place = "-", stdinName
		}
		out := filepath.Join(t.TempDir(), "rows.csv")
		o := callWith(t, stdin, "cv", "--json", "--quiet", "--data", path, "--folds", "3", "--sharing", "none", "--prior", "10", "--id", "number", "--out", out)
		if o.status != 0 {
			t.Fatal(o.log)
		}
		table := csvRows(t, out)
		if len(table) != len(input)+1 {
			t.Fatalf("%d rows, want %d and a header", len(table), len(input))
		}
		right, loss := 0.0, 0.0
		for i, row := range table[1:] {
			if row[0] != place+":"+strconv.Itoa(i+2) || row[1] != strconv.Itoa(i) || row[2] != input[i][0] || row[3] != input[i][1] {
				t.Errorf("row %d is %q, want %q", i, row, input[i])
			}
			if row[5] == "1" {
				right++
			}
			of, err := strconv.ParseFloat(row[7], 64)
			if err != nil || (row[3] == row[4]) != (row[5] == "1") {
				t.Errorf("%q: %v", row, err)
			}
			loss -= math.Log(of)
		}
		n, pooled := float64(len(input)), parse(t, o.out)["pooled"].(map[string]any)
		if math.Abs(right/n-pooled["accuracy"].(float64)) > 1e-12 || math.Abs(loss/n-pooled["log_loss"].(float64)) > 1e-6 {
			t.Errorf("the rows have accuracy %v and log loss %v, cv prints %v", right/n, loss/n, pooled)
		}
	}
}

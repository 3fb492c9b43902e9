package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// exportedModel writes a model another way and returns the path of that.
func exportedModel(t *testing.T, model string, args ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.safetensors")
	succeed(t, append([]string{"export", "--model", model, "--out", out}, args...)...)
	return out
}

// A smaller model is read by predict and explain; the accuracy of both is printed.
func TestExport(t *testing.T) {
	model := quickModel(t)
	out := filepath.Join(t.TempDir(), "small.safetensors")
	o := succeed(t, "export", "--model", model, "--out", out, "--quantize", "int8", "--data", deskTest, "--json")
	r := parse(t, o.out)
	info, err := os.Stat(out)
	if err != nil || r["bytes"] != float64(info.Size()) || r["accuracy_before"] == nil || r["accuracy_after"] == nil || r["examples"].(float64) < 10 {
		t.Errorf("%v %v", r, err)
	}
	whole, small := succeed(t, "predict", "--model", model, deskTest).out, succeed(t, "predict", "--model", out, deskTest).out
	if strings.Count(small, "\n") != strings.Count(whole, "\n") || small == whole {
		t.Errorf("predicted %q, with all bits %q", small, whole)
	}
	succeed(t, "explain", "--model", out, deskTest)
	for format, file := range map[string]string{"onnx": "m.onnx", "npy": "folder", "json": "m.json", "csv": "m.csv", "fasttext": "m.vec"} {
		path := filepath.Join(t.TempDir(), file)
		lines := strings.Fields(succeed(t, "export", "--model", model, "--format", format, "--out", path, "--prune", "0.5").out)
		for _, line := range lines {
			if info, err := os.Stat(line); err != nil || info.Size() == 0 {
				t.Errorf("%s: %q: %v", format, line, err)
			}
		}
	}
	for want, args := range map[string][]string{
		"--out":                       {"--model", model},
		"is the model itself":         {"--model", model, "--out", model},
		"is no model":                 {"--model", desk, "--out", out},
		"--prune 7, want":             {"--model", model, "--out", out, "--prune", "7"},
		"--quantize \"int4\", want":   {"--model", model, "--out", out, "--quantize", "int4"},
		"--format \"pickle\", want":   {"--model", model, "--out", out, "--format", "pickle"},
		"--prune and --quantize int8": {"--model", model, "--out", out, "--prune", "0.5", "--quantize", "int8"},
		"nowhere.csv: no such file":   {"--model", model, "--out", out, "--data", "nowhere.csv"},
		"cannot write":                {"--model", model, "--out", filepath.Join(out, "x", "y")},
	} {
		if o := call(t, append([]string{"export"}, args...)...); o.status == 0 || !strings.Contains(o.log, want) {
			t.Errorf("export %q: status %d, %s; want %q", args, o.status, o.log, want)
		}
	}
}

package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

func TestTrainCalibrates(t *testing.T) {
	for _, tc := range []struct {
		name string
		args []string
		rows float64
	}{
		{"held-out rows", []string{"--sharing", "none"}, 48},
		{"given rows", []string{"--sharing", "none", "--valid", deskTest}, 12},
		{"hierarchical softmax", []string{"--loss", "hierarchical-softmax", "--taxonomy", deskGroups}, 48},
		{"auto", []string{"--taxonomy", deskGroups}, 48},
	} {
		t.Run(tc.name, func(t *testing.T) {
			args := append([]string{"--data", desk}, tc.args...)
			model := filepath.Join(t.TempDir(), "m.safetensors")
			train := func(more ...string) outcome {
				return succeed(t, append(append([]string{"train", "--calibrate", "--model", model}, args...), more...)...)
			}
			o := train("--threads", "1")
			if !strings.Contains(o.out, "calibrated on ") || !strings.Contains(o.out, "held-out rows: temperature ") {
				t.Errorf("%q, want a line about the calibration", o.out)
			}
			first := content(t, model)
			c, _ := parse(t, train("--json", "--threads", "3").out)["training"].(map[string]any)["calibration"].(map[string]any)
			// The confidence scale lowers the loss of "the most probable class is right"
			// (decide.FitConfidence), beside which that over all classes may rise by a little.
			if c["rows"] != tc.rows || !(c["log_loss_after"].(float64) <= 1.01*c["log_loss_before"].(float64)) {
				t.Errorf("calibration %v, want %v rows and no higher log loss", c, tc.rows)
			}
			if !bytes.Equal(first, content(t, model)) {
				t.Error("another model with three threads than with one")
			}

			before := parse(t, succeed(t, "evaluate", "--json", "--model", trainOn(t, append(args, "--calibrate=false")...), "--data", deskTest).out)
			after := parse(t, succeed(t, "evaluate", "--json", "--model", model, "--data", deskTest).out)
			if before["temperature"] != 1.0 || after["temperature"] != c["temperature"] {
				t.Errorf("temperatures %v and %v, want 1 and %v", before["temperature"], after["temperature"], c["temperature"])
			}
			if before["accuracy"] != after["accuracy"] || before["log_loss"] == after["log_loss"] {
				t.Errorf("accuracy %v -> %v, log loss %v -> %v; want the same and another", before["accuracy"], after["accuracy"], before["log_loss"], after["log_loss"])
			}
		})
	}
}

func TestTrainCannotCalibrate(t *testing.T) {
	few := file(t, "few.csv", "text,label\nred,a\ncrimson red,a\nblue,b\nnavy blue,b\n")
	easy := file(t, "easy.csv", "text,label\n"+strings.Repeat("red,a\nblue,b\n", 5))
	for _, tc := range []struct{ name, data, want string }{
		{"nothing to hold out", few, "not calibrated: too few rows to hold any out"},
		{"all rows right", easy, "not calibrated: no temperature fits the 10 held-out rows, all of which are right"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			model := filepath.Join(t.TempDir(), "m.safetensors")
			o := succeed(t, "train", "--calibrate", "--sharing", "none", "--data", tc.data, "--model", model)
			if !strings.Contains(o.out, tc.want) {
				t.Errorf("%q, want %q", o.out, tc.want)
			}
			o = succeed(t, "train", "--json", "--calibrate", "--sharing", "none", "--data", tc.data, "--model", model)
			if c := parse(t, o.out)["training"].(map[string]any)["calibration"]; c != nil || !strings.Contains(o.log, tc.want) {
				t.Errorf("calibration %v, log %q; want none and why", c, o.log)
			}
			if e := parse(t, succeed(t, "evaluate", "--json", "--model", model, "--data", tc.data).out); e["temperature"] != 1.0 {
				t.Errorf("temperature %v, want 1", e["temperature"])
			}
		})
	}
}

// A taxonomy that was given is the tree of the model, whatever it shares.
func TestTrainKeepsTheTaxonomy(t *testing.T) {
	model := trainOn(t, "--data", desk, "--sharing", "names", "--taxonomy", deskGroups)
	if o := succeed(t, "tree", "show", model); !strings.Contains(o.out, "library") || !strings.Contains(o.out, "account") {
		t.Errorf("tree %q, want that of the taxonomy", o.out)
	}
}

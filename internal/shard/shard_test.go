package shard

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/dataset"
)

var task = Task{Program: "treeloss test", Command: "predict", Options: map[string]string{"top": "3"}, Model: File{"m", 5, "aa"}, Inputs: []File{{"x.csv", 7, "bb"}}}

// text is what part i writes.
func text(i int) string { return strings.Repeat(fmt.Sprintf("answer of part %d\n", i), 1+i%3) }

// work does what a process does for a part; it is killed after some steps of four.
func work(t *testing.T, folder string, i, n, steps int) {
	t.Helper()
	w, err := Create(folder, dataset.Shard{Index: i, Count: n}, task, []string{"predict"})
	if err != nil {
		t.Fatal(err)
	}
	if w == nil || steps == 0 { // done before, or killed before a byte was written
		return
	}
	half := len(text(i)) / 2
	if fmt.Fprint(w, text(i)[:half]); steps == 1 {
		w.file.Flush() // what a killed process leaves, under another name
		return
	}
	if fmt.Fprint(w, text(i)[half:]); steps == 2 {
		if err := w.file.Commit(); err != nil { // killed between the part and its manifest
			t.Fatal(err)
		}
		return
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

// gather joins all parts.
func gather(folder string, w io.Writer) (parts, rows int, err error) {
	p, err := Open(folder)
	if err != nil {
		return 0, 0, err
	}
	return len(p.Files), p.Rows, p.Join(w)
}

// Whatever is killed, run again or run twice, in any order: what is gathered is whole.
func TestRandomSchedules(t *testing.T) {
	schedules := uint64(50)
	if testing.Short() {
		schedules = 5
	}
	for seed := range schedules {
		rng := rand.New(rand.NewPCG(seed, 0))
		folder, n := filepath.Join(t.TempDir(), "parts"), 1+rng.IntN(8)
		want := ""
		for i := range n {
			want += text(i)
		}
		done := make([]bool, n)
		for left := n; left > 0; {
			i, steps := rng.IntN(n), rng.IntN(4)
			work(t, folder, i, n, steps)
			if steps == 3 && !done[i] {
				done[i] = true
				left--
			}
			var got bytes.Buffer
			parts, rows, err := gather(folder, &got)
			switch {
			case left > 0 && (err == nil || got.Len() > 0):
				t.Fatalf("seed %d: %d parts are missing and gather wrote %d bytes, error %v", seed, left, got.Len(), err)
			case left == 0 && (err != nil || got.String() != want || parts != n || rows != strings.Count(want, "\n")):
				t.Fatalf("seed %d: gathered %q of %d parts, %d rows, error %v; want %q", seed, got.String(), parts, rows, err, want)
			}
		}
	}
}

func TestGatherRefuses(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(folder string) error
		want   string
	}{
		{"a part is missing", func(f string) error { return os.Remove(filepath.Join(f, "part-00002-of-00004.json")) }, "not finished: 2;"},
		{"a part without its bytes", func(f string) error { return os.Remove(filepath.Join(f, "part-00002-of-00004")) }, "run part 2/4 again"},
		{"a changed byte", func(f string) error {
			return os.WriteFile(filepath.Join(f, "part-00001-of-00004"), []byte(strings.ToUpper(text(1))), 0o644)
		}, "not the bytes that its manifest says"},
		{"a cut part", func(f string) error { return os.Truncate(filepath.Join(f, "part-00001-of-00004"), 3) }, "run part 1/4 again"},
		{"parts of another number", func(f string) error {
			return os.Rename(filepath.Join(f, "part-00001-of-00004.json"), filepath.Join(f, "part-00001-of-00005.json"))
		}, "no manifest"},
		{"a broken manifest", func(f string) error {
			return os.WriteFile(filepath.Join(f, "part-00001-of-00004.json"), []byte(`{"part":-1,"parts":4}`), 0o644)
		}, "no manifest"},
		{"another model", func(f string) error {
			path := filepath.Join(f, "part-00003-of-00004.json")
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(path, bytes.Replace(data, []byte(`"aa"`), []byte(`"cc"`), 1), 0o644)
		}, "another model"},
	} {
		folder := t.TempDir()
		for i := range 4 {
			work(t, folder, i, 4, 3)
		}
		if err := tc.change(folder); err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if _, _, err := gather(folder, &got); err == nil || !strings.Contains(err.Error(), tc.want) || got.Len() > 0 {
			t.Errorf("%s: error %v after %d bytes, want %q", tc.name, err, got.Len(), tc.want)
		}
	}
	if _, _, err := gather(t.TempDir(), &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "no finished part") {
		t.Errorf("an empty folder: %v", err)
	}
}

// A folder has the parts of one task.
func TestCreateRefuses(t *testing.T) {
	folder := t.TempDir()
	work(t, folder, 0, 2, 3)
	for want, change := range map[string]func(*Task, *dataset.Shard){
		"one of 2 parts":   func(_ *Task, s *dataset.Shard) { s.Count = 3 },
		"another model":    func(x *Task, _ *dataset.Shard) { x.Model.Bytes++ },
		"other files":      func(x *Task, _ *dataset.Shard) { x.Inputs = append(x.Inputs, File{}) },
		"treeloss test":    func(x *Task, _ *dataset.Shard) { x.Program = "treeloss v2" },
		"options":          func(x *Task, _ *dataset.Shard) { x.Options = nil },
		"command predict;": func(x *Task, _ *dataset.Shard) { x.Command = "embed" },
	} {
		other, s := task, dataset.Shard{Index: 1, Count: 2}
		change(&other, &s)
		if _, err := Create(folder, s, other, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestParse(t *testing.T) {
	for _, tc := range []struct {
		text string
		env  map[string]string
		want dataset.Shard // zero: refused
	}{
		{text: "0/1", want: dataset.Shard{Index: 0, Count: 1}},
		{text: "3/8", want: dataset.Shard{Index: 3, Count: 8}},
		{text: "8/8"}, {text: "-1/8"}, {text: "3"}, {text: "a/b"}, {text: "1/0"}, {text: "0/1000000"}, {text: ""}, {text: "auto"},
		{text: "auto", env: map[string]string{"JOB_COMPLETION_INDEX": "2", "JOB_COMPLETIONS": "5"}, want: dataset.Shard{Index: 2, Count: 5}},
		{text: "auto", env: map[string]string{"JOB_COMPLETION_INDEX": "2"}},
		{text: "auto", env: map[string]string{"JOB_COMPLETION_INDEX": "5", "JOB_COMPLETIONS": "5"}},
		{text: "auto", env: map[string]string{"SLURM_ARRAY_TASK_ID": "7", "SLURM_ARRAY_TASK_COUNT": "4", "SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_STEP": "2"}, want: dataset.Shard{Index: 3, Count: 4}},
		{text: "auto", env: map[string]string{"SLURM_ARRAY_TASK_ID": "0", "SLURM_ARRAY_TASK_COUNT": "4"}, want: dataset.Shard{Index: 0, Count: 4}},
	} {
		got, err := Parse(tc.text, func(name string) string { return tc.env[name] })
		if (err == nil) != (tc.want.Count > 0) || err == nil && got != tc.want {
			t.Errorf("%q with %v: %v, %v, want %v", tc.text, tc.env, got, err, tc.want)
		}
	}
}

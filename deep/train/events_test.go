package train

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/treeloss/treeloss/deep/internal/backendtest"
	"github.com/treeloss/treeloss/internal/tensorboard/eventtest"
)

// A run that is broken off and resumed writes two event files, which together
// say what the log says; the second begins after the last step of the checkpoint.
// A run that is over writes none.
func TestEventsAreOfTheLog(t *testing.T) {
	opts := Options{Epochs: 4, Batch: 8, Seed: 5, Folder: t.TempDir(), TensorBoard: filepath.Join(t.TempDir(), "new", "run")}
	ctx, cancel := context.WithCancel(context.Background())
	opts.Progress = func(p Progress) {
		if p.Epoch == 3 && p.Step == 2 {
			cancel()
		}
	}
	if _, _, err := run(t, ctx, opts); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	opts.Progress, opts.Resume = nil, true
	for range 2 {
		if _, _, err := run(t, context.Background(), opts); err != nil {
			t.Fatal(err)
		}
	}
	files, events, err := eventtest.ReadFolder(opts.TensorBoard)
	if err != nil || len(files) != 2 {
		t.Fatalf("files %v, error %v", files, err)
	}
	var epochs []eventtest.Event
	for i, e := range events {
		if len(e) != 4 || e[0].Version != "brain.Event:2" || e[1].Session != 1 || e[1].Step != int64([]int{1, 13}[i]) {
			t.Fatalf("file %d: %+v", i, e)
		}
		epochs = append(epochs, e[2:]...)
	}
	log, err := os.ReadFile(filepath.Join(opts.Folder, logFile))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(log), []byte("\n"))
	for i, e := range epochs {
		var l line
		if err := json.Unmarshal(lines[i], &l); err != nil {
			t.Fatal(err)
		}
		want := map[string]float64{"loss/train": l.Loss, "accuracy/train": l.Accuracy, "loss/valid": l.Valid.Loss, "accuracy/valid": l.Valid.Accuracy,
			"rate": l.Rate, "examples_per_second": l.PerSecond}
		if e.Step != int64(l.Step) || e.Step != int64(6*(i+1)) || len(e.Scalars) != len(want) {
			t.Errorf("epoch %d: %+v, log %s", i+1, e, lines[i])
		}
		for tag, v := range want {
			if got, ok := e.Scalars[tag]; !ok || got != float32(v) {
				t.Errorf("epoch %d: %s %v, want %v", i+1, tag, got, v)
			}
		}
	}
}

// Without data to evaluate on there are no such scalars; a folder that cannot be
// is an error before the first step.
func TestEventsWithoutValid(t *testing.T) {
	opts := Options{Epochs: 1, Batch: 5, TensorBoard: t.TempDir()}
	tr, err := New(backendtest.Open(t), task(), newPoints(10, 1), nil, opts)
	if err != nil {
		t.Fatal(err)
	}
	_, err = tr.Run(context.Background())
	tr.Close()
	if err != nil {
		t.Fatal(err)
	}
	_, events, err := eventtest.ReadFolder(opts.TensorBoard)
	if err != nil || len(events) != 1 || len(events[0]) != 3 || len(events[0][2].Scalars) != 4 {
		t.Errorf("%+v, error %v", events, err)
	}
	opts.TensorBoard = filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(opts.TensorBoard, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	opts.Progress = func(Progress) { t.Error("a step was made") }
	if _, err := New(backendtest.Open(t), task(), newPoints(10, 1), nil, opts); err == nil || !strings.Contains(err.Error(), "tensorboard: folder") {
		t.Errorf("a file for a folder: %v", err)
	}
}

// An event file that takes no more ends the run, before the checkpoint.
func TestRunStopsAtUnwrittenEvents(t *testing.T) {
	tr, err := New(backendtest.Open(t), task(), newPoints(10, 1), nil, Options{Epochs: 2, Batch: 5, Folder: t.TempDir(), TensorBoard: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	if err := tr.events.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := tr.Run(context.Background()); err == nil || !strings.Contains(err.Error(), "tensorboard") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(filepath.Join(tr.opts.Folder, checkpointFile)); err == nil {
		t.Error("there is a checkpoint")
	}
}

func TestTimeLeft(t *testing.T) {
	var p pace
	p.step(10 * time.Second) // compiles
	if got := p.left(3, 2); got != 30*time.Second {
		t.Errorf("after the first step %v", got)
	}
	p.step(time.Second)
	p.step(3 * time.Second)
	if got := p.left(5, 2); got != 10*time.Second {
		t.Errorf("before an evaluation %v", got)
	}
	p.evaluate = 7 * time.Second
	if got := p.left(5, 2); got != 24*time.Second {
		t.Errorf("with evaluations %v", got)
	}
}

// The time left falls to nothing.
func TestProgressTellsTimeLeft(t *testing.T) {
	var all []Progress
	opts := Options{Epochs: 2, Batch: 16, Progress: func(p Progress) { all = append(all, p) }}
	if _, _, err := run(t, context.Background(), opts); err != nil {
		t.Fatal(err)
	}
	if len(all) != 8 || all[0].Left <= 0 || all[7].Left != 0 {
		t.Errorf("reports %+v", all)
	}
}

package train

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train/loss"

	"github.com/treeloss/treeloss/deep/internal/backendtest"
	"github.com/treeloss/treeloss/deep/layer"
)

const (
	classes = 3
	inputs  = 4
)

// points are examples around a centre for each class; in training each epoch
// moves them a little.
type points struct {
	x      [][inputs]float32
	labels []int
	broken bool // an error in the second epoch
}

func newPoints(n int, seed uint64) *points {
	rng := rand.New(rand.NewPCG(seed, 0))
	p := &points{}
	for i := range n {
		y := i % classes
		x := [inputs]float32{}
		for j := range x {
			x[j] = float32(rng.NormFloat64()) * 0.7
		}
		x[y] += 2
		p.x, p.labels = append(p.x, x), append(p.labels, y)
	}
	return p
}

func (p *points) Len() int        { return len(p.x) }
func (p *points) Label(i int) int { return p.labels[i] }
func (p *points) Batch(rows []int, epoch int) ([]*tensors.Tensor, error) {
	var flat []float32
	for _, r := range rows {
		for j, v := range p.x[r] {
			if epoch >= 0 {
				v += float32(rand.New(rand.NewPCG(uint64(epoch), uint64(r*inputs+j))).NormFloat64()) * 0.1
			}
			flat = append(flat, v)
		}
	}
	if p.broken && epoch == 1 {
		return nil, errors.New("broken picture")
	}
	return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(flat, len(rows), inputs)}, nil
}

func task() Task {
	return Task{
		Features: func(scope *model.Scope, in []*graph.Node) *graph.Node {
			x := layer.BatchNorm(scope.In("norm"), layers.Dense(scope.In("hidden"), in[0], false, 5))
			return graph.Max(x, graph.ZerosLike(x))
		},
		Head:    func(scope *model.Scope, x *graph.Node) *graph.Node { return layers.Dense(scope, x, true, classes) },
		Loss:    loss.SparseCategoricalCrossEntropyLogits,
		Classes: classes,
	}
}

func hash(t *testing.T, store *model.Store) string {
	t.Helper()
	var all []string
	for v := range store.IterVariables() {
		all = append(all, fmt.Sprintln(v.Path(), v.Trainable, v.MustValue().Value()))
	}
	slices.Sort(all)
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(all, ""))))
}

func run(t *testing.T, ctx context.Context, opts Options) (*Trainer, Result, error) {
	t.Helper()
	tr, err := New(backendtest.Open(t), task(), newPoints(50, 1), newPoints(31, 2), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Close)
	r, err := tr.Run(ctx)
	return tr, r, err
}

func TestRunLearns(t *testing.T) {
	var last Progress
	folder := t.TempDir()
	tr, r, err := run(t, context.Background(), Options{Epochs: 6, Batch: 16, Seed: 4, Folder: folder, Progress: func(p Progress) { last = p }})
	if err != nil {
		t.Fatal(err)
	}
	if r.Epochs != 6 || r.Steps != 18 || r.Best == nil || r.Best.Accuracy < 0.8 {
		t.Errorf("result %+v, best %+v", r, r.Best)
	}
	if last.Valid == nil || last.Epoch != 6 || last.Step != 3 {
		t.Errorf("last progress %+v", last)
	}
	log, err := os.ReadFile(filepath.Join(folder, logFile))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	for i, text := range lines {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil || l.Epoch != i+1 || l.Valid == nil {
			t.Errorf("line %d of the log: %s, error %v", i+1, text, err)
		}
	}
	if len(lines) != 6 {
		t.Errorf("%d lines in the log", len(lines))
	}
	// What the store holds is the best epoch.
	e, err := NewEvaluator(backendtest.Open(t), tr.Store(), task(), 7)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if v, err := e.Evaluate(context.Background(), newPoints(31, 2)); err != nil || v.Accuracy != r.Best.Accuracy {
		t.Errorf("accuracy of the store is %v, best was %v, error %v", v.Accuracy, r.Best.Accuracy, err)
	}
}

// A run that is broken off in the middle of an epoch and resumed ends with the
// same bits as one that went through, its log included but for times.
func TestResumeIsExact(t *testing.T) {
	opts := Options{Epochs: 5, Batch: 8, Seed: 9, Nesterov: true, About: "test"}
	opts.Folder = t.TempDir()
	whole, want, err := run(t, context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	opts.Folder = filepath.Join(t.TempDir(), "new")
	ctx, cancel := context.WithCancel(context.Background())
	opts.Progress = func(p Progress) {
		if p.Epoch == 3 && p.Step == 4 {
			cancel()
		}
	}
	if _, r, err := run(t, ctx, opts); !errors.Is(err, context.Canceled) || r.Epochs != 2 {
		t.Fatalf("broken off after %d epochs, error %v", r.Epochs, err)
	}
	opts.Progress = nil
	if _, err := New(backendtest.Open(t), task(), newPoints(50, 1), nil, opts); err == nil || !strings.Contains(err.Error(), "resume it") {
		t.Errorf("a folder in use: %v", err)
	}
	// A line of an epoch that never reached the checkpoint, and half a line.
	log, err := os.OpenFile(filepath.Join(opts.Folder, logFile), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(log, "{\"epoch\":3}\n{\"epo")
	log.Close()
	opts.Resume = true
	resumed, got, err := run(t, context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	if hash(t, resumed.Store()) != hash(t, whole.Store()) {
		t.Error("the weights differ")
	}
	if got.BestEpoch != want.BestEpoch || *got.Best != *want.Best || got.Loss != want.Loss {
		t.Errorf("%+v, want %+v", got, want)
	}
	if text, _ := os.ReadFile(filepath.Join(opts.Folder, logFile)); strings.Count(string(text), "\n") != 5 {
		t.Errorf("log %s", text)
	}
	opts.Seed++
	if _, err := New(backendtest.Open(t), task(), newPoints(50, 1), nil, opts); err == nil || !strings.Contains(err.Error(), "another training") {
		t.Errorf("another seed: %v", err)
	}
	path := filepath.Join(opts.Folder, checkpointFile)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-1] ^= 1
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(backendtest.Open(t), task(), newPoints(50, 1), nil, opts); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("a damaged checkpoint: %v", err)
	}
}

// Without a folder the best weights are kept in memory: the same as with one.
func TestBestWithoutFolder(t *testing.T) {
	opts := Options{Epochs: 12, Batch: 8, Seed: 3, Patience: 2, Rate: Schedule{Base: 0.3}}
	bare, r, err := run(t, context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	if r.Epochs == 12 || r.Epochs-r.BestEpoch != 2 {
		t.Errorf("stopped after epoch %d, best %d, want 2 later", r.Epochs, r.BestEpoch)
	}
	opts.Folder = t.TempDir()
	kept, _, err := run(t, context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	if hash(t, bare.Store()) != hash(t, kept.Store()) {
		t.Error("the weights differ")
	}
}

// A momentum below 0 means none: there is no variable for it.
func TestNoMomentum(t *testing.T) {
	tr, _, err := run(t, context.Background(), Options{Epochs: 2, Batch: 8, Momentum: -1, Rate: Schedule{Base: 0.05}})
	if err != nil {
		t.Fatal(err)
	}
	for v := range tr.Store().IterVariables() {
		if strings.Contains(v.Path(), "momentum") {
			t.Errorf("there is a variable %s", v.Path())
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		opts   Options
		valid  Data
		labels []int
	}{
		"momentum":              {opts: Options{Momentum: 1}},
		"rate":                  {opts: Options{Rate: Schedule{Base: -1}}},
		"patience without data": {opts: Options{Patience: 1}},
		"resume without run":    {opts: Options{Resume: true, Folder: t.TempDir()}},
		"label":                 {labels: []int{classes}},
	} {
		data := newPoints(9, 1)
		if tc.labels != nil {
			data.labels[4] = tc.labels[0]
		}
		if _, err := New(backendtest.Open(t), task(), data, tc.valid, tc.opts); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	e, err := NewEvaluator(backendtest.Open(t), model.NewStore(), task(), 3)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Evaluate(context.Background(), newPoints(3, 1)); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("a model without weights: %v", err)
	}
}

// An error of the data ends the run.
func TestRunStopsAtBadData(t *testing.T) {
	data := newPoints(20, 1)
	data.broken = true
	tr, err := New(backendtest.Open(t), task(), data, nil, Options{Epochs: 3, Batch: 5})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	if r, err := tr.Run(context.Background()); err == nil || !strings.Contains(err.Error(), "epoch 2 of 3: broken") || r.Epochs != 1 {
		t.Errorf("error %v after %d epochs", err, r.Epochs)
	}
}

// A loss that is no number ends the run with advice, not with a bad model.
func TestRunStopsAtNaN(t *testing.T) {
	_, _, err := run(t, context.Background(), Options{Epochs: 30, Batch: 8, Rate: Schedule{Base: 1e30}})
	if err == nil || !strings.Contains(err.Error(), "learning rate") {
		t.Errorf("error %v", err)
	}
}

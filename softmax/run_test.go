package softmax

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/internal/safetensors"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/sharing"
)

// same tells whether two layers are equal bit for bit.
func same(a, b *Layer) bool {
	bits := func(x []float32) []uint32 {
		out := make([]uint32, len(x))
		for i, v := range x {
			out[i] = math.Float32bits(v)
		}
		return out
	}
	return slices.Equal(bits(a.Weight), bits(b.Weight)) && slices.Equal(bits(a.Bias), bits(b.Bias))
}

func trainers() map[string]Trainer {
	return map[string]Trainer{
		"converge": Converge{},
		"sgd":      SGD{Epochs: 3, Batch: 50, Momentum: 0.9, Nesterov: true, Average: true, Schedule: Cosine{}},
		"adamw":    AdamW{Epochs: 3, Batch: 50},
	}
}

func TestThreadsDoNotMatter(t *testing.T) {
	large := sample(31, 200, 700, 6)
	few := sparsely(sample(32, 40, 800, 6)) // trained in the span of its rows
	for name, trainer := range trainers() {
		for kind, ex := range map[string]Examples{"dense": large, "sparse": sparsely(large), "few": few} {
			for _, p := range problems(t) {
				if p.name != "none" && p.name != "names, factored" && p.name != "V-tree" && p.name != "hierarchical softmax" {
					continue
				}
				o := p.options
				o.Trainer = trainer
				if _, ok := trainer.(Converge); ok {
					o.Trainer = Converge{MaxSteps: 1}
				}
				var first *Layer
				var record Record
				for _, threads := range []int{1, 2, 3, 8} {
					o.Threads = threads
					l, r := mustFit(t, ex, 6, o)
					if first == nil {
						first, record = l, r
					}
					if !same(l, first) || r != record {
						t.Errorf("%s, %s, %s: %d threads differ by %g", name, kind, p.name, threads, largestDifference(l.Weight, first.Weight))
					}
				}
			}
		}
	}
}

// TestThreadsDoNotMatterInLargeSteps has batches whose steps are shared, by
// class where weights are changed directly and by feature where not.
func TestThreadsDoNotMatterInLargeSteps(t *testing.T) {
	const k = 150
	ex := wideExamples(300, 5000, 60, k)
	batch := 256
	if work := batch * len(ex.X.(*matrix.Sparse).Index) / 300 * k; work < sharedWork*5/4 {
		t.Fatalf("%d multiply-adds a batch do not reach %d", work, sharedWork)
	}
	labels := make([]string, k)
	for i := range labels {
		labels[i] = fmt.Sprint(i)
	}
	for _, trainer := range []SGD{{Epochs: 2, Batch: batch}, {Epochs: 2, Batch: batch, Momentum: 0.9}, {Epochs: 2, Batch: batch, Average: true}} {
		for name, a := range map[string]sharing.Sharing{"none": sharing.None{K: k}, "tree": sharing.NewTree(starTree(t, labels)), "features": nameFeatures(t, k, 20)} {
			var first *Layer
			for _, threads := range []int{1, 2, 3, 8} {
				l, _ := mustFit(t, ex, k, Options{Sharing: a, Trainer: trainer, Threads: threads})
				if first == nil {
					first = l
				}
				if !same(l, first) {
					t.Errorf("%+v, %s: %d threads differ by %g", trainer, name, threads, largestDifference(l.Weight, first.Weight))
				}
			}
		}
	}
}

func TestSeedIsTheOnlyRandomness(t *testing.T) {
	ex := sample(33, 60, 8, 4)
	a, _ := mustFit(t, ex, 4, Options{Trainer: SGD{Epochs: 2}, Seed: 1})
	b, _ := mustFit(t, ex, 4, Options{Trainer: SGD{Epochs: 2}, Seed: 1})
	c, _ := mustFit(t, ex, 4, Options{Trainer: SGD{Epochs: 2}, Seed: 2})
	if !same(a, b) || same(a, c) {
		t.Errorf("equal seeds equal: %v; different seeds equal: %v", same(a, b), same(a, c))
	}
}

// withMonitor sets the Monitor of a stochastic trainer.
func withMonitor(trainer Trainer, m Monitor) Trainer {
	switch s := trainer.(type) {
	case SGD:
		s.Monitor = m
		return s
	case AdamW:
		s.Monitor = m
		return s
	}
	return trainer
}

func TestEarlyStopping(t *testing.T) {
	ex, valid := sample(34, 60, 20, 4), sample(34, 200, 20, 4)
	for i := range valid.Class { // hard to learn, so that the best comes early
		if i%3 == 0 {
			valid.Class[i] = int32((int(valid.Class[i]) + 1) % 4)
		}
	}
	valid.Weight = make([]float32, 200)
	for i := range valid.Weight {
		valid.Weight[i] = 1
	}
	for _, trainer := range []Trainer{SGD{Epochs: 30, Batch: 4, Rate: 3}, AdamW{Epochs: 30, Batch: 4, Rate: 0.3}} {
		var best validation
		bestEpoch, epochs := 0, 0
		var bestLayer *Layer
		watch := Monitor{Valid: &valid, Checkpoint: func(c *Checkpoint) error {
			epochs++
			if c.BestEpoch == c.Epoch {
				bestEpoch, best = c.Epoch, validation{c.BestRight, c.BestLoss}
				bestLayer = c.Best
			}
			return nil
		}}
		l, r := mustFit(t, ex, 4, Options{Trainer: withMonitor(trainer, watch)})
		v, err := validate(l, &valid, 1)
		if err != nil || v != best || !same(l, bestLayer) {
			t.Errorf("%T: the layer scores %+v, the best epoch %d had %+v, %v", trainer, v, bestEpoch, best, err)
		}
		if r.Steps != 30 || epochs != 30 {
			t.Errorf("%T: %d epochs, %d checkpoints, want 30 without patience", trainer, r.Steps, epochs)
		}
		if bestEpoch > 25 {
			t.Fatalf("%T: the best epoch %d is too late to test patience", trainer, bestEpoch)
		}
		watch.Patience, watch.Checkpoint = 3, nil
		done := 0.0
		l, r = mustFit(t, ex, 4, Options{Trainer: withMonitor(trainer, watch), Progress: func(p Progress) { done = p.Fraction }})
		if r.Steps >= 30 || done != 1 {
			t.Errorf("%T: %d epochs with patience 3, progress %v at the end", trainer, r.Steps, done)
		}
		if short, err := validate(l, &valid, 1); err != nil || best.better(short) && r.Steps > bestEpoch {
			t.Errorf("%T: patience returned %+v, epoch %d had %+v", trainer, short, bestEpoch, best)
		}
	}
}

// A run that is stopped after any epoch, saved, loaded and resumed ends as the
// run that was never stopped.
func TestResumeIsExact(t *testing.T) {
	ex, valid := sparsely(sample(35, 50, 30, 6)), sample(36, 40, 30, 6)
	path := filepath.Join(t.TempDir(), "checkpoint")
	for name, trainer := range map[string]Trainer{
		"sgd, average":  SGD{Epochs: 4, Batch: 7, Momentum: 0.9, Average: true, Schedule: Cosine{}},
		"sgd, Nesterov": SGD{Epochs: 4, Batch: 7, Momentum: 0.5, Nesterov: true, Schedule: Step{Every: 2, Gamma: 0.1}},
		"adamw":         AdamW{Epochs: 4, Batch: 7},
	} {
		for _, watched := range []*Examples{nil, &valid} {
			for _, p := range problems(t) {
				if p.name != "none" && p.name != "names, factored" && p.name != "hierarchical softmax" {
					continue
				}
				o := p.options
				o.Trainer = withMonitor(trainer, Monitor{Valid: watched})
				whole, record := mustFit(t, ex, 6, o)
				for stop := 1; stop <= 4; stop += 3 {
					enough := errors.New("enough")
					o.Trainer = withMonitor(trainer, Monitor{Valid: watched, Checkpoint: func(c *Checkpoint) error {
						if err := SaveCheckpoint(path, "data 1", c); err != nil {
							t.Fatal(err)
						}
						if c.Epoch == stop {
							return enough
						}
						return nil
					}})
					if _, r, err := Fit(context.Background(), ex, 6, o); !errors.Is(err, enough) || r.Steps != stop {
						t.Fatalf("%s, %s: stopped with %v after %d epochs", name, p.name, err, r.Steps)
					}
					c, fingerprint, err := LoadCheckpoint(path)
					if err != nil || fingerprint != "data 1" {
						t.Fatal(fingerprint, err)
					}
					o.Trainer = withMonitor(trainer, Monitor{Valid: watched, Resume: c})
					l, r := mustFit(t, ex, 6, o)
					if !same(l, whole) || r != record {
						t.Errorf("%s, %s, validation %v: resumed after %d epochs differs by %g, records %+v and %+v",
							name, p.name, watched != nil, stop, largestDifference(l.Weight, whole.Weight), r, record)
					}
				}
			}
		}
	}
}

func TestResumeOfAnotherRunIsRefused(t *testing.T) {
	ex := sample(37, 30, 6, 6)
	checkpoint := func(ex Examples, o Options, trainer Trainer, m Monitor) *Checkpoint {
		var last Checkpoint
		m.Checkpoint = func(c *Checkpoint) error {
			last = *c
			last.Arrays = map[string][]float32{}
			for name, a := range c.Arrays {
				last.Arrays[name] = slices.Clone(a)
			}
			return nil
		}
		o.Trainer = withMonitor(trainer, m)
		mustFit(t, ex, 6, o)
		return &last
	}
	base := SGD{Epochs: 2, Batch: 5}
	c := checkpoint(ex, Options{}, base, Monitor{})
	other := sample(38, 30, 6, 6)
	weighted := ex
	weighted.Weight = slices.Repeat([]float32{1}, 30)
	tree := Options{Sharing: sharing.NewTree(sixClasses(t, labeltree.VTree))}
	resume := func(ex Examples, o Options, trainer Trainer, m Monitor, c *Checkpoint) error {
		m.Resume = c
		o.Trainer = withMonitor(trainer, m)
		_, _, err := Fit(context.Background(), ex, 6, o)
		return err
	}
	for _, tc := range []struct {
		name string
		err  error
		want string
	}{
		{"other rows", resume(other, Options{}, base, Monitor{}, c), "examples"},
		{"sparse rows", resume(sparsely(ex), Options{}, base, Monitor{}, c), "examples"},
		{"weights", resume(weighted, Options{}, base, Monitor{}, c), "examples"},
		{"seed", resume(ex, Options{Seed: 3}, base, Monitor{}, c), `seed "0", this run has "3"`},
		{"sharing", resume(ex, tree, base, Monitor{}, c), "sharing or loss"},
		{"loss", resume(ex, Options{Loss: loss.CrossEntropy{Smoothing: 0.1}}, base, Monitor{}, c), "sharing or loss"},
		{"trainer", resume(ex, Options{}, AdamW{Epochs: 2, Batch: 5}, Monitor{}, c), "trainer"},
		{"momentum", resume(ex, Options{}, SGD{Epochs: 2, Batch: 5, Momentum: 0.1}, Monitor{}, c), "momentum 0"},
		{"prior", resume(ex, Options{Prior: 3}, base, Monitor{}, c), "decay"},
		{"rate", resume(ex, Options{}, SGD{Epochs: 2, Batch: 5, Rate: 2}, Monitor{}, c), "rate"},
		{"batch", resume(ex, Options{}, SGD{Epochs: 2, Batch: 6}, Monitor{}, c), "batch"},
		{"schedule", resume(ex, Options{}, SGD{Epochs: 2, Batch: 5, Schedule: Cosine{}}, Monitor{}, c), "schedule"},
		{"validation", resume(ex, Options{}, base, Monitor{Valid: &other}, c), "validation"},
		{"epochs of a cosine", resume(ex, Options{}, SGD{Epochs: 9, Batch: 5, Schedule: Cosine{}}, Monitor{},
			checkpoint(ex, Options{}, SGD{Epochs: 2, Batch: 5, Schedule: Cosine{}}, Monitor{})), "schedule"},
	} {
		if !errors.Is(tc.err, ErrOptions) || !strings.Contains(tc.err.Error(), tc.want) {
			t.Errorf("%s: error %v, want one with %q", tc.name, tc.err, tc.want)
		}
	}
	short := *c
	short.Arrays = map[string][]float32{}
	if err := resume(ex, Options{}, base, Monitor{}, &short); err == nil {
		t.Error("a checkpoint without arrays was taken")
	}
	negative := *c
	negative.Epoch = -1
	if err := resume(ex, Options{}, base, Monitor{}, &negative); err == nil {
		t.Error("a checkpoint of epoch -1 was taken")
	}
	if err := resume(ex, Options{}, SGD{Epochs: 5, Batch: 5}, Monitor{}, c); err != nil {
		t.Errorf("more epochs at a constant rate: %v", err)
	}
	if err := resume(ex, Options{Threads: 1}, base, Monitor{}, c); err != nil {
		t.Errorf("another number of threads: %v", err)
	}
}

func TestCheckpointFileIsChecked(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "checkpoint")
	ex := sample(39, 20, 4, 3)
	valid := ex
	_, _ = mustFit(t, ex, 3, Options{Trainer: SGD{Epochs: 1, Monitor: Monitor{Valid: &valid, Checkpoint: func(c *Checkpoint) error {
		return SaveCheckpoint(path, "", c)
	}}}})
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if c, _, err := LoadCheckpoint(path); err != nil || c.Best == nil || c.Best.check() != nil || c.Epoch != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	for at := 0; at < len(whole); at += 11 {
		damaged := slices.Clone(whole)
		damaged[at] ^= 4
		checkRefused(t, folder, damaged, ErrCheckpoint, func(p string) error { _, _, err := LoadCheckpoint(p); return err })
		checkRefused(t, folder, whole[:at], ErrCheckpoint, func(p string) error { _, _, err := LoadCheckpoint(p); return err })
	}
	if _, _, err := LoadCheckpoint(filepath.Join(folder, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	for name, f := range map[string]*safetensors.File{
		"a model":         {Metadata: map[string]string{"format": formatName}},
		"no progress":     {Metadata: map[string]string{"format": checkpointFormat, "format_version": "1"}},
		"a newer version": {Metadata: map[string]string{"format": checkpointFormat, "format_version": "2", "progress": "{}"}},
		"a strange tensor": {Metadata: map[string]string{"format": checkpointFormat, "format_version": "1", "progress": "{}"},
			Tensors: []safetensors.Tensor{safetensors.New("x", []float32{1}, 1)}},
		"whole numbers": {Metadata: map[string]string{"format": checkpointFormat, "format_version": "1", "progress": "{}"},
			Tensors: []safetensors.Tensor{safetensors.New("state.weight", []int32{1}, 1)}},
	} {
		if err := safetensors.WriteFile(path, f); err != nil {
			t.Fatal(err)
		}
		if _, _, err := LoadCheckpoint(path); !errors.Is(err, ErrCheckpoint) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := SaveCheckpoint(filepath.Join(folder, "none", "x"), "", &Checkpoint{}); err == nil {
		t.Error("saved into a folder that is not there")
	}
	if err := SaveCheckpoint(path, "", &Checkpoint{Loss: math.NaN()}); err == nil {
		t.Error("a loss of NaN was saved")
	}
}

// checkRefused writes a damaged file and wants an error that names it.
func checkRefused(t *testing.T, folder string, data []byte, want error, load func(path string) error) {
	t.Helper()
	path := filepath.Join(folder, "damaged")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := load(path); !errors.Is(err, want) || !strings.HasPrefix(err.Error(), path+": ") {
		t.Fatalf("%d bytes: error %v, want %q after the path", len(data), err, want)
	}
}

// cancelAfter is a context that is cancelled after so many looks at it.
type cancelAfter struct {
	context.Context
	looks int
}

func (c *cancelAfter) Err() error {
	if c.looks--; c.looks < 0 {
		return context.Canceled
	}
	return nil
}

func TestCancelling(t *testing.T) {
	ex := sparsely(sample(40, 100, 20, 6))
	for name, trainer := range trainers() {
		for _, p := range problems(t) {
			o := p.options
			o.Trainer = trainer
			_, record := mustFit(t, ex, 6, o)
			for looks := 0; looks < 12; looks++ {
				l, r, err := Fit(&cancelAfter{context.Background(), looks}, ex, 6, o)
				if err == nil { // done before it looked so often
					if r != record || looks < 4 {
						t.Errorf("%s, %s, %d looks: no error, record %+v", name, p.name, looks, r)
					}
					break
				}
				if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "stopped") {
					t.Errorf("%s, %s, %d looks: %v", name, p.name, looks, err)
				}
				if l == nil || l.check() != nil || r.Converged || r.Steps > record.Steps {
					t.Fatalf("%s, %s, %d looks: layer %v, record %+v", name, p.name, looks, l != nil, r)
				}
				predictions(t, l, ex.X)
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	visits := 0
	err := FitPath(ctx, ex, 6, Options{}, []float64{1, 2, 3}, func(float64, *Layer, Record) error { visits++; return nil })
	if visits != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled path: %d visits, %v", visits, err)
	}
}

func TestProgressIsFitForABar(t *testing.T) {
	ex := sparsely(sample(41, 100, 20, 6))
	for name, trainer := range trainers() {
		for _, p := range problems(t) {
			o := p.options
			o.Trainer = trainer
			last, calls := 0.0, 0
			o.Progress = func(p Progress) {
				if !(p.Fraction >= last && p.Fraction <= 1) || p.Step < 1 || !finite(p.Loss) {
					t.Errorf("%s: progress %+v after %v", name, p, last)
				}
				last = p.Fraction
				calls++
			}
			err := FitPath(context.Background(), ex, 6, o, []float64{1, 30}, func(float64, *Layer, Record) error { return nil })
			if err != nil || last != 1 || calls < 2 {
				t.Errorf("%s, %s: %d calls, the last at %v, %v", name, p.name, calls, last, err)
			}
		}
	}
}

func TestDivergenceIsAnError(t *testing.T) {
	ex := sample(42, 40, 6, 4)
	valid := ex
	for _, trainer := range []Trainer{SGD{Rate: 1e30, Momentum: 0.9}, AdamW{Rate: 1e38}} {
		l, _, err := Fit(context.Background(), ex, 4, Options{Trainer: trainer})
		if !errors.Is(err, ErrDiverged) || l != nil || !strings.Contains(fmt.Sprint(err), "smaller") {
			t.Errorf("%T: layer %v, error %v", trainer, l != nil, err)
		}
		if l, _, _ := Fit(context.Background(), ex, 4, Options{Trainer: withMonitor(trainer, Monitor{Valid: &valid})}); l != nil && l.check() != nil {
			t.Errorf("%T: a broken layer came with the error", trainer)
		}
	}
}

package extreme

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/softmax"
)

// However much of a checkpoint is there, the training that goes on from it ends with the
// same bytes.
func TestResume(t *testing.T) {
	folder := t.TempDir()
	d, rows := dataOf(t, texts(60, 40, 1))
	o := small()
	save := func(name string, o Options) []byte { return modelBytes(t, d, rows, o, filepath.Join(folder, name)) }
	want := save("plain", o)
	o.Checkpoint = filepath.Join(folder, "checkpoint")
	if !bytes.Equal(save("kept", o), want) {
		t.Error("keeping a checkpoint changes the model")
	}
	whole, err := os.ReadFile(o.Checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	o.Resume = true
	head := len(journalMagic) + 32
	random := rand.New(rand.NewPCG(5, 5))
	for _, size := range []int{head, head + random.IntN(len(whole)-head), head + random.IntN(len(whole)-head), len(whole) - 1, len(whole)} {
		if err := os.WriteFile(o.Checkpoint, whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(save("resumed", o), want) {
			t.Errorf("resumed after %d of %d bytes: another model", size, len(whole))
		}
	}
	if err := os.Remove(o.Checkpoint); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(save("anew", o), want) {
		t.Error("without a checkpoint: another model")
	}
	// One of other options, or no checkpoint at all, is refused and left alone.
	other := o
	other.Prior = 5
	if _, err := Train(t.Context(), d, rows, other, softmax.Training{}); !errors.Is(err, ErrCheckpoint) {
		t.Errorf("other options: %v", err)
	}
	if err := os.WriteFile(o.Checkpoint, []byte("something else"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Train(t.Context(), d, rows, o, softmax.Training{}); !errors.Is(err, ErrCheckpoint) {
		t.Errorf("another file: %v", err)
	}
}

// A training that is cancelled leaves what it has done, and goes on from there.
func TestResumeAfterCancel(t *testing.T) {
	folder := t.TempDir()
	d, rows := dataOf(t, texts(60, 40, 1))
	o := small()
	o.Threads, o.Checkpoint = 1, filepath.Join(folder, "checkpoint")
	ctx, cancel := context.WithCancel(t.Context())
	nodes := 0
	o.Progress = func(string, softmax.Progress) {
		if nodes++; nodes == 4 {
			cancel()
		}
	}
	if _, err := Train(ctx, d, rows, o, softmax.Training{}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	again := 0
	o.Resume, o.Progress = true, func(string, softmax.Progress) { again++ }
	m, err := Train(t.Context(), d, rows, o, softmax.Training{})
	if err != nil {
		t.Fatal(err)
	}
	if nodes != 4 || again != len(m.Partition.Nodes) {
		t.Errorf("%d nodes before, %d told of after, want 4 and all %d", nodes, again, len(m.Partition.Nodes))
	}
}

// Parts, one of which is killed and goes on, make the model of one training, to the byte.
func TestParts(t *testing.T) {
	folder := t.TempDir()
	d, rows := dataOf(t, texts(60, 40, 1))
	save := func(o Options) []byte { return modelBytes(t, d, rows, o, filepath.Join(folder, "model")) }
	want := save(small())
	const parts = 4
	joined := small()
	for i := range parts {
		o := small()
		o.Part, o.Checkpoint, o.Resume = dataset.Shard{Index: i, Count: parts}, filepath.Join(folder, fmt.Sprint("part", i)), true
		if i == 1 {
			ctx, cancel := context.WithCancel(t.Context())
			nodes := 0
			o.Threads, o.Progress = 1, func(string, softmax.Progress) {
				if nodes++; nodes == 4 {
					cancel()
				}
			}
			if _, err := Train(ctx, d, rows, o, softmax.Training{}); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			o.Threads, o.Progress = 2, nil
		}
		if m, err := Train(t.Context(), d, rows, o, softmax.Training{}); m != nil || !errors.Is(err, ErrPart) {
			t.Fatalf("part %d: model %v, error %v", i, m, err)
		}
		joined.Parts = append(joined.Parts, o.Checkpoint)
	}
	if !bytes.Equal(save(joined), want) {
		t.Error("the parts make another model")
	}
	refused := func(what string, o Options, want string) {
		t.Helper()
		if _, err := Train(t.Context(), d, rows, o, softmax.Training{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
	}
	few := joined
	few.Parts = joined.Parts[:3]
	refused("a part is missing", few, "in no part")
	other := joined
	other.Prior = 5
	refused("other options", other, ErrCheckpoint.Error())
	refused("a part without a file", Options{Part: dataset.Shard{Index: 0, Count: 2}}, "Options.Checkpoint")
	// The root, which is the first node of each part, rounded in another way.
	b, err := os.ReadFile(joined.Parts[3])
	if err != nil {
		t.Fatal(err)
	}
	rest := b[len(journalMagic)+32:]
	r, size := readRecord(rest)
	r.weights.bias[0]++
	j := &journal{}
	if j.file, err = os.Create(joined.Parts[3]); err != nil {
		t.Fatal(err)
	}
	j.file.Write(b[:len(journalMagic)+32])
	if err := j.add(r); err != nil {
		t.Fatal(err)
	}
	j.file.Write(rest[size:])
	j.file.Close()
	refused("another processor", joined, "rounds in another way")
}

// modelBytes returns the file of a model that it trains.
func modelBytes(t *testing.T, d *corpus.Data, rows []int, o Options, path string) []byte {
	t.Helper()
	m, err := Train(t.Context(), d, rows, o, softmax.Training{})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

package experiment

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/dataset"
)

func TestStoreRefuses(t *testing.T) {
	opts := quick()
	path := filepath.Join(t.TempDir(), "cells.jsonl")
	s, err := OpenStore(filepath.Dir(path), opts, false, dataset.Shard{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.put("a", Values{"x": 0.1}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenStore(filepath.Dir(path), opts, false, dataset.Shard{}); !errors.Is(err, ErrStore) {
		t.Errorf("without resume: %v", err)
	}
	opts.Seed++
	if _, err := OpenStore(filepath.Dir(path), opts, true, dataset.Shard{}); !errors.Is(err, ErrStore) || !strings.Contains(err.Error(), "seed 3") || !strings.Contains(err.Error(), "seed 4") {
		t.Errorf("another seed: %v", err)
	}
	opts.Seed--
	opts.Runs, opts.Threads = 9, 5 // may differ
	for name, tc := range map[string]struct {
		data  string
		cells int // -1: refused
	}{
		"as it was":      {string(good), 1},
		"cut":            {string(good[:len(good)-3]), 0},
		"nothing":        {"", 0},
		"half a head":    {string(good[:20]), 0},
		"foreign":        {"label,text\n", -1},
		"newer":          {strings.Replace(string(good), `"version":2`, `"version":3`, 1), -1},
		"line no cell":   {string(good) + "{}\n", -1},
		"line no JSON":   {string(good) + "cell\n", -1},
		"number no JSON": {string(good) + `{"cell":"b","values":{"x":NaN}}` + "\n", -1},
	} {
		if err := os.WriteFile(path, []byte(tc.data), 0o666); err != nil {
			t.Fatal(err)
		}
		s, err := OpenStore(filepath.Dir(path), opts, true, dataset.Shard{})
		if tc.cells < 0 {
			if !errors.Is(err, ErrStore) {
				t.Errorf("%s: %v, want ErrStore", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s.Len() != tc.cells {
			t.Errorf("%s: %d cells, want %d", name, s.Len(), tc.cells)
		}
		s.Close()
	}
}

// Whatever the bytes, OpenStore gives an error or a store that can be gone on
// with.
func FuzzOpenStore(f *testing.F) {
	opts := quick()
	dir := f.TempDir()
	path := filepath.Join(dir, "cells.jsonl")
	s, err := OpenStore(filepath.Dir(path), opts, false, dataset.Shard{})
	if err != nil {
		f.Fatal(err)
	}
	if err := s.put("a x=1 run=0 paper", Values{"v-tree": 0.5}); err != nil {
		f.Fatal(err)
	}
	s.Close()
	good, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "cells.jsonl")
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		s, err := OpenStore(filepath.Dir(path), opts, true, dataset.Shard{})
		if err != nil {
			return
		}
		n := s.Len()
		if err := s.put("new", Values{"x": 1}); err != nil {
			t.Fatal(err)
		}
		s.Close()
		if s, err = OpenStore(filepath.Dir(path), opts, true, dataset.Shard{}); err != nil || s.Len() < n || s.Len() == 0 {
			t.Fatalf("after one more cell: %v", err)
		}
		s.Close()
	})
}

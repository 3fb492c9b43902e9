package experiment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/treeloss/treeloss/dataset"
)

// ErrStore says that a file of finished cells cannot be gone on with.
var ErrStore = errors.New("cannot go on with these results")

// Values are the numbers of one cell by name: accuracies by method, and facts
// such as the height of the tree.
type Values map[string]float64

// Store keeps finished cells in a file, one JSON object a line behind a line
// that says what they belong to. It is only ever appended to; a last line that
// a killed program left half-written is cut off when the file is opened. A Store
// may be used by several goroutines.
type Store struct {
	mutex sync.Mutex
	file  *os.File
	cells map[string]Values
}

// storeHead is the first line of a file of cells; Options names what cells depend on, so that
// cells of other options are never taken for these.
type storeHead struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Options string `json:"options"`
}

// storeLine is each further line.
type storeLine struct {
	Cell   string `json:"cell"`
	Values Values `json:"values"`
}

const (
	storeFormat  = "treeloss-experiment"
	storeVersion = 2 // 1 had trainers of its own
)

// OpenStore opens the file of cells in a folder for these options, or makes it, that
// of one shard if there are several. The cells that other shards have finished are read, too. A
// file that has cells is refused unless resume is set or it is of a shard, and one of other options
// in any case, with an error that wraps ErrStore. What may differ is what
// changes no cell: runs, protocols and threads.
func OpenStore(folder string, opts Options, resume bool, shard dataset.Shard) (*Store, error) {
	path := filepath.Join(folder, "cells.jsonl")
	if shard.Count > 1 {
		path, resume = filepath.Join(folder, fmt.Sprintf("cells-%05d-of-%05d.jsonl", shard.Index, shard.Count)), true
	}
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	head, err := json.Marshal(storeHead{storeFormat, storeVersion, opts.fingerprint()})
	if err != nil {
		return nil, err
	}
	s := &Store{cells: map[string]Values{}}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	whole := 0 // bytes of the own file up to its last line end
	for _, e := range entries {
		if ok, _ := filepath.Match("cells*.jsonl", e.Name()); !ok {
			continue
		}
		other := filepath.Join(folder, e.Name())
		data, err := os.ReadFile(other)
		if err != nil {
			return nil, err
		}
		end := bytes.LastIndexByte(data, '\n') + 1
		if other == path {
			whole = end
		}
		if end == 0 {
			continue
		}
		if !resume {
			return nil, fmt.Errorf("experiment: %s has the cells of an earlier run; resume it, or choose another folder: %w", other, ErrStore)
		}
		if err := s.read(other, head, bytes.SplitAfter(data[:end], []byte("\n"))); err != nil {
			return nil, err
		}
	}
	if s.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644); err != nil {
		return nil, err
	}
	err = s.file.Truncate(int64(whole))
	if err == nil && whole == 0 {
		_, err = s.file.Write(append(head, '\n'))
	}
	if err != nil {
		s.file.Close()
		return nil, err
	}
	return s, nil
}

// read takes over the finished cells of a file. head is the first line that it must have; a
// file of other options is refused, as its cells would be those of another experiment.
func (s *Store) read(path string, head []byte, lines [][]byte) error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("experiment: %s %s: %w", path, fmt.Sprintf(format, args...), ErrStore)
	}
	if first := bytes.TrimSpace(lines[0]); !bytes.Equal(first, head) {
		var got, want storeHead
		err := json.Unmarshal(first, &got)
		switch {
		case err != nil || got.Format != storeFormat:
			return refuse("is not a file of cells of this program")
		case got.Version != storeVersion:
			return refuse("has version %d, want %d", got.Version, storeVersion)
		}
		if err := json.Unmarshal(head, &want); err != nil {
			return err
		}
		return refuse("has the cells of other options: %s, want %s", got.Options, want.Options)
	}
	for i, line := range lines[1:] {
		var l storeLine
		if len(line) == 0 {
			continue
		}
		if err := json.Unmarshal(line, &l); err != nil || l.Cell == "" {
			return refuse("line %d is no cell; delete that line to compute it again", i+2)
		}
		s.cells[l.Cell] = l.Values
	}
	return nil
}

// fingerprint names the options that cells depend on.
func (o Options) fingerprint() string {
	return fmt.Sprintf("seed %d, truth %s, init %s, rate %s, base %s, n %d, d %d, k %d, sigma %s",
		o.Seed, o.Truth, o.Init, number(o.Rate), number(o.Base), o.N, o.D, o.K, number(o.Sigma))
}

// Len returns the number of finished cells.
func (s *Store) Len() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return len(s.cells)
}

// get returns a finished cell, and whether there is one.
func (s *Store) get(cell string) (Values, bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	v, ok := s.cells[cell]
	return v, ok
}

// put keeps a cell, in memory and in the file if there is one.
func (s *Store) put(cell string, v Values) error {
	line, err := json.Marshal(storeLine{cell, v})
	if err != nil {
		return fmt.Errorf("experiment: cell %s: %w", cell, err)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.cells[cell] = v
	if s.file == nil {
		return nil
	}
	_, err = s.file.Write(append(line, '\n'))
	return err
}

// Close closes the file.
func (s *Store) Close() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}

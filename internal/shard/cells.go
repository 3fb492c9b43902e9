package shard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"

	"github.com/treeloss/treeloss/dataset"
)

// ErrPart says that a cell is left to another part, or that a part of the work is done and
// the rest of it is elsewhere.
var ErrPart = errors.New("one part of the work")

// Cells are the results of a grid, such as the folds of a cross-validation, by name. Those
// of a part are computed and kept in a file, a line of JSON each, from which a part that was
// killed goes on; those of all parts are known. A nil *Cells computes each and keeps none. It
// is not for several goroutines.
type Cells struct {
	part dataset.Shard
	file *os.File // of a part
	next int      // number of the next cell
	done map[string]json.RawMessage
	mine []line // of a part, in their order
}

// line is a cell in a file.
type line struct {
	Cell  string          `json:"cell"`
	Value json.RawMessage `json:"value"`
}

// OpenCells begins a part of the cells of a task, or goes on with what the file Unfinished
// of the folder has, whose last line may be cut. A file of another task is an error. Close
// ends the Cells.
func OpenCells(folder string, p dataset.Shard, task Task) (*Cells, error) {
	path := Unfinished(folder, p)
	head, err := json.Marshal(task)
	if err != nil {
		return nil, err
	}
	head = append(head, '\n')
	c := &Cells{part: p, done: map[string]json.RawMessage{}}
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	old = old[:bytes.LastIndexByte(old, '\n')+1]
	if len(old) > 0 && !bytes.HasPrefix(old, head) {
		return nil, fmt.Errorf("%s belongs to other files or flags; name another folder, or remove it", path)
	}
	if len(old) > 0 {
		if err := c.read(path, old[len(head):]); err != nil {
			return nil, err
		}
	}
	if c.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666); err != nil {
		return nil, err
	}
	err = c.file.Truncate(int64(len(old)))
	if err == nil && len(old) == 0 {
		_, err = c.file.Write(head)
	}
	if err != nil {
		c.file.Close()
		return nil, err
	}
	return c, nil
}

// Cells returns the cells of all parts.
func (p *Parts) Cells() (*Cells, error) {
	c := &Cells{done: map[string]json.RawMessage{}}
	for _, path := range p.Files {
		text, err := os.ReadFile(path)
		if err == nil {
			err = c.read(path, text)
		}
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

// read takes over the cells of a file.
func (c *Cells) read(path string, text []byte) error {
	for l := range bytes.Lines(text) {
		var x line
		if err := json.Unmarshal(l, &x); err != nil || x.Value == nil {
			return fmt.Errorf("%s has a line that is no cell: %.40q; remove the file, and run the part again", path, l)
		}
		c.done[x.Cell] = x.Value
	}
	return nil
}

// Do fills result, a pointer to what JSON can hold: with the cell of that name if it is
// known, else by compute. Each cell of a grid has a name of its own, and all parts ask for
// them in the same order. A cell that is left to another part is an ErrPart.
//
// Of so many cells as there are parts, one behind the other, each part has one, drawn at
// random: the columns of a grid do not fall to the same parts.
func (c *Cells) Do(name string, result any, compute func() error) error {
	if c == nil {
		return compute()
	}
	n := c.next
	c.next++
	value, known := c.done[name]
	if !known && !c.Partial() {
		return fmt.Errorf("no part has the cell %q; they were made of other files or flags, run them again", name)
	}
	if c.Partial() && deal(n, c.part.Count) != c.part.Index {
		return ErrPart
	}
	if known {
		c.mine = append(c.mine, line{name, value})
		if err := json.Unmarshal(value, result); err != nil {
			return fmt.Errorf("cell %q: %w", name, err)
		}
		return nil
	}
	if err := compute(); err != nil {
		return err
	}
	value, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("cell %q: %w", name, err)
	}
	c.mine = append(c.mine, line{name, value})
	return json.NewEncoder(c.file).Encode(c.mine[len(c.mine)-1]) // in one write
}

// deal returns to which of some parts cell n falls.
func deal(n, parts int) int {
	return rand.New(rand.NewPCG(uint64(n/parts), uint64(parts))).Perm(parts)[n%parts]
}

// Partial tells whether only one part of the cells is computed: whoever asks for them
// ends with ErrPart.
func (c *Cells) Partial() bool { return c != nil && c.part.Count > 0 }

// Write writes the cells of a part to w, in their order.
func (c *Cells) Write(w io.Writer) error {
	out := json.NewEncoder(w)
	for _, l := range c.mine {
		if err := out.Encode(l); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the file of a part.
func (c *Cells) Close() error { return c.file.Close() }

package shard

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/dataset"
)

// grid asks for n cells, and ends with an error when so many were computed.
func grid(c *Cells, n, most int) (sum, computed int, err error) {
	for i := range n {
		var v struct{ Square int }
		err := c.Do(fmt.Sprint("square of ", i), &v, func() error {
			if computed == most {
				return os.ErrDeadlineExceeded
			}
			computed++
			v.Square = i * i
			return nil
		})
		if errors.Is(err, ErrPart) {
			continue
		}
		if err != nil {
			return sum, computed, err
		}
		sum += v.Square
	}
	return sum, computed, nil
}

// Parts that are killed in any cell, and in the middle of a line, go on where they were; all
// together are the grid, each cell computed once.
func TestCells(t *testing.T) {
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 1))
		folder, n, parts := t.TempDir(), 1+rng.IntN(30), 1+rng.IntN(5)
		computed, least, most := 0, n, 0
		for i := range parts {
			part, own := dataset.Shard{Index: i, Count: parts}, 0
			for done := false; !done; {
				w, err := Create(folder, part, task, nil)
				if err != nil {
					t.Fatal(err)
				}
				c, err := OpenCells(folder, part, task)
				if err != nil {
					t.Fatal(err)
				}
				_, now, err := grid(c, n, rng.IntN(4))
				own += now
				if done = err == nil; !done {
					c.file.WriteString(`{"cell":"square of 7","val`) // killed while it wrote
					w.Discard()
				} else if err := c.Write(w); err != nil || w.Commit() != nil {
					t.Fatal(err)
				}
				c.Close()
			}
			computed, least, most = computed+own, min(least, own), max(most, own)
			if _, err := os.Stat(Unfinished(folder, part)); err == nil {
				t.Error("a finished part leaves its unfinished file")
			}
		}
		p, err := Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		c, err := p.Cells()
		if err != nil {
			t.Fatal(err)
		}
		sum, again, err := grid(c, n, 0)
		if want := (n - 1) * n * (2*n - 1) / 6; sum != want || again != 0 || err != nil {
			t.Errorf("seed %d: sum %d, %d computed when joined, error %v; want %d", seed, sum, again, err, want)
		}
		if computed != n || most-least > 1 {
			t.Errorf("seed %d: %d parts computed %d cells, %d to %d each; want %d", seed, parts, computed, least, most, n)
		}
		if _, _, err := grid(c, n+1, 1); err == nil || !strings.Contains(err.Error(), "square of") {
			t.Errorf("a cell that no part has: %v", err)
		}
	}
	if sum, computed, err := grid(nil, 4, 9); sum != 14 || computed != 4 || err != nil {
		t.Errorf("without parts: sum %d of %d, %v", sum, computed, err)
	}
}

// A file of another task, or with a line that is no cell, is refused.
func TestOpenCellsRefuses(t *testing.T) {
	folder, part := t.TempDir(), dataset.Shard{Index: 0, Count: 2}
	c, err := OpenCells(folder, part, task)
	if err != nil {
		t.Fatal(err)
	}
	other := task
	other.Command = "cv"
	if _, err := OpenCells(folder, part, other); err == nil || !strings.Contains(err.Error(), "other files or flags") {
		t.Errorf("another task: %v", err)
	}
	c.file.WriteString("{}\n")
	c.Close()
	if _, err := OpenCells(folder, part, task); err == nil || !strings.Contains(err.Error(), "no cell") {
		t.Errorf("a line that is no cell: %v", err)
	}
}

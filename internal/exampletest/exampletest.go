// Package exampletest has examples for the tests of several packages.
package exampletest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/treeloss/treeloss/dataset"
)

// File writes a file into a folder of the test and returns its path.
func File(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Animals returns two texts of each of four classes, whose names are cat, dog, bus
// and one that is no word.
func Animals() []dataset.Example {
	var out []dataset.Example
	for i, label := range []string{"cat", "dog", "bus", "zyx", "cat", "dog", "bus", "zyx"} {
		out = append(out, dataset.Example{Text: fmt.Sprintf("text %d of it", i), Label: label, Weight: 1})
	}
	return out
}

// Topics returns texts of classes with the given numbers of rows, which two words tell
// apart.
func Topics(counts ...int) []dataset.Example {
	var out []dataset.Example
	random := rand.New(rand.NewPCG(7, 7))
	for class, n := range counts {
		for range n {
			text := fmt.Sprintf("topic%02dword%d filler%d noise%d", class, random.IntN(2), random.IntN(9), random.IntN(9))
			out = append(out, dataset.Example{Text: text, Label: fmt.Sprintf("topic%02d", class), Weight: 1})
		}
	}
	return out
}

package fit

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"strings"

	"github.com/gomlx/compute"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/deep/network"
	"github.com/treeloss/treeloss/deep/train"
	"github.com/treeloss/treeloss/internal/atomicfile"
)

// Embedding is what Embed wrote.
type Embedding struct {
	Out      string `json:"out"`    // a matrix of examples x features in NumPy's format
	Labels   string `json:"labels"` // the class of each example, one a line
	Examples int    `json:"examples"`
	Features int    `json:"features"`
}

// LabelsBeside names the file with the labels of the rows of an array: x.labels.txt for
// x.npy.
func LabelsBeside(array string) string { return strings.TrimSuffix(array, ".npy") + ".labels.txt" }

// embedBatch is how many examples a network looks at together.
const embedBatch = 100

// Embed runs examples through a network up to its last layer. It writes what comes out,
// float32 in the order of the examples, to the array out, and their labels beside it; each
// file is replaced whole or not at all.
func Embed(ctx context.Context, b compute.Backend, m *network.Model, set train.Data, label func(i int) string, out string) (Embedding, error) {
	done := Embedding{Out: out, Labels: LabelsBeside(out), Examples: set.Len()}
	e, err := m.Embedder(b, embedBatch)
	if err != nil {
		return done, err
	}
	defer e.Close()
	if done.Features, err = m.Features(); err != nil {
		return done, err
	}
	err = atomicfile.Write(done.Out, func(w io.Writer) error {
		if err := dataset.WriteNPYHeader(w, done.Examples, done.Features); err != nil {
			return err
		}
		return e.Each(ctx, set, func(_ int, features []float32) error { return binary.Write(w, binary.LittleEndian, features) })
	})
	if err != nil {
		return done, err
	}
	return done, atomicfile.Write(done.Labels, func(w io.Writer) error {
		lines := bufio.NewWriter(w)
		for i := range done.Examples {
			lines.WriteString(label(i) + "\n")
		}
		return lines.Flush()
	})
}

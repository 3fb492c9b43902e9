// Package treefile reads the tree of a model file, or a tree or taxonomy from a file in any
// form, whichever a path names:
//
//	model ---------------\
//	JSON, Newick, rows ----Read--> labeltree.Tree
//	standard input ------/
package treefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/deep/anymodel"
	"github.com/treeloss/treeloss/extreme"
	"github.com/treeloss/treeloss/internal/explorer"
	"github.com/treeloss/treeloss/internal/memory"
	"github.com/treeloss/treeloss/labeltree"
)

// Read reads a tree from a model, or from a file in any form that
// labeltree.ReadTaxonomy knows. Without labels, the classes of a taxonomy are
// the names that are nobody's parent; with labels, a tree of other classes is
// refused, but a taxonomy may have more than these. The path "-" reads stdin. A model
// without a tree is ErrNone.
func Read(path string, stdin io.Reader, labels []string) (*labeltree.Tree, error) {
	name, content, err := readWhole(path, stdin)
	if err != nil {
		return nil, err
	}
	switch {
	case !isModel(path, content):
	case path == "-":
		return nil, fmt.Errorf("%s: a model cannot be read from here; name its file", name)
	default:
		tree, err := modelTree(path)
		if err == nil && labels != nil {
			err = InFile(path, tree.CheckLabels(labels))
		}
		return tree, err
	}
	tree, err := labeltree.ReadTaxonomy(bytes.NewReader(content), name, labels)
	if err != nil || labels == nil {
		return tree, err
	}
	if whole, err := labeltree.Read(bytes.NewReader(content), name); err == nil {
		return tree, InFile(name, whole.CheckOthers(labels))
	}
	return tree, nil // rows, paths and nested JSON do not say which nodes are classes
}

// InFile names a file in an error about its content.
func InFile(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", name, err)
}

// longestTree is the most bytes of a tree file: some million nodes. A device has no end.
const longestTree = 256 << 20

// readWhole returns the content of a file, or of the standard input for "-",
// but of a model only as much as shows that it is one.
func readWhole(path string, stdin io.Reader) (name string, content []byte, err error) {
	if path == "-" {
		content, err = io.ReadAll(stdin)
		return classify.StdinName, content, err
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil, fmt.Errorf("%s: no such file; check the path", path)
	}
	if err != nil {
		return path, nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return path, nil, fmt.Errorf("%s is a folder, want a tree file, a taxonomy or a model", path)
	}
	start := make([]byte, 9)
	n, err := io.ReadFull(f, start)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return path, nil, err
	}
	if content = start[:n]; isModel(path, content) {
		return path, content, nil
	}
	rest, err := io.ReadAll(io.LimitReader(f, longestTree))
	if len(rest) == longestTree {
		return path, nil, fmt.Errorf("%s has more than %s, want a tree file, a taxonomy or a model", path, memory.Text(longestTree))
	}
	return path, append(content, rest...), err
}

// isModel tells a model file by its name or its first bytes.
func isModel(path string, content []byte) bool {
	return strings.EqualFold(filepath.Ext(path), ".safetensors") || anymodel.Starts(content)
}

// modelTree returns the tree of a model: of a tree of softmaxes the way that predictions
// take.
func modelTree(path string) (*labeltree.Tree, error) {
	if extreme.IsFile(path) {
		m, err := extreme.Load(path)
		if err != nil {
			return nil, err
		}
		return m.LabelTree()
	}
	m, err := anymodel.Linear(path)
	if err != nil {
		return nil, err
	}
	if m.Tree == nil {
		return nil, fmt.Errorf("%s: %w, its sharing is %s; train with --sharing v-tree or linkage, or build a tree with treeloss tree build", path, ErrNone, m.Training.Sharing)
	}
	return m.Tree, nil
}

// ErrNone says that a model was trained without a tree.
var ErrNone = errors.New("the model has no tree")

// OfWeights builds a tree of a model's classes by their weights.
func OfWeights(path string) (*labeltree.Tree, error) {
	m, err := anymodel.Linear(path)
	if err != nil {
		return nil, err
	}
	return explorer.WeightTree(m)
}

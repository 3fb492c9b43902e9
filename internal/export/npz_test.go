package export_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/treeloss/treeloss/internal/export"
	"github.com/treeloss/treeloss/internal/treetest"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/sharing"
)

// SciPy reads the matrix that package sharing works with.
func TestTreeInSciPy(t *testing.T) {
	python := ""
	for _, p := range []string{"python3", "/usr/bin/python3"} { // Debian's packages are the second's
		if exec.Command(p, "-c", "import scipy.sparse").Run() == nil {
			python = p
		}
	}
	if python == "" {
		t.Skip("no python3 here has SciPy; install python3-scipy")
	}
	plain := treetest.Figure1(t, labeltree.VTree)
	length := make([]float64, plain.Len())
	for v := range length {
		length[v] = 1 / float64(v+3)
	}
	weighted, err := plain.WithLengths(length)
	if err != nil {
		t.Fatal(err)
	}
	for _, tree := range []*labeltree.Tree{plain, weighted, treetest.Figure1(t, labeltree.UTree)} {
		inSciPy(t, python, tree)
	}
}

func inSciPy(t *testing.T, python string, tree *labeltree.Tree) {
	t.Helper()
	var file, again bytes.Buffer
	if err := export.WriteTree(tree, &file); err != nil {
		t.Fatal(err)
	}
	if err := export.WriteTree(tree, &again); err != nil || !bytes.Equal(file.Bytes(), again.Bytes()) {
		t.Errorf("the same tree gives other bytes, %v", err)
	}
	path := filepath.Join(t.TempDir(), "a.npz")
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(python, "-c", "import json, sys, scipy.sparse as s\na = s.load_npz(sys.argv[1])\nassert a.has_canonical_format and str(a.dtype) == 'float32'\nprint(json.dumps(a.toarray().tolist()))", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	var a [][]float64
	if err := json.Unmarshal(out, &a); err != nil {
		t.Fatal(err)
	}
	operator := sharing.NewOperator[float64](sharing.NewTree(tree))
	k, m := tree.Classes(), tree.Len()
	if len(a) != k || len(a[0]) != m {
		t.Fatalf("%d x %d, want %d x %d", len(a), len(a[0]), k, m)
	}
	column, unit := make([]float64, k), make([]float64, m)
	for v := range m {
		clear(unit)
		unit[v] = 1
		operator.Expand(column, unit, 1)
		for c := range k {
			if math.Abs(a[c][v]-column[c]) > 1e-6 {
				t.Errorf("A[%d, %d] is %v, want %v", c, v, a[c][v], column[c])
			}
		}
	}
}

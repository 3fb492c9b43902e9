package extreme

import (
	"fmt"
	"hash/crc32"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/internal/modelfile"
	"github.com/treeloss/treeloss/internal/safetensors"
)

// The model file is a safetensors file. Tensors, beside those of the features and, where
// the classes have vectors, "label_vectors" (k x dimensions):
//
//	order       I32  k: the classes, leaf by leaf
//	nodes       I64  nodes x 6: first class (a place in order) and the one behind the last,
//	                 first child and number of children, the sum of the features of the nodes
//	                 before, and that of the words of their rows
//	node_crc32c I64  nodes: the CRC-32C of the parts of each node, in the order below
//	features    I32  of all nodes, one after the other: features that have weights, ascending
//	start       I32  for each node, its words before the row of each feature, and their number
//	rows        U16  the packed rows (see kernel.AppendPackedRow) of the features of all nodes:
//	                 which choices have weights, and these in half precision; a choice is a
//	                 child or a class of the node, the last is "none of these". Behind them
//	                 are kernel.PackedSlack words of 0
//	bias        F32  of each choice of each node
//
// and, of a model that finds the leaves by similar classes (see similarity), of version 3:
//
//	similar_start  I32 features + 1: where the classes that have a feature begin
//	similar_place  I32 of all features, one after the other: these classes, as places in order
//	similar_value  U16 what the feature counts for each of them, in half precision
//	similar_crc32c I64 the CRC-32C of these three
//
// Metadata, JSON where not a plain word: format, format_version, labels, features, tree,
// training and report.
const (
	formatName    = "treeloss-tree-model"
	formatVersion = "2"
	nodeColumns   = 6
)

var format = modelfile.Format{Name: formatName, Version: formatVersion}

// similarFormat is that of models that find the leaves by similar classes, so that programs
// that know nothing of these refuse them.
var similarFormat = modelfile.Format{Name: formatName, Version: "3"}

// ErrModelFile says that a file is no model that this program can use.
var ErrModelFile = modelfile.ErrModelFile

// IsFile tells, from the head of a file, whether Save wrote it, whole or damaged.
func IsFile(path string) bool { return safetensors.HasFormat(path, formatName) }

// Save writes the model to path: the old file or the new one is there, whole, whatever
// happens in between. The same model gives the same bytes.
func (m *Model) Save(path string) error {
	if err := m.Check(); err != nil {
		return err
	}
	f := format.New()
	if m.near != nil {
		f = similarFormat.New()
		f.Tensors = append(m.near.parts(), safetensors.New("similar_crc32c", []int64{checksum(m.near.parts())}, 1))
	}
	nodes := len(m.nodes)
	table, sums := make([]int64, 0, nodeColumns*nodes), make([]int64, nodes)
	features, start, rows, bias := make([][]int32, nodes), make([][]int32, nodes), make([][]uint16, nodes+1), make([][]float32, nodes)
	featuresBefore, wordsBefore := 0, 0
	for v, n := range m.Partition.Nodes {
		w := m.nodes[v]
		table = append(table, int64(n.First), int64(n.End), int64(n.Child), int64(n.Children), int64(featuresBefore), int64(wordsBefore))
		sums[v] = w.checksum()
		features[v], start[v], rows[v], bias[v] = w.features, w.start, w.words(), w.bias
		featuresBefore += len(w.features)
		wordsBefore += len(w.words())
	}
	rows[nodes] = make([]uint16, kernel.PackedSlack)
	f.Tensors = append(f.Tensors,
		safetensors.New("order", m.Partition.Order, len(m.Partition.Order)),
		safetensors.New("nodes", table, nodes, nodeColumns),
		safetensors.New("node_crc32c", sums, nodes),
		safetensors.Joined("features", features...),
		safetensors.Joined("start", start...),
		safetensors.Joined("rows", rows...),
		safetensors.Joined("bias", bias...))
	parts := modelfile.Parts{Features: m.Features, Tree: m.Tree, Vectors: m.Vectors, Totals: m.ClassTotals}
	if err := parts.Store(f, map[string]any{"labels": m.Labels, "training": m.Training, "report": m.Report}); err != nil {
		return err
	}
	return safetensors.WriteFile(path, f)
}

// checksum is the CRC-32C of the parts of a node.
func (w *weights) checksum() int64 {
	return checksum(w.parts())
}

// checksum is the CRC-32C of tensors.
func checksum(parts []safetensors.Tensor) int64 {
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	for _, part := range parts {
		sum.Write(part.Data)
	}
	return int64(sum.Sum32())
}

// parts are the arrays of a node in the order of files.
func (w *weights) parts() []safetensors.Tensor {
	return []safetensors.Tensor{
		safetensors.New("", w.features), safetensors.New("", w.start),
		safetensors.New("", w.words()), safetensors.New("", w.bias)}
}

// check returns an error unless the parts of a node fit together: what scores relies on.
func (w *weights) check(features, outputs int) error {
	last := int32(-1)
	for _, f := range w.features {
		if f <= last || int(f) >= features {
			return fmt.Errorf("feature %d after %d, want ascending ones below %d", f, last, features)
		}
		last = f
	}
	words := len(w.words())
	if w.start[0] != 0 || int(w.start[len(w.features)]) != words {
		return fmt.Errorf("rows from word %d to %d of %d", w.start[0], w.start[len(w.features)], words)
	}
	for n, f := range w.features {
		from, end := w.start[n], w.start[n+1]
		if from > end || int(end) > words {
			return fmt.Errorf("the row of feature %d from word %d to %d", f, from, end)
		}
		if err := kernel.CheckPackedRow(w.rows[from:end], outputs); err != nil {
			return fmt.Errorf("feature %d: %w", f, err)
		}
	}
	return nil
}

// lazyNodes checks the nodes of a file when they are first used, so that a program that
// answers a few questions does not read all of a large file.
type lazyNodes struct {
	file     *safetensors.File // whose memory the nodes may be
	sums     []int64
	features int
	busy     sync.Mutex
	seen     []atomic.Bool
}

// use makes a node ready for its first use, or returns an error that wraps ErrModelFile if the bytes of a node are damaged.
func (l *lazyNodes) use(v int, w *weights, outputs int) error {
	if l == nil || l.seen[v].Load() {
		return nil
	}
	l.busy.Lock()
	defer l.busy.Unlock()
	if l.seen[v].Load() {
		return nil
	}
	if w.checksum() != l.sums[v] {
		return fmt.Errorf("%s: node %d has another checksum than when it was written; the file is damaged, copy or train it again: %w", l.file.Path, v, ErrModelFile)
	}
	if err := w.check(l.features, outputs); err != nil {
		return fmt.Errorf("%s: node %d: %w: %w", l.file.Path, v, err, ErrModelFile)
	}
	w.index(l.features)
	l.seen[v].Store(true)
	runtime.KeepAlive(l.file)
	return nil
}

// Load opens a model file. Where the system can, the file is mapped into memory for as long
// as the model is in use, and only the nodes that a prediction comes to are read, and
// checked, then. A file that is truncated, altered, of a newer format or of another program
// is an error that wraps ErrModelFile, here or at the first use of what is damaged.
func Load(path string) (*Model, error) { return modelfile.Open(path, fromFile) }

// getter returns what reads a tensor of f, and does nothing once there is an error.
func getter(f *safetensors.File, err *error) func(name string, read func(t *safetensors.Tensor) error) {
	return func(name string, read func(t *safetensors.Tensor) error) {
		if *err == nil {
			var t *safetensors.Tensor
			if t, *err = f.Tensor(name); *err == nil {
				*err = read(t)
			}
		}
	}
}

// fromFile makes a model of a file of any origin; no bytes make it, or the use of the
// model, panic.
func fromFile(f *safetensors.File) (*Model, error) {
	want := format
	similar := f.Metadata["format_version"] == similarFormat.Version
	if similar {
		want = similarFormat
	}
	if err := want.Check(f); err != nil {
		return nil, err
	}
	m := &Model{Partition: &Partition{}}
	parts, err := modelfile.Load(f, map[string]any{"labels": &m.Labels, "training": &m.Training, "report": &m.Report})
	if err != nil {
		return nil, err
	}
	m.Features, m.Tree, m.Vectors, m.ClassTotals = parts.Features, parts.Tree, parts.Vectors, parts.Totals
	all := &weights{}
	var table, sums []int64
	get := getter(f, &err)
	get("order", func(t *safetensors.Tensor) (err error) { m.Partition.Order, err = t.Int32s(); return err })
	get("nodes", func(t *safetensors.Tensor) (err error) { table, err = t.Int64s(); return err })
	get("node_crc32c", func(t *safetensors.Tensor) (err error) { sums, err = t.Int64s(); return err })
	get("features", func(t *safetensors.Tensor) (err error) { all.features, err = t.Int32s(); return err })
	get("start", func(t *safetensors.Tensor) (err error) { all.start, err = t.Int32s(); return err })
	get("rows", func(t *safetensors.Tensor) (err error) { all.rows, err = t.Uint16s(); return err })
	get("bias", func(t *safetensors.Tensor) (err error) { all.bias, err = t.Float32s(); return err })
	if err != nil {
		return nil, err
	}
	if similar {
		if m.near, err = similarFrom(f, m.Features.Dim(), len(m.Partition.Order)); err != nil {
			return nil, err
		}
	}
	nodes := len(table) / nodeColumns
	if len(table)%nodeColumns != 0 || len(sums) != nodes {
		return nil, fmt.Errorf("%d numbers about nodes and %d checksums of them", len(table), len(sums))
	}
	for v := range nodes {
		n := table[v*nodeColumns:]
		m.Partition.Nodes = append(m.Partition.Nodes, Node{int(n[0]), int(n[1]), int(n[2]), int(n[3])})
	}
	if err := m.Partition.Check(); err != nil {
		return nil, err
	}
	biases := 0
	words := int64(len(all.rows) - kernel.PackedSlack)
	for v := range nodes {
		end := [2]int64{int64(len(all.features)), words}
		if v+1 < nodes {
			copy(end[:], table[(v+1)*nodeColumns+4:])
		}
		from := table[v*nodeColumns+4:]
		a, b, c, d := from[0], end[0], from[1], end[1]
		k := outputs(m.Partition, v)
		if a < 0 || a > b || b > int64(len(all.features)) || c < 0 || c > d || d > words ||
			b+int64(v)+1 > int64(len(all.start)) || biases+k > len(all.bias) {
			return nil, fmt.Errorf("node %d has the features %d to %d and the words %d to %d, which the file has not", v, a, b, c, d)
		}
		m.nodes = append(m.nodes, &weights{
			features: all.features[a:b:b], start: all.start[a+int64(v) : b+int64(v)+1],
			rows: all.rows[c : d+kernel.PackedSlack], bias: all.bias[biases : biases+k : biases+k]})
		biases += k
	}
	m.lazy = &lazyNodes{file: f, sums: sums, features: m.Features.Dim(), seen: make([]atomic.Bool, nodes)}
	return m, m.Check()
}

// Verify reads the whole file of a loaded model and returns an error that wraps
// ErrModelFile if a byte of it was changed.
func (m *Model) Verify() error {
	if m.lazy == nil {
		return nil
	}
	if err := m.lazy.file.Verify(); err != nil {
		return fmt.Errorf("%s: %w; copy it again, or train it: %w", m.lazy.file.Path, err, ErrModelFile)
	}
	for v, w := range m.nodes {
		if err := m.lazy.use(v, w, m.outputs(v)); err != nil {
			return err
		}
	}
	return nil
}

package export_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/treeloss/treeloss"
	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/internal/export"
	"github.com/treeloss/treeloss/softmax"
)

const (
	desk   = "../../cmd/treeloss/testdata/desk.csv"
	breads = "../../cmd/treeloss/testdata/breads.csv"
)

// train fits a model without any choice.
func train(t *testing.T, path string, change func(o *treeloss.Options)) *softmax.Model {
	t.Helper()
	o := treeloss.Options{Sharing: classinfo.Spec{classinfo.None}, Loss: "cross-entropy", Names: "off", Fourier: "off", Uncalibrated: true}
	if change != nil {
		change(&o)
	}
	m, err := treeloss.FitFiles(context.Background(), []string{path}, o)
	if err != nil {
		t.Fatal(err)
	}
	return m.Model
}

func examples(t *testing.T, path, label string) (list []dataset.Example) {
	t.Helper()
	r, err := dataset.Open(path, dataset.Options{Label: label})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for e, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e.Clone())
	}
	return list
}

func write(t *testing.T, m *softmax.Model, format export.Format, name string) (path string, files []string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	files, err := export.Write(m, format, path)
	if err != nil {
		t.Fatal(err)
	}
	return path, files
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The weights of each text form are those of the model, to the last bit, and the
// contract has its n-grams.
func TestForms(t *testing.T) {
	m := train(t, desk, nil)
	k, d := m.Layer.Classes, m.Layer.Features
	weight := func(f, c int) float32 { return m.Layer.Weight[f*k+c] }

	var object struct {
		Labels, Vocabulary []string
		IDF, Bias          []float32
		Weight             [][]float32
	}
	path, _ := write(t, m, export.JSON, "m.json")
	if err := json.Unmarshal(read(t, path), &object); err != nil {
		t.Fatal(err)
	}
	path, _ = write(t, m, export.CSV, "m.csv")
	rows, err := csv.NewReader(bytes.NewReader(read(t, path))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	path, files := write(t, m, export.FastText, "m.vec")
	lines := strings.Split(strings.TrimSpace(string(read(t, path))), "\n")
	if len(files) != 2 || !strings.HasSuffix(files[1], "m.features.json") || lines[0] != fmt.Sprint(d, " ", k) || len(lines) != d+1 || len(rows) != d+2 || len(object.Weight) != d || len(object.Vocabulary) != d || len(object.IDF) != d {
		t.Fatalf("%v, %q, %d lines, %d rows, %d weights of %d n-grams, want %d", files, lines[0], len(lines), len(rows), len(object.Weight), len(object.Vocabulary), d)
	}
	number := func(s string) float32 {
		v, err := strconv.ParseFloat(s, 32)
		if err != nil {
			t.Fatal(err)
		}
		return float32(v)
	}
	if !slices.Equal(rows[0][1:], m.Labels) || !slices.Equal(object.Labels, m.Labels) || !slices.Equal(object.Bias, m.Layer.Bias) || number(rows[1][1]) != m.Layer.Bias[0] {
		t.Errorf("%q, %v", rows[0], object.Labels)
	}
	for f := range d {
		vector := strings.Split(lines[f+1], " ")
		if rows[f+2][0] != m.Features.Name(f) || len(vector) != k+1 {
			t.Fatalf("%q %q, want %q", rows[f+2][0], vector, m.Features.Name(f))
		}
		for c := range k {
			if w := weight(f, c); number(rows[f+2][c+1]) != w || number(vector[c+1]) != w || object.Weight[f][c] != w {
				t.Fatalf("feature %d class %d: csv %s, vec %s, json %v, want %v", f, c, rows[f+2][c+1], vector[c+1], object.Weight[f][c], w)
			}
		}
	}

	path, _ = write(t, m, export.NPY, "folder")
	data := read(t, filepath.Join(path, "weight.npy"))
	start := 10 + int(binary.LittleEndian.Uint16(data[8:]))
	if !strings.Contains(string(data[:start]), fmt.Sprintf("(%d, %d)", k, d)) || len(data) != start+4*k*d {
		t.Fatalf("%q and %d bytes", data[:start], len(data)-start)
	}
	for f := range d {
		for c := range k {
			if got := math.Float32frombits(binary.LittleEndian.Uint32(data[start+4*(c*d+f):])); got != weight(f, c) {
				t.Fatalf("weight.npy class %d feature %d: %v, want %v", c, f, got, weight(f, c))
			}
		}
	}
}

// fields cuts a message of protobuf into its fields.
func fields(t *testing.T, b []byte) map[protowire.Number][][]byte {
	t.Helper()
	out := make(map[protowire.Number][][]byte)
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		m := protowire.ConsumeFieldValue(number, kind, b[max(n, 0):])
		if n < 0 || m < 0 {
			t.Fatal("no protobuf")
		}
		value := b[n : n+m]
		if kind == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(value)
		}
		out[number], b = append(out[number], value), b[n+m:]
	}
	return out
}

// The graph has the operators that the model needs, in order.
func TestGraph(t *testing.T) {
	calibration := func(c decide.Calibration) func(*softmax.Model) {
		return func(m *softmax.Model) { m.Training.Calibration = &c }
	}
	for _, tc := range []struct {
		name, path string
		options    func(*treeloss.Options)
		change     func(*softmax.Model)
		want       string
	}{
		{"texts", desk, nil, nil, "Gemm Softmax"},
		{"a temperature", desk, nil, calibration(decide.Calibration{Temperature: 2}), "Gemm Div Softmax"},
		{"a temperature of each row", desk, nil, calibration(decide.Calibration{Temperature: 2, ConfidenceScale: 1.5, ConfidencePower: -0.2}), "Gemm Div Softmax ReduceMax Clip Sub Log Neg Pow Mul Mul Softmax"},
		{"columns", breads, func(o *treeloss.Options) { o.Data.Label = "bread" }, nil, "Cast Sub Mul Clip Cast Gemm Softmax"},
		{"Fourier features", breads, func(o *treeloss.Options) { o.Data.Label, o.Fourier = "bread", "on" }, nil, "Cast Sub Mul Clip Cast MatMul Add Cos Mul Concat Gemm Softmax"},
	} {
		m := train(t, tc.path, tc.options)
		if tc.change != nil {
			tc.change(m)
		}
		path, _ := write(t, m, export.ONNX, "m.onnx")
		graph := fields(t, fields(t, read(t, path))[7][0])
		var ops []string
		for _, n := range graph[1] {
			ops = append(ops, string(fields(t, n)[4][0]))
		}
		if got := strings.Join(ops, " "); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
		runONNX(t, m, path, examples(t, tc.path, map[string]string{desk: "label", breads: "bread"}[tc.path]))
	}
}

// runner is what node runs: the model, the rows and their width; it prints probabilities.
const runner = `
const fs = require("fs"), ort = require(process.env.ONNXRUNTIME_NODE + "/node_modules/onnxruntime-node");
const [model, rows, width] = process.argv.slice(1);
(async () => {
  const session = await ort.InferenceSession.create(model);
  const data = fs.readFileSync(rows), x = new Float32Array(data.buffer, data.byteOffset, data.byteLength / 4);
  const out = await session.run({[session.inputNames[0]]: new ort.Tensor("float32", x, [x.length / width, +width])});
  const p = out.probabilities.data;
  fs.writeFileSync(1, Buffer.from(p.buffer, p.byteOffset, p.byteLength));
})();`

// runONNX compares a file with its model on examples, by ONNX Runtime: where
// ONNXRUNTIME_NODE names a folder with the npm packages onnxruntime-node and
// onnxruntime-common in node_modules.
func runONNX(t *testing.T, m *softmax.Model, path string, list []dataset.Example) {
	t.Helper()
	if os.Getenv("ONNXRUNTIME_NODE") == "" {
		return
	}
	rower, predictor := feature.NewRower(m.Features), m.NewPredictor()
	width := m.Layer.Features
	if m.Features.Kind() == dataset.Numbers {
		width = len(m.Features.Columns())
	}
	worst := 0.0
	for block := range slices.Chunk(list, 200) {
		var x bytes.Buffer
		for _, e := range block {
			row := make([]float32, width)
			if m.Features.Kind() == dataset.Numbers {
				for i, v := range e.Values {
					row[i] = float32(v)
				}
			} else {
				index, value, err := rower.Row(e)
				if err != nil {
					t.Fatal(err)
				}
				for i, f := range index {
					row[f] = value[i]
				}
			}
			if err := binary.Write(&x, binary.LittleEndian, row); err != nil {
				t.Fatal(err)
			}
		}
		rows := filepath.Join(t.TempDir(), "rows")
		if err := os.WriteFile(rows, x.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		command := exec.Command("node", "-e", runner, path, rows, strconv.Itoa(width))
		command.Stderr = os.Stderr
		out, err := command.Output()
		if err != nil || len(out) != 4*len(block)*len(m.Labels) {
			t.Fatalf("ONNX Runtime: %d bytes, %v", len(out), err)
		}
		p := make([]float32, len(out)/4)
		if _, err := binary.Decode(out, binary.LittleEndian, p); err != nil {
			t.Fatal(err)
		}
		for i, e := range block {
			want, err := predictor.Probabilities(e)
			if err != nil {
				t.Fatal(err)
			}
			got := p[i*len(want) : (i+1)*len(want)]
			if softmax.Top(got) != softmax.Top(want) {
				t.Errorf("example %d: class %d, want %d", i, softmax.Top(got), softmax.Top(want))
			}
			for c := range want {
				worst = max(worst, math.Abs(float64(got[c]-want[c])))
			}
		}
	}
	if worst > 1e-5 {
		t.Errorf("%s: probabilities are up to %g apart, want 1e-5", path, worst)
	}
	t.Logf("ONNX Runtime: %d examples, the same classes, probabilities within %.1e", len(list), worst)
}

// A model of one's own, by ONNX Runtime: EXPORT_MODEL and EXPORT_DATA name it and
// labelled examples.
func TestOwnModel(t *testing.T) {
	if os.Getenv("EXPORT_MODEL") == "" || os.Getenv("ONNXRUNTIME_NODE") == "" {
		t.Skip("measures a model of your own: set EXPORT_MODEL to its file, EXPORT_DATA to labelled examples and ONNXRUNTIME_NODE to a folder with the npm package onnxruntime-node")
	}
	m, err := softmax.Load(os.Getenv("EXPORT_MODEL"))
	if err != nil {
		t.Fatal(err)
	}
	path, _ := write(t, m, export.ONNX, "m.onnx")
	runONNX(t, m, path, examples(t, os.Getenv("EXPORT_DATA"), ""))
}

// Smaller models are read again, predict as they did before they were written, and
// hardly differ from the whole one.
func TestSmallModels(t *testing.T) {
	m := train(t, desk, nil)
	list := examples(t, desk, "")
	whole, _ := write(t, m, export.Model, "whole")
	for _, tc := range []struct {
		how   softmax.Compression
		share float64 // of the bytes of weights, at most
		apart float64
	}{
		{softmax.Compression{Quantize: softmax.Float16}, 0.5, 1e-3},
		{softmax.Compression{Quantize: softmax.Int8}, 0.26 + 1./6, 0.01}, // a scale for 6 weights
		{softmax.Compression{Prune: 0.3}, 1, 0.15},                       // so few classes that where they stand takes what is saved
	} {
		small, err := m.Compress(tc.how)
		if err != nil {
			t.Fatal(err)
		}
		path, _ := write(t, small, export.Model, "small")
		back, err := softmax.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		a, b, c := m.NewPredictor(), small.NewPredictor(), back.NewPredictor()
		for _, e := range list {
			p, _ := a.Probabilities(e)
			q, err := b.Probabilities(e)
			if err != nil {
				t.Fatal(err)
			}
			r, err := c.Probabilities(e)
			if err != nil {
				t.Fatal(err)
			}
			for i := range p {
				if math.Abs(float64(p[i]-q[i])) > tc.apart || q[i] != r[i] {
					t.Fatalf("%+v: class %d has %v, want %v; read again %v", tc.how, i, q[i], p[i], r[i])
				}
			}
		}
		weights := float64(4 * len(m.Layer.Weight))
		if saved, want := float64(len(read(t, whole))-len(read(t, path))), (1-tc.share)*weights-1000; saved < want {
			t.Errorf("%+v saves %.0f bytes of %.0f, want %.0f", tc.how, saved, weights, want)
		}
		again, _ := write(t, back, export.Model, "again")
		if !bytes.Equal(read(t, again), read(t, path)) {
			t.Errorf("%+v: written again it differs", tc.how)
		}
		if kept := zeros(back, 0.3); tc.how.Prune > 0 && !kept {
			t.Errorf("%+v keeps more weights than it should", tc.how)
		}
	}
	accuracy, n, err := export.Accuracy(t.Context(), classify.Input{Paths: []string{desk}}, m, m)
	if err != nil || n != len(list) || accuracy[0] < 0.9 || accuracy[0] != accuracy[1] {
		t.Errorf("%v on %d, %v", accuracy, n, err)
	}
}

// zeros tells whether no more than a share of the weights differ from the one that is
// most frequent for their feature.
func zeros(m *softmax.Model, share float64) bool {
	l := m.Layer
	k, differ := l.Outputs(), 0
	for row := range slices.Chunk(l.Dense(), k) {
		count := make(map[float32]int)
		for _, w := range row {
			count[w]++
		}
		most := 0
		for _, n := range count {
			most = max(most, n)
		}
		differ += k - most
	}
	return float64(differ) <= share*float64(k*l.Features)
}

func TestRefused(t *testing.T) {
	m := train(t, desk, nil)
	for want, c := range map[string]softmax.Compression{"Prune is 1": {Prune: 1}, "Prune is -1": {Prune: -1}, "Quantize is": {Quantize: "int4"}, "half precision": {Prune: 0.5, Quantize: softmax.Int8}} {
		if _, err := m.Compress(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", c, err, want)
		}
	}
	m.Layer.Weight[7] = 1e6
	if _, err := m.Compress(softmax.Compression{Quantize: softmax.Float16}); err == nil || !strings.Contains(err.Error(), "65504") {
		t.Errorf("a weight beyond half precision: %v", err)
	}
	if _, err := export.Write(m, "pickle", "x"); err == nil || !strings.Contains(err.Error(), "onnx, npy") {
		t.Errorf("an unknown format: %v", err)
	}
	tree := train(t, desk, func(o *treeloss.Options) {
		o.Loss, o.Taxonomy = "hierarchical-softmax", "../../cmd/treeloss/testdata/desk_groups.csv"
	})
	if _, err := export.Write(tree, export.ONNX, "x"); !errors.Is(err, export.ErrHierarchy) {
		t.Errorf("a hierarchical softmax: %v", err)
	}
	write(t, tree, export.NPY, "folder")
}

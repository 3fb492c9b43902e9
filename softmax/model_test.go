package softmax

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/internal/modelfile"
	"github.com/treeloss/treeloss/internal/safetensors"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/matrix"
)

func labels() []string { return []string{"a", "b", "c", "d", "e", "f"} }

// modelOf trains a model on 12 records of one kind.
func modelOf(t testing.TB, kind dataset.Kind, trainer Trainer) (*Model, []dataset.Example) {
	t.Helper()
	var records []dataset.Example
	columns := []string{"width", "height"}
	table := feature.NewTable(kind, columns)
	var class []int32
	words := []string{"lost card", "new card", "exchange rate", "cash machine", "top up", "transfer fee"}
	for i := range 12 {
		c := i % 6
		e := dataset.Example{Place: dataset.Place{File: "test.csv", Line: i + 2}}
		switch kind {
		case dataset.Text:
			e.Text = fmt.Sprintf("%s question number %d", words[c], i)
		case dataset.Numbers:
			e.Values = []float64{float64(c), float64(c*c) - float64(i)/10}
		case dataset.Sparse:
			e.Index, e.Values = []int32{int32(c), int32(7 + c/3)}, []float64{1, 0.5 + float64(i)/10}
		}
		if err := table.Add(e); err != nil {
			t.Fatal(err)
		}
		records = append(records, e)
		class = append(class, int32(c))
	}
	rows := make([]int, 12)
	for i := range rows {
		rows[i] = i
	}
	set, err := table.Fit(rows, feature.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x, err := set.Matrix(table, rows)
	if err != nil {
		t.Fatal(err)
	}
	m := &Model{Features: set, Labels: labels(), Training: Training{Program: "test", Sharing: "none", Examples: 12, Options: map[string]string{"b": "2", "a": "1"}}}
	o := Options{Trainer: trainer}
	if trainer == nil { // the hierarchical softmax has a tree of its own
		m.Tree = sixClasses(t, labeltree.VTree)
		if o.Hierarchy, err = loss.NewHierarchicalSoftmax(m.Tree); err != nil {
			t.Fatal(err)
		}
	}
	if m.Layer, m.Training.Fit, err = Fit(context.Background(), Examples{X: x, Class: class}, 6, o); err != nil {
		t.Fatal(err)
	}
	return m, records
}

func allModels(t testing.TB) map[string]func() (*Model, []dataset.Example) {
	return map[string]func() (*Model, []dataset.Example){
		"text":         func() (*Model, []dataset.Example) { return modelOf(t, dataset.Text, Converge{}) },
		"numbers":      func() (*Model, []dataset.Example) { return modelOf(t, dataset.Numbers, SGD{}) },
		"sparse":       func() (*Model, []dataset.Example) { return modelOf(t, dataset.Sparse, AdamW{}) },
		"hierarchical": func() (*Model, []dataset.Example) { return modelOf(t, dataset.Text, nil) },
		"tree, vectors, temperature": func() (*Model, []dataset.Example) {
			m, records := modelOf(t, dataset.Numbers, Converge{})
			m.Tree = sixClasses(t, labeltree.UTree)
			m.Vectors = sample(5, 6, 3, 2).X.(*matrix.Dense)
			m.Training.Calibration = &decide.Calibration{Temperature: 1.5}
			return m, records
		},
	}
}

func TestSaveAndLoad(t *testing.T) {
	folder := t.TempDir()
	for name, make := range allModels(t) {
		m, records := make()
		path, again := filepath.Join(folder, name), filepath.Join(folder, "again")
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		loaded, err := Load(path)
		if err != nil {
			t.Fatal(name, err)
		}
		if !same(m.Layer, loaded.Layer) || !slices.Equal(m.Labels, loaded.Labels) || (m.Tree == nil) != (loaded.Tree == nil) {
			t.Errorf("%s: another model came back", name)
		}
		if m.Tree != nil && !sameTree(m.Tree, loaded.Tree) {
			t.Errorf("%s: another tree came back", name)
		}
		a, _ := json.Marshal(m.Training)
		b, _ := json.Marshal(loaded.Training)
		if !bytes.Equal(a, b) || fmt.Sprint(m.Vectors) != fmt.Sprint(loaded.Vectors) {
			t.Errorf("%s: training record %s came back as %s, vectors %v as %v", name, a, b, m.Vectors, loaded.Vectors)
		}
		p, q := m.NewPredictor(), loaded.NewPredictor()
		for _, e := range records {
			a, err := p.Probabilities(e)
			if err != nil {
				t.Fatal(err)
			}
			b, err := q.Probabilities(e)
			if err != nil || !slices.Equal(a, b) {
				t.Errorf("%s: probabilities %v became %v, %v", name, a, b, err)
			}
		}
		if err := loaded.Save(again); err != nil {
			t.Fatal(err)
		}
		first, _ := os.ReadFile(path)
		second, _ := os.ReadFile(again)
		if len(first) == 0 || !slices.Equal(first, second) {
			t.Errorf("%s: saved again, the file differs", name)
		}
		fresh, _ := make()
		if err := fresh.Save(again); err != nil {
			t.Fatal(err)
		}
		if second, _ = os.ReadFile(again); !slices.Equal(first, second) {
			t.Errorf("%s: trained again, the file differs", name)
		}
	}
}

// The file is what Python's safetensors reads: parsed here by encoding/json
// alone.
func TestLayoutIsSafetensors(t *testing.T) {
	m, _ := modelOf(t, dataset.Text, Converge{})
	path := filepath.Join(t.TempDir(), "m")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := binary.LittleEndian.Uint64(data)
	var header map[string]json.RawMessage
	if err := json.Unmarshal(data[8:8+n], &header); err != nil {
		t.Fatal(err)
	}
	body := data[8+n:]
	var metadata map[string]string
	if err := json.Unmarshal(header["__metadata__"], &metadata); err != nil {
		t.Fatal(err)
	}
	if metadata["format"] != "treeloss-model" || metadata["format_version"] != "2" || metadata["output"] != "flat" {
		t.Errorf("metadata %v", metadata)
	}
	var names []string
	if err := json.Unmarshal([]byte(metadata["labels"]), &names); err != nil || !slices.Equal(names, m.Labels) {
		t.Errorf("labels %v, %v", names, err)
	}
	var weight struct {
		DType   string `json:"dtype"`
		Shape   []int  `json:"shape"`
		Offsets [2]int `json:"data_offsets"`
	}
	if err := json.Unmarshal(header["weight"], &weight); err != nil || weight.DType != "F32" || !slices.Equal(weight.Shape, []int{6, m.Layer.Features}) {
		t.Fatalf("weight %+v, %v", weight, err)
	}
	for c := range 6 {
		for f := range m.Layer.Features {
			bits := binary.LittleEndian.Uint32(body[weight.Offsets[0]+4*(c*m.Layer.Features+f):])
			if got := math.Float32frombits(bits); got != m.Layer.Weight[f*6+c] {
				t.Fatalf("class %d, feature %d: %v in the file, want %v", c, f, got, m.Layer.Weight[f*6+c])
			}
		}
	}
	for _, word := range []string{"time", "thread", "path", "host"} {
		if strings.Contains(strings.ToLower(metadata["training"]), word) {
			t.Errorf("the training record %s speaks of a %s", metadata["training"], word)
		}
	}
}

func loadError(path string) error { _, err := Load(path); return err }

func TestDamagedFilesAreRefused(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "m")
	m, _ := modelOf(t, dataset.Numbers, Converge{})
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	small, _ := os.ReadFile(path)
	for at := range small {
		damaged := slices.Clone(small)
		damaged[at] ^= 1 << (at % 8)
		for _, data := range [][]byte{damaged, small[:at]} {
			f, err := safetensors.Read(bytes.NewReader(data), int64(len(data)))
			if err == nil {
				_, err = fromFile(f)
			}
			if err == nil {
				t.Fatalf("byte %d: taken", at)
			}
			if at%50 == 0 { // through the disk, which takes its time
				checkRefused(t, folder, data, ErrModelFile, loadError)
			}
		}
	}
	m, _ = modelOf(t, dataset.Text, nil)
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	large, _ := os.ReadFile(path)
	for tenth := range 10 {
		checkRefused(t, folder, large[:tenth*len(large)/10], ErrModelFile, loadError)
	}
	checkRefused(t, folder, append(slices.Clone(large), 0), ErrModelFile, loadError)
	checkRefused(t, folder, []byte("text,label\nhello,greeting\n"), ErrModelFile, loadError)

	if err := loadError(filepath.Join(folder, "none")); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "none") {
		t.Errorf("missing file: %v", err)
	}
	if err := loadError(folder); !errors.Is(err, ErrModelFile) || !strings.HasPrefix(err.Error(), folder+": ") {
		t.Errorf("a folder: %v", err)
	}
}

// Files with a right checksum and wrong content, as another program or a later
// version might write them.
func TestStrangeFilesAreRefused(t *testing.T) {
	m, _ := modelOf(t, dataset.Sparse, Converge{})
	h, _ := modelOf(t, dataset.Text, nil)
	tensor := func(f *safetensors.File, name string) *safetensors.Tensor {
		x, err := f.Tensor(name)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	fill := func(value float32) func(*safetensors.File) {
		return func(f *safetensors.File) {
			x := tensor(f, "weight")
			x.Data = slices.Clone(x.Data)
			binary.LittleEndian.PutUint32(x.Data[4:], math.Float32bits(value))
		}
	}
	set := func(key, value string) func(*safetensors.File) {
		return func(f *safetensors.File) { f.Metadata[key] = value }
	}
	for _, tc := range []struct {
		name   string
		model  *Model
		change func(*safetensors.File)
		want   string
	}{
		{"another program", m, set("format", "pt"), `"pt"`},
		{"no metadata", m, func(f *safetensors.File) { f.Metadata = nil }, "another program"},
		{"a newer version", m, set("format_version", "3"), `version "3"`},
		{"a weight of NaN", m, fill(float32(math.NaN())), "NaN"},
		{"an infinite weight", m, fill(float32(math.Inf(-1))), "Inf"},
		{"a bias of NaN", m, func(f *safetensors.File) {
			*tensor(f, "bias") = safetensors.New("bias", slices.Repeat([]float32{float32(math.NaN())}, 6), 6)
		}, "NaN"},
		{"fewer labels", m, set("labels", `["a"]`), "shape"},
		{"no labels", m, set("labels", `[]`), "shape"},
		{"labels that are none", m, set("labels", `{`), "labels"},
		{"a label twice", m, set("labels", `["a","a","c","d","e","f"]`), "both called"},
		{"a training record that is none", m, set("training", `[]`), "training"},
		{"a tree that is none", m, set("tree", `[]`), "tree"},
		{"a tree of other classes", m, func(f *safetensors.File) {
			var text strings.Builder
			if err := starTree(t, []string{"x", "y"}).WriteJSON(&text); err != nil {
				t.Fatal(err)
			}
			f.Metadata["tree"] = text.String()
		}, "tree of 2 classes"},
		{"a hierarchy of other classes", h, func(f *safetensors.File) {
			var text strings.Builder
			if err := starTree(t, []string{"x", "y"}).WriteJSON(&text); err != nil {
				t.Fatal(err)
			}
			f.Metadata["tree"] = text.String()
		}, "tree of 2 classes"},
		{"a hierarchy over a U-tree", h, func(f *safetensors.File) {
			var text strings.Builder
			if err := sixClasses(t, labeltree.UTree).WriteJSON(&text); err != nil {
				t.Fatal(err)
			}
			f.Metadata["tree"] = text.String()
		}, "leaf"},
		{"a hierarchy without a tree", h, func(f *safetensors.File) { delete(f.Metadata, "tree") }, "with a tree"},
		{"an output of the future", m, set("output", "mixture"), "mixture"},
		{"no features", m, func(f *safetensors.File) { delete(f.Metadata, "features") }, "feature"},
		{"a billion features", m, set("features", `{"kind":"sparse","dim":2000000000}`), "shape"},
		{"transposed weights", m, func(f *safetensors.File) { slices.Reverse(tensor(f, "weight").Shape) }, "shape"},
		{"weights of whole numbers", m, func(f *safetensors.File) { tensor(f, "weight").DType = safetensors.I32 }, "F32"},
		{"flat vectors", m, func(f *safetensors.File) {
			f.Tensors = append(f.Tensors, safetensors.New(modelfile.VectorTensor, make([]float32, 6), 6))
		}, modelfile.VectorTensor},
		{"vectors of fewer classes", m, func(f *safetensors.File) {
			f.Tensors = append(f.Tensors, safetensors.New(modelfile.VectorTensor, make([]float32, 6), 2, 3))
		}, "2 label vectors for"},
		{"no bias", m, func(f *safetensors.File) {
			f.Tensors = slices.DeleteFunc(f.Tensors, func(x safetensors.Tensor) bool { return x.Name == "bias" })
		}, `"bias"`},
		{"no weight", m, func(f *safetensors.File) {
			f.Tensors = slices.DeleteFunc(f.Tensors, func(x safetensors.Tensor) bool { return x.Name == "weight" })
		}, `"weight"`},
	} {
		f, err := tc.model.file()
		if err != nil {
			t.Fatal(err)
		}
		tc.change(f)
		path := filepath.Join(t.TempDir(), "m")
		if err := safetensors.WriteFile(path, f); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); !errors.Is(err, ErrModelFile) || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want %q in it", tc.name, err, tc.want)
		}
	}
}

func TestSavingNeverDamages(t *testing.T) {
	folder := t.TempDir()
	m, _ := modelOf(t, dataset.Numbers, Converge{})
	if err := m.Save(folder); err == nil || !strings.Contains(err.Error(), folder) {
		t.Errorf("saved over a folder: %v", err)
	}
	if err := m.Save(filepath.Join(folder, "none", "m")); err == nil {
		t.Error("saved into a folder that is not there")
	}
	path := filepath.Join(folder, "m")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(path)
	for name, breakIt := range map[string]func(*Model){
		"no layer":                 func(m *Model) { m.Layer = nil },
		"no features":              func(m *Model) { m.Features = nil },
		"a weight of NaN":          func(m *Model) { m.Layer.Weight[0] = float32(math.NaN()) },
		"too few labels":           func(m *Model) { m.Labels = m.Labels[1:] },
		"a label twice":            func(m *Model) { m.Labels[1] = "a" },
		"a broken label":           func(m *Model) { m.Labels[1] = "\xff" },
		"few biases":               func(m *Model) { m.Layer.Bias = m.Layer.Bias[1:] },
		"few weights":              func(m *Model) { m.Layer.Weight = m.Layer.Weight[1:] },
		"no classes":               func(m *Model) { m.Layer.Classes = 0 },
		"other features":           func(m *Model) { m.Layer.Features, m.Layer.Weight = 3, make([]float32, 18) },
		"another tree":             func(m *Model) { m.Tree = starTree(t, []string{"x", "y"}) },
		"vectors of other classes": func(m *Model) { m.Vectors = matrix.NewDense(2, 3) },
		"a temperature of 0":       func(m *Model) { m.Training.Calibration = &decide.Calibration{} },
		"a NaN in the record": func(m *Model) {
			m.Training.Prior = math.NaN()
		},
	} {
		broken, _ := modelOf(t, dataset.Numbers, Converge{})
		breakIt(broken)
		if err := broken.Save(path); err == nil {
			t.Errorf("%s: saved", name)
		}
		if after, _ := os.ReadFile(path); !slices.Equal(before, after) {
			t.Fatalf("%s: the old model is damaged", name)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(folder, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestPredict(t *testing.T) {
	m, records := modelOf(t, dataset.Text, Converge{})
	p := m.NewPredictor()
	for i, e := range records {
		for _, n := range []int{-1, 0, 1, 3, 6, 100} {
			got, err := p.Predict(e, n)
			if err != nil || len(got) != min(max(n, 1), 6) {
				t.Fatalf("%d of %d classes: %v, %v", n, 6, got, err)
			}
			probabilities, _ := p.Probabilities(e)
			for r, g := range got {
				if g.Label != m.Labels[g.Class] || g.Probability != float64(probabilities[g.Class]) {
					t.Errorf("prediction %+v, want label %q and %v", g, m.Labels[g.Class], probabilities[g.Class])
				}
				if r > 0 && (g.Probability > got[r-1].Probability || g.Probability == got[r-1].Probability && g.Class < got[r-1].Class) {
					t.Errorf("%+v behind %+v", g, got[r-1])
				}
			}
			if got[0].Class != i%6 {
				t.Errorf("record %d is %q, predicted %+v", i, m.Labels[i%6], got[0])
			}
		}
	}
	// A text without a known n-gram has no features: the biases decide.
	got, err := p.Predict(dataset.Example{Text: ""}, 6)
	if err != nil || len(got) != 6 {
		t.Errorf("empty text: %v, %v", got, err)
	}
	clear(m.Layer.Bias)
	if got, _ = p.Predict(dataset.Example{Text: ""}, 3); got[0].Class != 0 || got[1].Class != 1 || got[2].Class != 2 {
		t.Errorf("equal probabilities: %+v, want the classes in order", got)
	}
}

func TestLargest(t *testing.T) {
	p := []float32{0.1, 0.3, 0.1, 0.3, 0, 0.2}
	for n, want := range [][]int32{1: {1}, 2: {1, 3}, 3: {1, 3, 5}, 4: {1, 3, 5, 0}, 6: {1, 3, 5, 0, 2, 4}, 9: {1, 3, 5, 0, 2, 4}} {
		if want != nil && !slices.Equal(largest(nil, p, n), want) {
			t.Errorf("the %d largest are %v, want %v", n, largest(nil, p, n), want)
		}
	}
}

func TestRecordsOfAnotherKind(t *testing.T) {
	place := dataset.Place{File: "in.csv", Line: 7}
	text := dataset.Example{Text: "hello", Place: place}
	numbers := dataset.Example{Values: []float64{1, 2}, Place: place}
	three := dataset.Example{Values: []float64{1, 2, 3}, Place: place}
	nan := dataset.Example{Values: []float64{1, math.NaN()}, Place: place}
	sparse := dataset.Example{Index: []int32{1}, Values: []float64{2}, Place: place}
	for _, tc := range []struct {
		kind dataset.Kind
		e    dataset.Example
	}{{dataset.Text, numbers}, {dataset.Text, sparse}, {dataset.Numbers, text}, {dataset.Numbers, three}, {dataset.Numbers, nan}, {dataset.Numbers, sparse}, {dataset.Sparse, numbers}} {
		m, _ := modelOf(t, tc.kind, Converge{})
		p := m.NewPredictor()
		if _, err := p.Predict(tc.e, 1); err == nil || !strings.Contains(err.Error(), "in.csv:7") {
			t.Errorf("%v given to a model of %v: %v", tc.e, tc.kind, err)
		}
	}
	l := &Layer{Classes: 2, Features: 3, Weight: make([]float32, 6), Bias: make([]float32, 2)}
	if err := l.PredictAll(sample(1, 3, 4, 2).X, 1, func(int, []float32) {}); err == nil {
		t.Error("inputs of another width were taken")
	}
}

func TestCarryOver(t *testing.T) {
	m, records := modelOf(t, dataset.Text, Converge{})
	table := feature.NewTable(dataset.Text, nil)
	table.AddText(records[0].Text)
	table.AddText("quite other words")
	set, err := table.Fit([]int{0, 1}, feature.Options{})
	if err != nil {
		t.Fatal(err)
	}
	newLabels := []string{"c", "new", "a"}
	l, err := m.CarryOver(set, newLabels)
	if err != nil || l.check() != nil {
		t.Fatal(err)
	}
	old := map[string]int{}
	for f := range m.Features.Dim() {
		old[m.Features.Name(f)] = f
	}
	kept := 0
	for f := range set.Dim() {
		o, known := old[set.Name(f)]
		for c, from := range []int{2, -1, 0} {
			want := float32(0)
			if known && from >= 0 {
				want = m.Layer.Weight[o*6+from]
				kept++
			}
			if got := l.Weight[f*3+c]; got != want {
				t.Errorf("%s for %q: %v, want %v", set.Name(f), newLabels[c], got, want)
			}
		}
	}
	if kept == 0 || l.Bias[0] != m.Layer.Bias[2] || l.Bias[1] != 0 {
		t.Errorf("%d weights kept, biases %v of %v", kept, l.Bias, m.Layer.Bias)
	}
	if _, err := m.CarryOver(set, []string{"x", "y"}); err == nil {
		t.Error("no label in common was taken")
	}
	numbers, _ := modelOf(t, dataset.Numbers, Converge{})
	if _, err := m.CarryOver(numbers.Features, labels()); err == nil {
		t.Error("features of another kind were taken")
	}

	h, _ := modelOf(t, dataset.Text, nil)
	same6, err := h.CarryOver(h.Features, labels())
	if err != nil || !same(same6, h.Layer) {
		t.Errorf("hierarchical softmax carried to itself: %v", err)
	}
	if _, err := h.CarryOver(h.Features, []string{"b", "a", "c", "d", "e", "f"}); err == nil {
		t.Error("hierarchical softmax was carried to labels in another order")
	}
	other, err := loss.NewHierarchicalSoftmax(starTree(t, labels()))
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Layer.fits(6, h.Layer.Features, other); err == nil {
		t.Error("a start over another tree was taken")
	}
	if err := h.Layer.fits(6, h.Layer.Features, nil); err == nil {
		t.Error("a hierarchical start of a flat layer was taken")
	}
}

// update rewrites the golden file. Do so only for a new format version, and
// keep the old file.
var update = flag.Bool("update", false, "rewrite testdata/model-v2.safetensors and what it predicts")

// A model file of format version 1 must load and predict for ever.
func TestGoldenModel(t *testing.T) {
	const path, answers = "testdata/model-v2.safetensors", "testdata/model-v1.json"
	_, records := modelOf(t, dataset.Text, Converge{})
	if *update {
		m, _ := modelOf(t, dataset.Text, Converge{})
		m.Tree = sixClasses(t, labeltree.VTree)
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		var all [][]Prediction
		p := m.NewPredictor()
		for _, e := range records {
			got, err := p.Predict(e, 3)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, got)
		}
		text, err := json.MarshalIndent(all, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(answers, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if m.Tree == nil || m.Training.Program != "test" || m.Training.Options["a"] != "1" || !slices.Equal(m.Labels, labels()) {
		t.Errorf("the model says %+v, labels %v", m.Training, m.Labels)
	}
	text, err := os.ReadFile(answers)
	if err != nil {
		t.Fatal(err)
	}
	var want [][]Prediction
	if err := json.Unmarshal(text, &want); err != nil || len(want) != len(records) {
		t.Fatalf("%d records, %v", len(want), err)
	}
	p := m.NewPredictor()
	for i, e := range records {
		got, err := p.Predict(e, 3)
		if err != nil {
			t.Fatal(err)
		}
		for r, g := range got {
			if w := want[i][r]; g.Label != w.Label || math.Abs(g.Probability-w.Probability) > 1e-5 {
				t.Errorf("record %d, place %d: %+v, want %+v", i, r, g, w)
			}
		}
	}
}

// Whatever the bytes, there is a model that predicts or an error.
func FuzzLoad(f *testing.F) {
	for _, make := range allModels(f) {
		m, _ := make()
		path := filepath.Join(f.TempDir(), "m")
		if err := m.Save(path); err != nil {
			f.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)/2])
	}
	f.Add([]byte{})
	f.Add([]byte("8\x00\x00\x00\x00\x00\x00\x00{}      "))
	f.Fuzz(func(t *testing.T, data []byte) {
		f, err := safetensors.Read(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		// Give it a right checksum: else nothing would ever come past that.
		var sealed bytes.Buffer
		if err := safetensors.Write(&sealed, f); err != nil {
			return
		}
		if f, err = safetensors.Read(bytes.NewReader(sealed.Bytes()), int64(sealed.Len())); err != nil {
			t.Fatal(err)
		}
		m, err := fromFile(f)
		if err != nil {
			return
		}
		if err := m.Check(); err != nil {
			t.Fatal(err)
		}
		p := m.NewPredictor()
		for _, e := range []dataset.Example{{Text: "lost card"}, {Values: make([]float64, len(m.Features.Columns()))}, {Index: []int32{0}, Values: []float64{1}}} {
			got, err := p.Predict(e, 2)
			if err == nil && (len(got) < 1 || !(got[0].Probability >= 0)) {
				t.Errorf("predicted %+v", got)
			}
		}
	})
}

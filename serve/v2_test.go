package serve_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/serve"
)

// tensor is one of an answer.
type tensor struct {
	Name, Datatype string
	Shape          []int
	Parameters     struct {
		Size int `json:"binary_data_size"`
	}
	Data []any
}

// inferred is the JSON of an answer, as the protocol has it.
type inferred struct {
	Model   string `json:"model_name"`
	Version string `json:"model_version"`
	ID      string
	Outputs []tensor
}

func (i inferred) output(t *testing.T, name string) tensor {
	t.Helper()
	at := slices.IndexFunc(i.Outputs, func(o tensor) bool { return o.Name == name })
	if at < 0 {
		t.Fatalf("no output %s in %+v", name, i)
	}
	return i.Outputs[at]
}

// Metadata and health have the keys and types of the protocol.
func TestMetadata(t *testing.T) {
	s := newServer(t, options(t))
	type metadata struct {
		Name, Version, Platform string
		Extensions, Versions    []string
		Inputs, Outputs         []struct {
			Name, Datatype string
			Shape          []int
		}
	}
	for _, path := range []string{"/v2", "/v2/"} {
		if m := parse[metadata](t, ask(t, s, "GET", path, ""), 200); m.Name != "treeloss" || m.Version != "test" || !slices.Contains(m.Extensions, "binary_tensor_data") {
			t.Errorf("%s: %+v", path, m)
		}
	}
	if r := ask(t, s, "GET", "/v2/health/live", ""); r.status != 200 || r.body != "{\"live\":true}\n" {
		t.Errorf("%+v", r)
	}
	for name, want := range map[string]string{"text": "text BYTES [-1]", "numbers": "features FP32 [-1 4]", "sparse": "features FP32 [-1 -1]"} {
		at := "/v2/models/" + name
		m := parse[metadata](t, ask(t, s, "GET", at, ""), 200)
		in := m.Inputs[0]
		if got := fmt.Sprint(in.Name, " ", in.Datatype, " ", in.Shape); m.Name != name || len(m.Versions) != 1 || m.Platform == "" || len(m.Inputs) != 1 || got != want || len(m.Outputs) != 5 {
			t.Errorf("%s: %+v, want the input %s", name, m, want)
		}
		one := at + "/versions/" + m.Versions[0]
		if again := parse[metadata](t, ask(t, s, "GET", one, ""), 200); again.Versions[0] != m.Versions[0] {
			t.Errorf("%+v", again)
		}
		if r := ask(t, s, "GET", one+"/ready", ""); r.status != 200 || r.body != fmt.Sprintf("{\"name\":%q,\"ready\":true}\n", name) {
			t.Errorf("%+v", r)
		}
		for _, path := range []string{at + "/versions/7", at + "/versions/7/ready", "/v2/models/nobody/ready"} {
			parse[map[string]string](t, ask(t, s, "GET", path, ""), 404)
		}
	}
}

// Texts and rows as tensors give the answers of treeloss predict, to the last bit, as
// JSON and as binary tensors.
func TestInferIsPredict(t *testing.T) {
	s := newServer(t, options(t))
	paths, _ := models()
	texts := deskTexts(t)[:7]
	var bytes, numbers, wide []byte
	for _, text := range texts {
		bytes = append(binary.LittleEndian.AppendUint32(bytes, uint32(len(text))), text...)
	}
	for _, v := range []float64{35.9, 10.1, 10.5, 763.2, 9.9, 6.7, 4.8, 54.6} {
		numbers = binary.LittleEndian.AppendUint32(numbers, math.Float32bits(float32(v)))
		wide = binary.LittleEndian.AppendUint64(wide, math.Float64bits(v))
	}
	row := `{"length": 35.9, "width": 10.1, "height": 10.5, "weight": 763.2}` + "\n" + `{"length": 9.9, "width": 6.7, "height": 4.8, "weight": 54.6}`
	nested := strings.ReplaceAll(marshal(t, texts), ",\"", "],[\"")
	for _, tc := range []struct {
		name, model, input string
		binary             []byte
		lines              string
		format             dataset.Format
	}{
		{"texts", "text", `"name": "text", "datatype": "BYTES", "shape": [7], "data": ` + marshal(t, texts), nil, jsonLines(t, texts), dataset.JSONL},
		{"a column of texts", "text", `"name": "text", "datatype": "BYTES", "shape": [7, 1], "data": [` + nested + "]", nil, jsonLines(t, texts), dataset.JSONL},
		{"binary texts", "text", `"name": "text", "datatype": "BYTES", "shape": [7, 1]`, bytes, jsonLines(t, texts), dataset.JSONL},
		{"numbers", "numbers", `"name": "features", "datatype": "FP32", "shape": [2, 4], "data": [35.9, 10.1, 10.5, 763.2, 9.9, 6.7, 4.8, 54.6]`, nil, row, dataset.JSONL},
		{"rows", "numbers", `"name": "features", "datatype": "FP32", "shape": [2, 4], "data": [[35.9, 10.1, 10.5, 763.2], [9.9, 6.7, 4.8, 54.6]]`, nil, row, dataset.JSONL},
		{"binary numbers", "numbers", `"name": "features", "datatype": "FP32", "shape": [2, 4]`, numbers, row, dataset.JSONL},
		{"wide numbers", "numbers", `"name": "features", "datatype": "FP64", "shape": [2, 4]`, wide, row, dataset.JSONL},
		{"sparse", "sparse", `"name": "features", "datatype": "FP32", "shape": [2, 5], "data": [1, 0, 0, 0, 0.25, 0, 0, 1, 0, 0]`, nil, "1:1 5:0.25\n3:1", dataset.LIBSVM},
		{"LIBSVM", "sparse", `"name": "text", "datatype": "BYTES", "shape": [2], "data": ["1:1 5:0.25", "3:1"]`, nil, "1:1 5:0.25\n3:1", dataset.LIBSVM},
	} {
		want, all := predicted(t, paths[tc.model], tc.lines, tc.format, decide.Rule{Top: 2})
		for _, asBinary := range []bool{false, true} {
			var headers []string
			in := tc.input
			if tc.binary != nil {
				in += fmt.Sprintf(`, "parameters": {"binary_data_size": %d}`, len(tc.binary))
			}
			body := fmt.Sprintf(`{"id": "42", "parameters": {"top": 2, "binary_data_output": %v, "priority": 3}, "inputs": [{%s}],
				"outputs": [{"name": "label"}, {"name": "probabilities"}, {"name": "top_probabilities", "parameters": {"binary_data": %v}}, {"name": "top_labels"}]}`, asBinary, in, asBinary)
			if tc.binary != nil {
				headers = []string{"Inference-Header-Content-Length", strconv.Itoa(len(body))}
				body += string(tc.binary)
			}
			r := ask(t, s, "POST", "/v2/models/"+tc.model+"/infer", body, headers...)
			got := decoded(t, r)
			if got.Model != tc.model || got.ID != "42" || got.Version == "" {
				t.Fatalf("%s: %+v", tc.name, got)
			}
			labels, tops, probs, every := got.output(t, "label"), got.output(t, "top_labels"), got.output(t, "top_probabilities"), got.output(t, "probabilities")
			n, k := len(want), len(all)/len(want)
			if !slices.Equal(labels.Shape, []int{n}) || !slices.Equal(tops.Shape, []int{n, 2}) || !slices.Equal(every.Shape, []int{n, k}) || labels.Datatype != "BYTES" || probs.Datatype != "FP32" {
				t.Fatalf("%s: %+v", tc.name, got)
			}
			for i, a := range want {
				for c := range 2 {
					if tops.Data[2*i+c] != a.Top[c].Label || float64(float32(probs.Data[2*i+c].(float64))) != a.Top[c].Probability {
						t.Errorf("%s: example %d choice %d: %v %v, want %+v", tc.name, i, c, tops.Data[2*i+c], probs.Data[2*i+c], a.Top[c])
					}
				}
				if labels.Data[i] != a.Label {
					t.Errorf("%s: example %d: %v, want %q", tc.name, i, labels.Data[i], a.Label)
				}
			}
			for i, p := range all {
				if float32(every.Data[i].(float64)) != p {
					t.Errorf("%s: probability %d is %v, want %v", tc.name, i, every.Data[i], p)
				}
			}
		}
	}
}

// decoded reads an answer to infer, with the binary tensors behind its JSON.
func decoded(t *testing.T, r reply) inferred {
	t.Helper()
	length := r.header.Get("Inference-Header-Content-Length")
	if length == "" {
		return parse[inferred](t, r, 200)
	}
	n, err := strconv.Atoi(length)
	if err != nil || r.status != 200 || r.header.Get("Content-Type") != "application/octet-stream" || r.header.Get("Content-Length") != strconv.Itoa(len(r.body)) {
		t.Fatalf("%+v", r)
	}
	var out inferred
	if err := json.Unmarshal([]byte(r.body[:n]), &out); err != nil {
		t.Fatal(err)
	}
	rest := []byte(r.body[n:])
	for i := range out.Outputs {
		o := &out.Outputs[i]
		data := rest[:o.Parameters.Size]
		rest = rest[o.Parameters.Size:]
		for len(data) > 0 {
			size := 4
			if o.Datatype == "BYTES" {
				size += int(binary.LittleEndian.Uint32(data))
				o.Data = append(o.Data, string(data[4:size]))
			} else {
				o.Data = append(o.Data, float64(math.Float32frombits(binary.LittleEndian.Uint32(data))))
			}
			data = data[size:]
		}
	}
	if len(rest) > 0 {
		t.Fatalf("%d bytes left", len(rest))
	}
	return out
}

// Without outputs all come but the probabilities of all classes; with classification
// these come as value:index:label.
func TestOutputs(t *testing.T) {
	s := newServer(t, options(t))
	in := `"inputs": [{"name": "text", "datatype": "BYTES", "shape": [1], "data": ["I lost my card"]}]`
	got := parse[inferred](t, ask(t, s, "POST", "/v2/models/text/infer", "{"+in+"}"), 200)
	var names []string
	for _, o := range got.Outputs {
		names = append(names, o.Name)
	}
	if want := []string{"label", "probability", "top_labels", "top_probabilities"}; !slices.Equal(names, want) {
		t.Errorf("outputs %v, want %v", names, want)
	}
	if top := got.output(t, "top_labels"); !slices.Equal(top.Shape, []int{1, 5}) || top.Data[0] != "lost a card" {
		t.Errorf("%+v", top)
	}
	got = parse[inferred](t, ask(t, s, "POST", "/v2/models/text/infer", "{"+in+`, "outputs": [{"name": "probabilities", "parameters": {"classification": 2}}]}`), 200)
	o := got.output(t, "probabilities")
	parts := strings.Split(o.Data[0].(string), ":")
	if !slices.Equal(o.Shape, []int{1, 2}) || o.Datatype != "BYTES" || len(parts) != 3 || parts[2] != "lost a card" || !strings.HasPrefix(parts[0], "0.") {
		t.Errorf("%+v", o)
	}
	got = parse[inferred](t, ask(t, s, "POST", "/v2/models/text/infer", "{"+in+`, "parameters": {"reject": 1}, "outputs": [{"name": "label"}]}`), 200)
	if got.output(t, "label").Data[0] != "" {
		t.Errorf("%+v, want no answer below the probability 1", got)
	}
}

// What does not fit a tensor is a 400 with {"error": ...}.
func TestInferRefused(t *testing.T) {
	o := options(t)
	o.Limits = serve.Limits{MaxItems: 3}
	s := newServer(t, o)
	text := func(shape, data string) string {
		return fmt.Sprintf(`{"inputs": [{"name": "text", "datatype": "BYTES", "shape": %s, "data": %s}]}`, shape, data)
	}
	for _, tc := range []struct {
		name, model, body, header string
		status                    int
		want                      string
	}{
		{"no inputs", "text", `{}`, "", 400, "0 inputs"},
		{"another input", "text", `{"inputs": [{"name": "words", "datatype": "BYTES", "shape": [1], "data": ["a"]}]}`, "", 400, `takes "text"`},
		{"another datatype", "text", `{"inputs": [{"name": "text", "datatype": "FP32", "shape": [1], "data": [1]}]}`, "", 400, "want BYTES"},
		{"no shape", "text", text(`[]`, `["a"]`), "", 400, "no shape"},
		{"negative shape", "text", text(`[-1]`, `["a"]`), "", 400, "full shape"},
		{"huge shape", "text", text(`[3, 9223372036854775807]`, `["a"]`), "", 400, "full shape"},
		{"overflowing shape", "text", text(`[3, 2147483647, 2147483647, 2147483647]`, `["a"]`), "", 400, "full shape"},
		{"empty shape", "text", text(`[0]`, `[]`), "", 400, "at least one"},
		{"too many", "text", text(`[4]`, `["a", "a", "a", "a"]`), "", 413, "at most 3"},
		{"fewer than the shape", "text", text(`[2]`, `["a"]`), "", 400, "want 2"},
		{"more than the shape", "text", text(`[1]`, `["a", "b"]`), "", 400, "want 1"},
		{"two texts in a row", "text", text(`[1, 2]`, `["a", "b"]`), "", 400, "[1, 1]"},
		{"a number among texts", "text", text(`[1]`, `[7]`), "", 400, "want a string"},
		{"an object", "text", text(`[1]`, `[{"a": "b"}]`), "", 400, "an object"},
		{"no data", "text", `{"inputs": [{"name": "text", "datatype": "BYTES", "shape": [1]}]}`, "", 400, "no data"},
		{"numbers of another width", "numbers", `{"inputs": [{"name": "features", "datatype": "FP32", "shape": [1, 3], "data": [1, 2, 3]}]}`, "", 400, "has 3 numbers"},
		{"a flat row", "numbers", `{"inputs": [{"name": "features", "datatype": "FP32", "shape": [1], "data": [1]}]}`, "", 400, "a row for each"},
		{"integers of 8 bits", "numbers", `{"inputs": [{"name": "features", "datatype": "INT8", "shape": [1, 4], "data": [1, 2, 3, 4]}]}`, "", 400, "want FP32"},
		{"true", "numbers", `{"inputs": [{"name": "features", "datatype": "FP32", "shape": [1, 4], "data": [1, 2, 3, true]}]}`, "", 400, "want a number"},
		{"binary NaN", "numbers", `{"inputs": [{"name": "features", "datatype": "FP32", "shape": [1, 4], "parameters": {"binary_data_size": 16}}]}` + strings.Repeat("\x00\x00\xc0\x7f", 4), "-16", 400, "NaN"},
		{"binary too short", "numbers", `{"inputs": [{"name": "features", "datatype": "FP32", "shape": [1, 4], "parameters": {"binary_data_size": 8}}]}12345678`, "-8", 400, "want 16"},
		{"binary not there", "numbers", `{"inputs": [{"name": "features", "datatype": "FP32", "shape": [1, 4], "parameters": {"binary_data_size": 16}}]}`, "", 400, "0 bytes are left"},
		{"bytes of no input", "text", text(`[1]`, `["a"]`) + "abc", "-3", 400, "belong to no input"},
		{"binary text cut off", "text", `{"inputs": [{"name": "text", "datatype": "BYTES", "shape": [1], "parameters": {"binary_data_size": 5}}]}` + "\x09\x00\x00\x00a", "-5", 400, "ends within"},
		{"binary text no UTF-8", "text", `{"inputs": [{"name": "text", "datatype": "BYTES", "shape": [1], "parameters": {"binary_data_size": 5}}]}` + "\x01\x00\x00\x00\xff", "-5", 400, "UTF-8"},
		{"a wrong length", "text", text(`[1]`, `["a"]`), "x", 400, "Inference-Header-Content-Length"},
		{"another output", "text", `{"outputs": [{"name": "score"}], "inputs": []}`, "", 400, `no output "score"`},
		{"an output twice", "text", `{"outputs": [{"name": "label"}, {"name": "label"}], "inputs": []}`, "", 400, "twice"},
		{"classification of a label", "text", `{"outputs": [{"name": "label", "parameters": {"classification": 2}}], "inputs": []}`, "", 400, "classification"},
		{"a parameter of another type", "text", `{"parameters": {"binary_data_output": "yes"}, "inputs": []}`, "", 400, "binary_data_output"},
		{"top 0", "text", strings.Replace(text(`[1]`, `["a"]`), "{", `{"parameters": {"top": 0}, `, 1), "", 400, "at least 1"},
	} {
		var headers []string
		if tc.header != "" {
			length := tc.header
			if n, err := strconv.Atoi(tc.header); err == nil {
				length = strconv.Itoa(len(tc.body) + n)
			}
			headers = []string{"Inference-Header-Content-Length", length}
		}
		r := ask(t, s, "POST", "/v2/models/"+tc.model+"/infer", tc.body, headers...)
		if e := parse[map[string]string](t, r, tc.status)["error"]; !strings.Contains(e, tc.want) {
			t.Errorf("%s: %q, want %q", tc.name, e, tc.want)
		}
	}
}

package serve

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/score"
)

// The Open Inference Protocol, version 2 of KServe's, over REST:
// github.com/kserve/open-inference-protocol. Of Triton's extensions it has binary
// tensor data (docs/protocol/extension_binary_data.md of triton-inference-server/server) and
// classification (extension_classification.md there).

// A request, and its answer:
//
//	{"inputs":  [{"name": "text", "datatype": "BYTES", "shape": [2], "data": ["a", "b"]}],
//	 "outputs": [{"name": "label"}], "parameters": {"top": 3}}
//
//	{"model_name": "intents", "model_version": "0123456789ab",
//	 "outputs": [{"name": "label", "datatype": "BYTES", "shape": [2], "data": ["x", "y"]}]}
//
// Binary tensors stand behind the JSON in the order of the list, binary_data_size bytes each,
// and the header Inference-Header-Content-Length says how long the JSON is.

// v2Server answers GET /v2.
func (s *Server) v2Server(x *exchange) error {
	name, version, _ := strings.Cut(s.opts.Program, " ")
	return x.json(struct {
		Name       string   `json:"name"`
		Version    string   `json:"version"`
		Extensions []string `json:"extensions"`
	}{name, version, []string{"binary_tensor_data", "classification"}})
}

// v2Live answers GET /v2/health/live.
func (s *Server) v2Live(x *exchange) error {
	return x.json(struct {
		Live bool `json:"live"`
	}{true})
}

// v2Ready answers GET /v2/health/ready.
func (s *Server) v2Ready(x *exchange) error {
	if err := s.welcomes(); err != nil {
		return err
	}
	return x.json(struct {
		Ready bool `json:"ready"`
	}{true})
}

// v2Use takes the model of the path.
func (x *exchange) v2Use() (*version, error) {
	return x.use(x.request.PathValue("model"), x.request.PathValue("version"))
}

// v2ModelReady answers GET /v2/models/{model}/ready.
func (s *Server) v2ModelReady(x *exchange) error {
	v, err := x.v2Use()
	if err != nil {
		return err
	}
	return x.json(struct {
		Name  string `json:"name"`
		Ready bool   `json:"ready"`
	}{v.name, true})
}

// tensorInfo describes a tensor; -1 is any number.
type tensorInfo struct {
	Name     string `json:"name"`
	Datatype string `json:"datatype"`
	Shape    []int  `json:"shape"`
}

// Names of tensors.
const (
	textInput     = "text"
	pictureInput  = "picture" // the file; in JSON its base64
	featuresInput = "features"

	labelOutput   = "label"             // the answer; "" if it was rejected
	probOutput    = "probability"       // of the answer
	topOutput     = "top_labels"        // the likeliest classes
	topProbOutput = "top_probabilities" // of these
	allOutput     = "probabilities"     // of all classes, in the order of the model; only if it is asked for
)

// inputs describes what a model takes: one of these tensors.
func (v *version) inputs() []tensorInfo {
	text := tensorInfo{textInput, "BYTES", []int{-1}}
	switch like := v.about.Like; like.Kind {
	case dataset.Numbers:
		return []tensorInfo{{featuresInput, "FP32", []int{-1, len(like.Columns)}}}
	case dataset.Sparse:
		return []tensorInfo{{featuresInput, "FP32", []int{-1, -1}}}
	}
	if v.pictures() {
		text.Name = pictureInput
	}
	return []tensorInfo{text}
}

// outputs describes what it gives.
func (v *version) outputs() []tensorInfo {
	return []tensorInfo{
		{labelOutput, "BYTES", []int{-1}}, {probOutput, "FP32", []int{-1}},
		{topOutput, "BYTES", []int{-1, -1}}, {topProbOutput, "FP32", []int{-1, -1}},
		{allOutput, "FP32", []int{-1, len(v.about.Labels)}},
	}
}

// v2Model answers GET /v2/models/{model}.
func (s *Server) v2Model(x *exchange) error {
	v, err := x.v2Use()
	if err != nil {
		return err
	}
	return x.json(struct {
		Name     string       `json:"name"`
		Versions []string     `json:"versions"`
		Platform string       `json:"platform"`
		Inputs   []tensorInfo `json:"inputs"`
		Outputs  []tensorInfo `json:"outputs"`
	}{v.name, []string{v.id}, "treeloss_" + kindOf(v.about), v.inputs(), v.outputs()})
}

// inferRequest is the body of a request to infer.
type inferRequest struct {
	ID         string         `json:"id"`
	Parameters parameters     `json:"parameters"`
	Inputs     []tensorInput  `json:"inputs"`
	Outputs    []outputWanted `json:"outputs"`
}

// outputWanted is an output that a request asks for.
type outputWanted struct {
	Name       string     `json:"name"`
	Parameters parameters `json:"parameters"`

	binary  bool
	classes int // of the classification extension; 0: the tensor itself
}

// inferResponse is the JSON of an answer.
type inferResponse struct {
	ModelName    string         `json:"model_name"`
	ModelVersion string         `json:"model_version"`
	ID           string         `json:"id,omitempty"`
	Outputs      []tensorOutput `json:"outputs"`
}

// headerLength is the header that has the length of the JSON object before binary
// tensors.
const headerLength = "Inference-Header-Content-Length"

// maxAll is how many probabilities an answer has at most: 4 MB of them, some 12 MB of JSON.
const maxAll = 1 << 20

// v2Infer answers POST /v2/models/{model}/infer. All is checked, and the memory of the answer
// taken from the budget, before anything waits for the model.
func (s *Server) v2Infer(x *exchange) error {
	v, err := x.v2Use()
	if err != nil {
		return err
	}
	q, err := x.readInfer()
	if err != nil {
		return err
	}
	if err := q.readOutputs(v); err != nil {
		return err
	}
	examples, err := q.examples(v, s.opts.Limits.MaxItems)
	if err != nil {
		return err
	}
	x.items = len(examples)
	rule, err := q.options()
	if err != nil {
		return err
	}
	j := &job{ctx: x.request.Context(), examples: examples}
	if j.rule, err = rule.rule(5); err == nil {
		j.rule, err = v.fits(j.rule, len(examples))
	}
	if err != nil {
		return err
	}
	if k := len(v.about.Labels); slices.ContainsFunc(q.Outputs, func(o outputWanted) bool { return o.Name == allOutput }) {
		if len(examples) > maxAll/k {
			return refuse(http.StatusRequestEntityTooLarge, "%d examples of %d probabilities each; ask for at most %d examples at once", len(examples), k, max(1, maxAll/k))
		}
		if err := x.hold(int64(16 * len(examples) * k)); err != nil { // numbers, and their text
			return err
		}
		j.all = make([]float32, len(examples)*k)
	}
	if err := v.do(s, j); err != nil {
		return err
	}
	return x.writeInfer(v, q, j)
}

// readInfer reads the body of a request: JSON, and tensors behind it.
func (x *exchange) readInfer() (*inferRequest, error) {
	body, err := x.readBody()
	if err != nil {
		return nil, err
	}
	var tensors []byte
	if length := x.request.Header.Get(headerLength); length != "" {
		n, err := strconv.Atoi(length)
		if err != nil || n < 0 || n > len(body) {
			return nil, refuse(http.StatusBadRequest, "%s is %q, want the length of the JSON object, at most %d", headerLength, length, len(body))
		}
		body, tensors = body[:n], body[n:]
	}
	// Keys that are not known are left alone here: clients send those of other servers.
	q := new(inferRequest)
	if err := readJSON(body, q, false); err != nil {
		return nil, err
	}
	return q, takeBinary(q.Inputs, tensors)
}

// options returns what the parameters of a request say about the answers: top,
// confidence, reject and decode, as in /v1/predict.
func (q *inferRequest) options() (*examplesRequest, error) {
	rule := new(examplesRequest)
	err := errors.Join(q.Parameters.read("top", &rule.Top), q.Parameters.read("confidence", &rule.Confidence),
		q.Parameters.read("reject", &rule.Reject), q.Parameters.read("threshold", &rule.Threshold), q.Parameters.read("decode", &rule.Decode))
	return rule, err
}

// examples makes examples of the one input, of shape [n] or [n, 1] for texts and pictures and
// [n, d] for numbers. A model of sparse features takes dense rows or LIBSVM lines.
func (q *inferRequest) examples(v *version, limit int) ([]dataset.Example, error) {
	if len(q.Inputs) != 1 {
		return nil, refuse(http.StatusBadRequest, "%d inputs, want one", len(q.Inputs))
	}
	t, want := &q.Inputs[0], v.inputs()[0]
	lines := v.about.Like.Kind == dataset.Sparse && t.Name == textInput // LIBSVM
	if t.Name != want.Name && !lines {
		return nil, refuse(http.StatusBadRequest, "input %q, but model %s takes %q", t.Name, v.name, want.Name)
	}
	if (t.Datatype == "BYTES") != (want.Datatype == "BYTES" || lines) {
		return nil, refuse(http.StatusBadRequest, "input %q has datatype %q, want %s", t.Name, t.Datatype, want.Datatype)
	}
	rows, n, err := t.size(limit)
	if err != nil {
		return nil, err
	}
	if t.Datatype == "BYTES" {
		if n != rows {
			return nil, refuse(http.StatusBadRequest, "input %q has shape %v, want [%d] or [%d, 1]", t.Name, t.Shape, rows, rows)
		}
		raw := v.pictures() && t.binary != nil
		texts, err := t.texts(n, raw)
		if err != nil {
			return nil, err
		}
		if raw {
			return plainTexts(texts), nil
		}
		return v.texts(texts)
	}
	if len(t.Shape) != 2 {
		return nil, refuse(http.StatusBadRequest, "input %q has shape %v, want a row for each example", t.Name, t.Shape)
	}
	values, err := t.numbers(n)
	if err != nil {
		return nil, err
	}
	return v.rows(slices.Collect(slices.Chunk(values, n/rows)))
}

// readOutputs checks the outputs that are asked for; without any these are all but the
// probabilities of all classes.
func (q *inferRequest) readOutputs(v *version) error {
	asBinary := false
	if err := q.Parameters.read("binary_data_output", &asBinary); err != nil {
		return err
	}
	known := v.outputs()
	if len(q.Outputs) == 0 {
		for _, t := range known[:len(known)-1] {
			q.Outputs = append(q.Outputs, outputWanted{Name: t.Name})
		}
	}
	for i := range q.Outputs {
		o := &q.Outputs[i]
		o.binary = asBinary
		if err := errors.Join(o.Parameters.read("binary_data", &o.binary), o.Parameters.read("classification", &o.classes)); err != nil {
			return err
		}
		switch {
		case !slices.ContainsFunc(known, func(t tensorInfo) bool { return t.Name == o.Name }):
			return refuse(http.StatusBadRequest, "no output %q; model %s has %s, %s, %s, %s and %s", o.Name, v.name, labelOutput, probOutput, topOutput, topProbOutput, allOutput)
		case slices.ContainsFunc(q.Outputs[:i], func(p outputWanted) bool { return p.Name == o.Name }):
			return refuse(http.StatusBadRequest, "output %q is asked for twice", o.Name)
		case o.classes < 0 || o.classes > maxTop || o.classes > 0 && o.Name != allOutput:
			return refuse(http.StatusBadRequest, "output %q with classification %d; want a number up to %d, with output %s", o.Name, o.classes, maxTop, allOutput)
		}
	}
	return nil
}

// output makes a tensor of the n answers of a job, of shape [n], or [n, m] where an answer
// has m classes: all have as many, as decide.Rule.Top is one number for all.
func (o outputWanted) output(v *version, j *job) tensorOutput {
	n := len(j.answers)
	t := tensorOutput{Name: o.Name, Shape: []int{n}, Datatype: "BYTES"}
	var texts []string
	var numbers []float32
	switch o.Name {
	case labelOutput:
		for _, a := range j.answers {
			texts = append(texts, a.Label)
		}
	case probOutput:
		for _, a := range j.answers {
			numbers = append(numbers, float32(a.Probability))
		}
	case topOutput, topProbOutput:
		for _, a := range j.answers {
			top := a.Top
			if top == nil {
				top = []classify.Answer{a}
			}
			for _, c := range top {
				texts, numbers = append(texts, c.Label), append(numbers, float32(c.Probability))
			}
		}
		t.Shape = append(t.Shape, len(texts)/n)
		if o.Name == topOutput {
			numbers = nil
		}
	case allOutput:
		k := len(v.about.Labels)
		t.Shape, numbers = append(t.Shape, k), j.all
		if o.classes > 0 {
			texts, numbers = v.classifications(j.all, min(o.classes, k)), nil
			t.Shape[1] = min(o.classes, k)
		}
	}
	t.Data = texts
	if numbers != nil {
		t.Data, t.Datatype = numbers, "FP32"
	}
	return t
}

// classifications returns the first n classes of each example as value:index:label, the
// form of Triton's classification extension.
func (v *version) classifications(all []float32, n int) (out []string) {
	for p := range slices.Chunk(all, len(v.about.Labels)) {
		for _, c := range score.First(make([]int, 0, n), p, nil) {
			out = append(out, strconv.FormatFloat(float64(p[c]), 'f', 6, 32)+":"+strconv.Itoa(c)+":"+v.about.Labels[c])
		}
	}
	return out
}

// writeInfer sends the answers, and as binary tensors those that are wanted so.
func (x *exchange) writeInfer(v *version, q *inferRequest, j *job) error {
	answer := inferResponse{ModelName: v.name, ModelVersion: v.id, ID: q.ID}
	var tensors []byte
	for _, o := range q.Outputs {
		t := o.output(v, j)
		if o.binary {
			before := len(tensors)
			tensors = appendBinary(tensors, t.Data)
			t.Data, t.Parameters = nil, map[string]int{"binary_data_size": len(tensors) - before}
		}
		answer.Outputs = append(answer.Outputs, t)
	}
	if !slices.ContainsFunc(q.Outputs, func(o outputWanted) bool { return o.binary }) {
		return x.json(answer)
	}
	var body bytes.Buffer
	if err := encodeJSON(&body, answer); err != nil {
		return err
	}
	x.Header().Set(headerLength, strconv.Itoa(body.Len()))
	body.Write(tensors)
	return x.write(http.StatusOK, "application/octet-stream", body.Bytes())
}

package serve_test

import (
	"encoding/json"
	"slices"
	"testing"
)

// The objects of the Open Inference Protocol over REST, as its published description
// (open_inference_rest.yaml of github.com/kserve/open-inference-protocol) has them: which
// keys must be there, and of which type. The description leaves other keys open.
var protocol = map[string]string{
	"server": `{"type": "object", "required": ["name", "version", "extensions"], "properties": {
		"name": {"type": "string"}, "version": {"type": "string"}, "extensions": {"type": "array", "items": {"type": "string"}}}}`,
	"model": `{"type": "object", "required": ["name", "platform"], "properties": {
		"name": {"type": "string"}, "platform": {"type": "string"}, "versions": {"type": "array", "items": {"type": "string"}},
		"inputs": {"type": "array", "items": {"$ref": "#/components/schemas/tensor"}},
		"outputs": {"type": "array", "items": {"$ref": "#/components/schemas/tensor"}}}}`,
	"tensor": `{"type": "object", "required": ["name", "datatype", "shape"], "properties": {
		"name": {"type": "string"}, "datatype": {"type": "string", "enum": ["BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64", "FP16", "FP32", "FP64", "BYTES"]},
		"shape": {"type": "array", "items": {"type": "integer"}}}}`,
	"response": `{"type": "object", "required": ["model_name", "outputs"], "properties": {
		"model_name": {"type": "string"}, "model_version": {"type": "string"}, "id": {"type": "string"}, "parameters": {"type": "object"},
		"outputs": {"type": "array", "items": {"$ref": "#/components/schemas/output"}}}}`,
	"output": `{"type": "object", "required": ["name", "shape", "datatype", "data"], "properties": {
		"name": {"type": "string"}, "shape": {"type": "array", "items": {"type": "integer"}}, "datatype": {"type": "string"}, "parameters": {"type": "object"},
		"data": {"type": "array", "items": {"oneOf": [{"type": "number"}, {"type": "string"}, {"type": "boolean"}]}}}}`,
	"error": `{"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}}`,
}

// Answers are objects of the protocol; a request with all that the protocol lets a client
// send is understood, and a wrong one answered with its error.
func TestProtocol(t *testing.T) {
	s := newServer(t, options(t))
	d := &document{}
	d.Components.Schemas = make(map[string]*schema)
	for name, text := range protocol {
		part := new(schema)
		if err := json.Unmarshal([]byte(text), part); err != nil {
			t.Fatal(name, err)
		}
		d.Components.Schemas[name] = part
	}
	request := `{"id": "42", "parameters": {"a": 1, "b": "x", "c": true},
		"inputs": [{"name": "text", "shape": [2], "datatype": "BYTES", "parameters": {"content_type": "str"}, "data": ["a", "b"]}],
		"outputs": [{"name": "label", "parameters": {"content_type": "str"}}, {"name": "probabilities"}]}`
	for _, tc := range []struct {
		method, path, body string
		status             int
		object             string
	}{
		{"GET", "/v2", "", 200, "server"},
		{"GET", "/v2/models/text", "", 200, "model"},
		{"GET", "/v2/models/numbers", "", 200, "model"},
		{"GET", "/v2/models/nobody", "", 404, "error"},
		{"POST", "/v2/models/text/infer", request, 200, "response"},
		{"POST", "/v2/models/numbers/infer", `{"inputs": [{"name": "features", "shape": [1, 4], "datatype": "FP32", "data": [1, 2, 3, 4]}]}`, 200, "response"},
		{"POST", "/v2/models/numbers/infer", request, 400, "error"},
		{"POST", "/v2/models/text/infer", `{`, 400, "error"},
	} {
		v := parse[any](t, ask(t, s, tc.method, tc.path, tc.body), tc.status)
		if err := d.fits(d.Components.Schemas[tc.object], v, tc.object); err != nil {
			t.Errorf("%s %s: %v", tc.method, tc.path, err)
		}
	}
	// What must be returned, in the order that was asked for; without a request for
	// them all outputs that are described are possible.
	got := parse[inferred](t, ask(t, s, "POST", "/v2/models/text/infer", request), 200)
	if got.ID != "42" || len(got.Outputs) != 2 || got.Outputs[0].Name != "label" || got.Outputs[1].Name != "probabilities" {
		t.Errorf("%+v", got)
	}
	for _, o := range got.Outputs {
		n := 1
		for _, size := range o.Shape {
			n *= size
		}
		if n != len(o.Data) {
			t.Errorf("output %s of shape %v has %d elements", o.Name, o.Shape, len(o.Data))
		}
	}
	for _, path := range []string{"/v2/health/live", "/v2/health/ready", "/v2/models/text/ready", "/v2/models/text/versions/" + got.Version + "/ready"} {
		if r := ask(t, s, "GET", path, ""); r.status != 200 {
			t.Errorf("%s: %+v", path, r)
		}
	}
	if r := ask(t, s, "GET", "/v2/models/text/versions/none/ready", ""); !slices.Contains([]int{400, 404}, r.status) {
		t.Errorf("a version that is not there: %+v", r)
	}
}

package serve_test

import (
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/serve"
)

// Whatever bytes come, with whatever length of a JSON object before them, the answer is a
// 2xx or a 4xx.
func FuzzBodies(f *testing.F) {
	paths, err := models()
	if err != nil {
		f.Fatal(err)
	}
	s, err := serve.New(serve.Options{Open: open, Models: []serve.Model{{Name: "text", Path: paths["text"]}, {Name: "numbers", Path: paths["numbers"]}, {Name: "sparse", Path: paths["sparse"]}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(s.Close)
	urls := []string{"/v1/predict", "/v1/explain", "/v2/models/text/infer", "/v2/models/numbers/infer", "/v2/models/sparse/infer"}
	for i, body := range []string{
		`{"text": "a", "top": 2, "confidence": 0.5}`,
		`{"model": "numbers", "examples": [{"length": 1, "width": 2, "height": 3, "weight": 4}, {"width": 1}]}`,
		`{"model": "sparse", "examples": ["1:2 3:4", "qid:1 2:3"], "features": 3}`,
		`{"examples": [["a\\\"]", {"b": "}"}], "\\"]}`,
		`{"inputs": [{"name": "text", "datatype": "BYTES", "shape": [1, 1], "data": [["a"]]}], "outputs": [{"name": "probabilities", "parameters": {"classification": 2}}]}`,
		`{"inputs": [{"name": "features", "datatype": "FP32", "shape": [1, 4], "data": [1, 2e3, -3, 4]}]}`,
		`{"inputs": [{"name": "text", "datatype": "BYTES", "shape": [1], "parameters": {"binary_data_size": 5}}]}` + "\x01\x00\x00\x00a",
	} {
		f.Add(uint8(i), body, 100)
	}
	f.Fuzz(func(t *testing.T, path uint8, body string, length int) {
		r := httptest.NewRequest("POST", urls[int(path)%len(urls)], strings.NewReader(body))
		if length >= 0 && length <= len(body) {
			r.Header.Set("Inference-Header-Content-Length", strconv.Itoa(length))
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code >= 500 {
			t.Errorf("%s %q: %d %s", r.URL.Path, body, w.Code, w.Body)
		}
	})
}

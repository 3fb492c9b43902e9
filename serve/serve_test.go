package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/treeloss/treeloss"
	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/serve"
	"github.com/treeloss/treeloss/softmax"
)

// Data of the program's tests: what people ask at the desk of a library, and breads.
const (
	desk   = "../cmd/treeloss/testdata/desk.csv"
	groups = "../cmd/treeloss/testdata/desk_groups.csv"
	breads = "../cmd/treeloss/testdata/breads.csv"
)

// models are files of a model of texts with a tree, of numbers and of sparse features.
var models = sync.OnceValues(func() (map[string]string, error) {
	dir, err := os.MkdirTemp("", "serve")
	if err != nil {
		return nil, err
	}
	sparse := filepath.Join(dir, "sparse.libsvm")
	lines := strings.Repeat("near 1:1 2:0.5\nfar 3:2 5:1\nfar 4:1.5\nnear 1:0.5 2:1\n", 5)
	if err := os.WriteFile(sparse, []byte(lines), 0o600); err != nil {
		return nil, err
	}
	plain := treeloss.Options{Sharing: classinfo.Spec{classinfo.None}, Loss: "cross-entropy", Names: "off", Fourier: "off"}
	text, numbers := plain, plain
	text.Sharing, text.Taxonomy = classinfo.Spec{classinfo.Taxonomy}, groups
	numbers.Data.Label = "bread"
	out := make(map[string]string)
	for name, from := range map[string]struct {
		path string
		opts treeloss.Options
	}{"text": {desk, text}, "numbers": {breads, numbers}, "sparse": {sparse, plain}} {
		m, err := treeloss.FitFiles(context.Background(), []string{from.path}, from.opts)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = filepath.Join(dir, name+".safetensors")
		if err := m.Save(out[name]); err != nil {
			return nil, err
		}
	}
	return out, nil
})

func TestMain(m *testing.M) {
	status := m.Run()
	if paths, err := models(); err == nil {
		os.RemoveAll(filepath.Dir(paths["text"]))
	}
	os.Exit(status)
}

// open opens linear models.
func open(path string) (classify.Classifier, error) {
	m, err := softmax.Load(path)
	if err != nil {
		return nil, err
	}
	return classify.Linear(m), nil
}

// options serve the three models.
func options(t *testing.T) serve.Options {
	t.Helper()
	paths, err := models()
	if err != nil {
		t.Fatal(err)
	}
	o := serve.Options{Open: open, Program: "treeloss test"}
	for _, name := range []string{"text", "numbers", "sparse"} {
		o.Models = append(o.Models, serve.Model{Name: name, Path: paths[name]})
	}
	return o
}

func newServer(t *testing.T, o serve.Options) *serve.Server {
	t.Helper()
	s, err := serve.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// reply is an answer of a server.
type reply struct {
	status int
	header http.Header
	body   string
}

// ask sends a request to a handler, and checks the answer against /openapi.json. Headers
// are pairs of names and values.
func ask(t *testing.T, h http.Handler, method, path, body string, headers ...string) reply {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	checkAnswer(t, method, path, w)
	return reply{w.Code, w.Header(), w.Body.String()}
}

// parse reads the JSON of an answer that must have a status.
func parse[T any](t *testing.T, r reply, status int) (v T) {
	t.Helper()
	if r.status != status {
		t.Fatalf("status %d, want %d: %s", r.status, status, r.body)
	}
	if err := json.Unmarshal([]byte(r.body), &v); err != nil {
		t.Fatalf("%s: %v", r.body, err)
	}
	return v
}

// answers is the body of /v1/predict.
type answers struct {
	Model, Version string
	Answers        []classify.Answer
}

// predicted are the answers of a classifier that reads a file, as treeloss predict does.
func predicted(t *testing.T, path string, lines string, format dataset.Format, rule decide.Rule) (list []classify.Answer, all []float32) {
	t.Helper()
	c, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "examples")
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	x, err := c.Open(classify.Input{Paths: []string{file}, Options: dataset.Options{Unlabelled: true, Format: format}, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	a, err := classify.NewAnswerer(c.About(), rule, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = x.Each(t.Context(), func(_, _ int, _ dataset.Example, p []float32) error {
		answer, err := a.Answer(p)
		list, all = append(list, answer), append(all, p...)
		return err
	}, func([]dataset.Example) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return list, all
}

// deskTexts are the texts of desk.csv.
func deskTexts(t *testing.T) []string {
	t.Helper()
	r, err := dataset.Open(desk, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var texts []string
	for e, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, e.Text)
	}
	return texts
}

// jsonLines are a file of texts.
func jsonLines(t *testing.T, texts []string) string {
	var lines []string
	for _, text := range texts {
		lines = append(lines, marshal(t, map[string]string{"text": text}))
	}
	return strings.Join(lines, "\n")
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Answers over HTTP have the bits of those to a file, for each kind of rule, and each
// kind and form of examples.
func TestPredictIsPredict(t *testing.T) {
	s := newServer(t, options(t))
	paths, _ := models()
	texts := deskTexts(t)
	columns := `{"length": 35.9, "width": 10.1, "height": 10.5, "weight": 763.2, "id": 1}` + "\n" + `{"id": 2, "weight": 54.6, "length": 9.9, "width": 6.7, "height": 4.8}`
	for _, tc := range []struct {
		name, model, examples string
		lines                 string
		format                dataset.Format
	}{
		{"texts", "text", marshal(t, texts), jsonLines(t, texts), dataset.JSONL},
		{"texts in columns", "text", `[{"text": "when do you open?", "label": "none"}, {"text": "I lost my \"card\" é"}]`, `{"text": "when do you open?", "label": "none"}` + "\n" + `{"text": "I lost my \"card\" é"}`, dataset.JSONL},
		{"no text", "text", `[""]`, `{"text": ""}`, dataset.JSONL},
		{"columns", "numbers", "[" + strings.ReplaceAll(columns, "\n", ",") + "]", columns, dataset.JSONL},
		{"rows", "numbers", `[[35.9, 10.1, 10.5, 763.2], [9.9, 6.7, 4.8, 54.6]]`, columns, dataset.JSONL},
		{"LIBSVM lines", "sparse", `["1:1 5:0.25", "3:1"]`, "1:1 5:0.25\n3:1", dataset.LIBSVM},
		{"sparse rows", "sparse", `[[1, 0, 0, 0, 0.25], [0, 0, 1]]`, "1:1 5:0.25\n3:1", dataset.LIBSVM},
	} {
		for set, rule := range map[string]decide.Rule{"": {Top: 1}, `, "top": 3`: {Top: 3}, `, "reject": 0.5, "top": 2`: {Top: 2, Reject: 0.5}, `, "confidence": 0.7`: {Top: 1, Confidence: 0.7}, `, "decode": "cost", "top": 2`: {Top: 2, Cost: true}} {
			if tc.model != "text" && rule.NeedsTree() {
				continue
			}
			got := parse[answers](t, ask(t, s, "POST", "/v1/predict", fmt.Sprintf(`{"model": %q, "examples": %s%s}`, tc.model, tc.examples, set)), 200)
			want, _ := predicted(t, paths[tc.model], tc.lines, tc.format, rule)
			if a, b := marshal(t, got.Answers), marshal(t, want); a != b {
				t.Errorf("%s%s:\n%s, want\n%s", tc.name, set, a, b)
			}
			if got.Model != tc.model || len(got.Version) != 12 {
				t.Errorf("model %q, version %q", got.Model, got.Version)
			}
		}
	}
	one := parse[answers](t, ask(t, s, "POST", "/v1/predict", marshal(t, map[string]string{"text": texts[3]})), 200)
	all := parse[answers](t, ask(t, s, "POST", "/v1/predict", marshal(t, map[string]any{"examples": texts})), 200)
	if a, b := marshal(t, one.Answers[0]), marshal(t, all.Answers[3]); a != b {
		t.Errorf("alone %s, among others %s", a, b)
	}
}

// White space behind a body changes no answer: a json.Decoder that looks for more values
// moves it over the memory of the examples.
func TestSpaceBehindBody(t *testing.T) {
	s := newServer(t, options(t))
	body := `{"examples": ["when do you open?", "I lost my card"]}`
	want := ask(t, s, "POST", "/v1/predict", body)
	if got := ask(t, s, "POST", "/v1/predict", body+strings.Repeat("\n", 300)); got.status != 200 || got.body != want.body {
		t.Errorf("%d %s, want %s", got.status, got.body, want.body)
	}
}

// Requests of the same moment go through the model together, and each has its own
// answer, or its own error.
func TestConcurrentRequests(t *testing.T) {
	for _, threads := range []int{1, 3} {
		o := options(t)
		o.Threads = threads
		s := newServer(t, o)
		texts := deskTexts(t)
		want := parse[answers](t, ask(t, s, "POST", "/v1/predict", marshal(t, map[string]any{"examples": texts, "top": 2})), 200)
		var group sync.WaitGroup
		for range 6 {
			group.Go(func() {
				for i, text := range texts {
					r := ask(t, s, "POST", "/v1/predict", marshal(t, map[string]any{"text": text, "top": 2}))
					if got := parse[answers](t, r, 200); marshal(t, got.Answers[0]) != marshal(t, want.Answers[i]) {
						t.Errorf("%q: %s", text, r.body)
					}
					bad := ask(t, s, "POST", "/v1/predict", `{"model": "numbers", "examples": [[1,2,3,4], [2,3,4,1e300]]}`)
					if bad.status != 400 || !strings.Contains(bad.body, "example 2") {
						t.Errorf("a number too large: %d %s", bad.status, bad.body)
					}
				}
			})
		}
		group.Wait()
	}
}

// What is wrong with a request is said, with a 4xx.
func TestRefused(t *testing.T) {
	o := options(t)
	o.Limits = serve.Limits{MaxBody: 2000, MaxItems: 3}
	s := newServer(t, o)
	for _, tc := range []struct {
		name, path, body string
		status           int
		want             string
	}{
		{"no body", "/v1/predict", ``, 400, "ends early"},
		{"cut off", "/v1/predict", `{"text": "a`, 400, "ends early"},
		{"no JSON", "/v1/predict", `text=a`, 400, "invalid character"},
		{"two values", "/v1/predict", `{"text": "a"} {}`, 400, "more than one"},
		{"another key", "/v1/predict", `{"texts": ["a"]}`, 400, `unknown field "texts"`},
		{"another type", "/v1/predict", `{"text": 7}`, 400, "text is number"},
		{"broken UTF-8", "/v1/predict", "{\"text\": \"\xff\"}", 400, "UTF-8"},
		{"not a number", "/v1/predict", `{"model": "numbers", "examples": [[NaN,1,2,3]]}`, 400, "invalid character 'N'"},
		{"null", "/v1/predict", `{"model": "numbers", "examples": [[null,1,2,3]]}`, 400, "want a number"},
		{"infinite", "/v1/predict", `{"model": "numbers", "examples": [[1e999,1,2,3]]}`, 400, "64-bit"},
		{"too large", "/v1/predict", `{"model": "numbers", "examples": [[1e39,1,2,3]]}`, 400, "32-bit"},
		{"too few", "/v1/predict", `{"model": "numbers", "examples": [[1,2]]}`, 400, "example 1 has 2 numbers"},
		{"a column is missing", "/v1/predict", `{"model": "numbers", "examples": [{"length": 1}]}`, 400, "example"},
		{"text for numbers", "/v1/predict", `{"model": "numbers", "text": "a"}`, 400, "numeric columns"},
		{"numbers for text", "/v1/predict", `{"examples": [[1]]}`, 400, "send texts"},
		{"mixed", "/v1/predict", `{"examples": ["a", [1]]}`, 400, "one form"},
		{"null among texts", "/v1/predict", `{"examples": ["a", null]}`, 400, "one form"},
		{"no example", "/v1/predict", `{"examples": []}`, 400, "no example"},
		{"text and examples", "/v1/predict", `{"text": "a", "examples": ["b"]}`, 400, "both"},
		{"examples no list", "/v1/predict", `{"examples": "b"}`, 400, "want an array"},
		{"too many", "/v1/predict", `{"examples": ["a","b","c","d"]}`, 413, "more than 3"},
		{"too long", "/v1/predict", `{"text": "` + strings.Repeat("a", 2000) + `"}`, 413, "2000 bytes"},
		{"no such model", "/v1/predict", `{"model": "nobody", "text": "a"}`, 404, "text, numbers, sparse"},
		{"top 0", "/v1/predict", `{"text": "a", "top": 0}`, 400, "at least 1"},
		{"confidence 0", "/v1/predict", `{"text": "a", "confidence": 0}`, 400, "above 0"},
		{"confidence 2", "/v1/predict", `{"text": "a", "confidence": 2}`, 400, "confidence is 2"},
		{"reject and confidence", "/v1/predict", `{"text": "a", "confidence": 0.5, "reject": 0.5}`, 400, "confidence"},
		{"no tree", "/v1/predict", `{"model": "numbers", "examples": [[1,2,3,4]], "confidence": 0.5}`, 400, "no tree"},
		{"decode", "/v1/predict", `{"text": "a", "decode": "best"}`, 400, "likely or cost"},
		{"explain against nobody", "/v1/explain", `{"text": "a", "against": "nobody"}`, 400, `no class "nobody"`},
		{"another method", "/v2/models/text", `{}`, 405, "GET"},
		{"another path", "/v1/nothing", `{}`, 404, "openapi.json"},
	} {
		r := ask(t, s, "POST", tc.path, tc.body)
		if e := parse[map[string]string](t, r, tc.status)["error"]; !strings.Contains(e, tc.want) {
			t.Errorf("%s: %q, want %q", tc.name, e, tc.want)
		}
	}
	if r := ask(t, s, "POST", "/v2/models/text", ``); r.header.Get("Allow") != "GET" {
		t.Errorf("Allow %q", r.header.Get("Allow"))
	}
}

// Bodies may be packed, and count as what they unpack to.
func TestPackedBodies(t *testing.T) {
	o := options(t)
	o.Limits = serve.Limits{MaxBody: 5000}
	s := newServer(t, o)
	for _, tc := range []struct {
		name, encoding, body string
		status               int
	}{
		{"gzip", "gzip", packed(t, `{"text": "when do you open?"}`), 200},
		{"a bomb", "gzip", packed(t, `{"text": "`+strings.Repeat("a", 1<<20)+`"}`), 413},
		{"not packed", "gzip", `{"text": "a"}`, 400},
		{"unknown", "br", `{"text": "a"}`, 415},
	} {
		if r := ask(t, s, "POST", "/v1/predict", tc.body, "Content-Encoding", tc.encoding); r.status != tc.status {
			t.Errorf("%s: %d %s, want %d", tc.name, r.status, r.body, tc.status)
		}
	}
}

func TestExplain(t *testing.T) {
	s := newServer(t, options(t))
	type reasons struct {
		Explanations []struct {
			Label     string
			Decisions []struct {
				Rival struct{ Name string }
				Mean  struct{ Positive []any }
			}
			Path []any
		}
	}
	got := parse[reasons](t, ask(t, s, "POST", "/v1/explain", `{"text": "I lost my card", "features": 2, "against": "opening hours"}`), 200).Explanations[0]
	if got.Label != "lost a card" || got.Decisions[0].Rival.Name != "opening hours" || len(got.Decisions[0].Mean.Positive) != 2 || len(got.Path) < 2 {
		t.Errorf("%+v", got)
	}
	// The next request has the defaults again.
	got = parse[reasons](t, ask(t, s, "POST", "/v1/explain", `{"text": "I lost my card"}`), 200).Explanations[0]
	if got.Decisions[0].Rival.Name == "opening hours" || len(got.Decisions[0].Mean.Positive) != 5 {
		t.Errorf("%+v", got)
	}
}

// Where tokens are asked for, only the health, the page and the description come without.
// A model answers by the class frequencies that it is served with, beside one that does not.
func TestClassBalance(t *testing.T) {
	paths, err := models()
	if err != nil {
		t.Fatal(err)
	}
	c, err := open(paths["text"])
	if err != nil {
		t.Fatal(err)
	}
	rare := c.About().Labels[0]
	m := serve.Model{Name: "balanced", Path: paths["text"], Balance: map[string]float64{rare: 1e-9, "*": 1}}
	s := newServer(t, serve.Options{Open: open, Models: []serve.Model{m, {Name: "plain", Path: paths["text"]}}})
	rarest := func(model string) float64 {
		body := fmt.Sprintf(`{"model":%q,"text":"my card","top":%d}`, model, len(c.About().Labels))
		for _, top := range parse[answers](t, ask(t, s, "POST", "/v1/predict", body), 200).Answers[0].Top {
			if top.Label == rare {
				return top.Probability
			}
		}
		t.Fatalf("no class %s", rare)
		return 0
	}
	for range 2 {
		if plain, balanced := rarest("plain"), rarest("balanced"); !(plain > 0.9) || !(balanced < 0.01) {
			t.Errorf("%s: %v, and %v where it is rare", rare, plain, balanced)
		}
		if err := s.Reload(true); err != nil {
			t.Fatal(err)
		}
	}
	if r := ask(t, s, "POST", "/v1/explain", `{"text":"my card"}`); r.status != 400 || !strings.Contains(r.body, "class frequencies") {
		t.Errorf("explained: %d %s", r.status, r.body)
	}
	if r := ask(t, s, "POST", "/api/why", `{"text":"my card"}`); r.status != 200 || strings.Contains(r.body, "words") {
		t.Errorf("the page: %d %s", r.status, r.body)
	}
	m.Balance = map[string]float64{rare: 1}
	if _, err := serve.New(serve.Options{Open: open, Models: []serve.Model{m}}); err == nil || !strings.Contains(err.Error(), "no weight for") {
		t.Errorf("classes without a weight: %v", err)
	}
}

func TestTokens(t *testing.T) {
	o := options(t)
	o.Tokens = filepath.Join(t.TempDir(), "tokens")
	if _, err := serve.New(o); err == nil {
		t.Error("a file of tokens that is not there was accepted")
	}
	if err := os.WriteFile(o.Tokens, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := serve.New(o); err == nil || !strings.Contains(err.Error(), "no token") {
		t.Errorf("a file without a token: %v", err)
	}
	if err := os.WriteFile(o.Tokens, []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newServer(t, o)
	for header, status := range map[string]int{"": 401, "Bearer one": 200, "bearer two": 200, "Bearer three": 401, "Bearer": 401, "Basic one": 401, "Bearer one two": 401} {
		if r := ask(t, s, "GET", "/v1/models", "", "Authorization", header); r.status != status {
			t.Errorf("%q: %d, want %d", header, r.status, status)
		}
	}
	for path, status := range map[string]int{"/healthz": 200, "/readyz": 200, "/v2/health/ready": 200, "/openapi.json": 200, "/": 200, "/metrics": 401, "/v2": 401} {
		if r := ask(t, s, "GET", path, ""); r.status != status {
			t.Errorf("%s without a token: %d, want %d", path, r.status, status)
		}
	}
}

// The access log has a line for each request, with the id that the answer has.
func TestAccessLog(t *testing.T) {
	var log bytes.Buffer
	o := options(t)
	o.Log = jsonLog(&log)
	s := newServer(t, o)
	log.Reset()
	r := ask(t, s, "POST", "/v1/predict", `{"text": "a"}`, "X-Request-Id", "abc-1")
	line := make(map[string]any)
	if err := json.Unmarshal(log.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	if line["id"] != "abc-1" || r.header.Get("X-Request-Id") != "abc-1" || line["status"] != 200.0 || line["examples"] != 1.0 || line["path"] != "/v1/predict" || line["bytes"] != float64(len(r.body)) {
		t.Errorf("%s", log.String())
	}
	if a, b := ask(t, s, "GET", "/healthz", "", "X-Request-Id", "a b").header.Get("X-Request-Id"), ask(t, s, "GET", "/healthz", "").header.Get("X-Request-Id"); len(a) != 16 || len(b) != 16 || a == b {
		t.Errorf("ids %q and %q, want two new ones", a, b)
	}
}

// The counters of /metrics count.
func TestMetrics(t *testing.T) {
	s := newServer(t, options(t))
	ask(t, s, "POST", "/v1/predict", `{"examples": ["a", "b"]}`)
	ask(t, s, "POST", "/v1/predict", `{}`)
	body := ask(t, s, "GET", "/metrics", "").body
	for _, want := range []string{
		`treeloss_requests_total{code="200",route="/v1/predict"} 1`,
		`treeloss_requests_total{code="400",route="/v1/predict"} 1`,
		`treeloss_examples_total{model="text"} 2`,
		`treeloss_batch_examples_sum{model="text"} 2`,
		`treeloss_queue_examples{model="text"} 0`,
		`treeloss_model_info{model="text",version="`,
		`treeloss_model_reloads_total{model="text",result="done"} 1`,
		`treeloss_request_seconds_count{route="/v1/predict"} 2`,
		"go_goroutines", "process_resident_memory_bytes",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
}

func TestOptionsRefused(t *testing.T) {
	good := options(t)
	for name, change := range map[string]func(o *serve.Options){
		"no model":          func(o *serve.Options) { o.Models = nil },
		"called a/b":        func(o *serve.Options) { o.Models[0].Name = "a/b" },
		"two models":        func(o *serve.Options) { o.Models[1].Name = "text" },
		"-1":                func(o *serve.Options) { o.Limits.MaxItems = -1 },
		"nowhere":           func(o *serve.Options) { o.Models[1].Path = "nowhere" },
		"desk.csv":          func(o *serve.Options) { o.Models[2].Path = desk },
		"Threads is -2":     func(o *serve.Options) { o.Threads = -2 },
		"Timeout is -1":     func(o *serve.Options) { o.Limits.Timeout = -1 },
		"MaxBody is -1":     func(o *serve.Options) { o.Limits.MaxBody = -1 },
		"what opens it":     func(o *serve.Options) { o.Open = nil },
		"Queue is -1":       func(o *serve.Options) { o.Limits.Queue = -1 },
		"MaxBodies is -100": func(o *serve.Options) { o.Limits.MaxBodies = -100 },
	} {
		o := good
		o.Models = slices.Clone(good.Models)
		change(&o)
		s, err := serve.New(o)
		if err == nil {
			s.Close()
			t.Errorf("%s: accepted", name)
		} else if want := strings.TrimPrefix(name, "called "); !strings.Contains(err.Error(), want) && name != "-1" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A server can be mounted below a prefix of another.
func TestMounted(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("/desk/", http.StripPrefix("/desk", newServer(t, options(t))))
	port := httptest.NewServer(mux)
	defer port.Close()
	r, err := http.Post(port.URL+"/desk/v1/predict", "application/json", strings.NewReader(`{"text": "when do you open?"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != 200 || !strings.Contains(string(body), "opening hours") {
		t.Errorf("%d %s %v", r.StatusCode, body, err)
	}
}

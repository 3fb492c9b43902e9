package serve_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treeloss/treeloss"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/serve"
)

// tagModel is a model of several labels an example.
func tagModel(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	rows := "a grey wolf in the wood,wild;grey\na grey stone,grey\na red fox in the wood,wild\na red brick,\n"
	data, path := filepath.Join(folder, "tags.csv"), filepath.Join(folder, "tags.safetensors")
	if err := os.WriteFile(data, []byte("text,tags\n"+strings.Repeat(rows, 10)), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := treeloss.FitFiles(context.Background(), []string{data}, treeloss.Options{Data: dataset.Options{LabelSeparator: ";"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// A server answers with several labels as predict does, by the thresholds of the model or
// another; what decides between classes is refused, and so is an explanation.
func TestSeveralLabels(t *testing.T) {
	path := tagModel(t)
	s := newServer(t, serve.Options{Open: open, Models: []serve.Model{{Name: "tags", Path: path}}})
	texts := []string{"a grey wolf", "a red brick", "a grey stone"}
	body := `{"examples":["a grey wolf","a red brick","a grey stone"]`
	for request, rule := range map[string]decide.Rule{
		"}":                         {Top: 1},
		`,"top":2}`:                 {Top: 2},
		`,"threshold":0.001}`:       {Threshold: 0.001, Top: 2},
		`,"threshold":0.1,"top":1}`: {Threshold: 0.1, Top: 1},
	} {
		got := parse[answers](t, ask(t, s, "POST", "/v1/predict", body+request), 200)
		want, _ := predicted(t, path, strings.Join(texts, "\n"), dataset.Lines, rule)
		if marshal(t, got.Answers) != marshal(t, want) {
			t.Errorf("%s: %s, want %s", request, marshal(t, got.Answers), marshal(t, want))
		}
	}
	got := parse[answers](t, ask(t, s, "POST", "/v1/predict", body+"}"), 200)
	if len(got.Answers[0].Labels) != 2 || got.Answers[1].Labels == nil || len(got.Answers[1].Labels) != 0 || len(got.Answers[2].Labels) != 1 {
		t.Errorf("answers %s, want two labels, none and one", marshal(t, got.Answers))
	}
	for path, request := range map[string]string{
		"/v1/predict": body + `,"reject":0.5}`,
		"/v1/explain": body + "}",
	} {
		if r := ask(t, s, "POST", path, request); r.status != 400 || !strings.Contains(r.body, "several labels an example") {
			t.Errorf("%s %s: %d %s", path, request, r.status, r.body)
		}
	}
	if r := ask(t, s, "POST", "/v1/predict", body+`,"threshold":0}`); r.status != 400 || !strings.Contains(r.body, "threshold is 0") {
		t.Errorf("a threshold of 0: %d %s", r.status, r.body)
	}
	all := newServer(t, options(t))
	if r := ask(t, all, "POST", "/v1/predict", `{"text":"x","threshold":0.5}`); r.status != 400 || !strings.Contains(r.body, "reject") {
		t.Errorf("a threshold with one class an example: %d %s", r.status, r.body)
	}
}

package serve_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// schema is a part of JSON Schema, as /openapi.json uses it.
type schema struct {
	Ref        string             `json:"$ref"`
	Type       string             `json:"type"`
	Format     string             `json:"format"`
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	Additional *bool              `json:"additionalProperties"`
	Items      *schema            `json:"items"`
	OneOf      []*schema          `json:"oneOf"`
	Enum       []string           `json:"enum"`
	Minimum    *float64           `json:"minimum"`
	Maximum    *float64           `json:"maximum"`
}

type content map[string]struct{ Schema *schema }

// document is /openapi.json.
type document struct {
	Paths map[string]map[string]struct {
		RequestBody struct{ Content content }
		Responses   map[string]struct{ Content content }
	}
	Components struct{ Schemas map[string]*schema }
}

var described = sync.OnceValues(func() (*document, error) {
	data, err := os.ReadFile("openapi.json")
	if err != nil {
		return nil, err
	}
	d := new(document)
	return d, json.Unmarshal(data, d)
})

// fits returns an error unless a value of JSON is what a schema says.
func (d *document) fits(s *schema, v any, at string) error {
	if s.Ref != "" {
		name := strings.TrimPrefix(s.Ref, "#/components/schemas/")
		if d.Components.Schemas[name] == nil {
			return fmt.Errorf("%s: no schema %s", at, s.Ref)
		}
		return d.fits(d.Components.Schemas[name], v, at)
	}
	if s.OneOf != nil {
		for _, one := range s.OneOf {
			if d.fits(one, v, at) == nil {
				return nil
			}
		}
		return fmt.Errorf("%s: %v is none of those allowed", at, v)
	}
	wrong := fmt.Errorf("%s: %v is no %s", at, v, s.Type)
	switch v := v.(type) {
	case map[string]any:
		if s.Type != "object" {
			return wrong
		}
		for _, key := range s.Required {
			if _, ok := v[key]; !ok {
				return fmt.Errorf("%s: no %q", at, key)
			}
		}
		for key, part := range v {
			if s.Properties[key] == nil {
				if s.Additional != nil && !*s.Additional {
					return fmt.Errorf("%s: %q is not described", at, key)
				}
			} else if err := d.fits(s.Properties[key], part, at+"."+key); err != nil {
				return err
			}
		}
	case []any:
		if s.Type != "array" {
			return wrong
		}
		for i, part := range v {
			if s.Items != nil {
				if err := d.fits(s.Items, part, fmt.Sprintf("%s[%d]", at, i)); err != nil {
					return err
				}
			}
		}
	case string:
		if s.Type != "string" || s.Enum != nil && !strings.Contains(" "+strings.Join(s.Enum, " ")+" ", " "+v+" ") {
			return wrong
		}
	case float64:
		whole := v == math.Trunc(v)
		if s.Type != "number" && (s.Type != "integer" || !whole) || s.Minimum != nil && v < *s.Minimum || s.Maximum != nil && v > *s.Maximum {
			return wrong
		}
	case bool:
		if s.Type != "boolean" {
			return wrong
		}
	default:
		return wrong
	}
	return nil
}

// find returns the described path that a path is an instance of.
func (d *document) find(path string) string {
	for pattern := range d.Paths {
		expression := "^" + regexp.MustCompile(`\{\w+\}`).ReplaceAllString(pattern, "[^/]+") + "/?$"
		if regexp.MustCompile(expression).MatchString(path) {
			return pattern
		}
	}
	return ""
}

// checkAnswer checks what a handler really sent.
func checkAnswer(t *testing.T, method, path string, w *httptest.ResponseRecorder) {
	t.Helper()
	d, err := described()
	if err != nil {
		t.Fatal(err)
	}
	kind, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
	about := fmt.Sprintf("%s %s: %d %s", method, path, w.Code, kind)
	responses := d.Paths[d.find(path)][strings.ToLower(method)].Responses
	described, found := responses[fmt.Sprint(w.Code)]
	if !found {
		described, found = responses["default"]
	}
	form, ok := described.Content[kind]
	switch {
	case w.Code == 404 || w.Code == 405 || w.Code == 401:
		form.Schema = d.Components.Schemas["Error"]
	case !found || !ok:
		t.Errorf("%s is not described", about)
		return
	}
	if kind != "application/json" {
		return
	}
	var v any
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Errorf("%s: %v", about, err)
	} else if err := d.fits(form.Schema, v, "body"); err != nil {
		t.Errorf("%s: %v in %s", about, err, w.Body)
	}
}

// Each path that is described answers, each that answers is described, and the requests
// of the tests are described, too.
func TestOpenAPI(t *testing.T) {
	s := newServer(t, options(t))
	d, err := described()
	if err != nil {
		t.Fatal(err)
	}
	version := parse[answers](t, ask(t, s, "POST", "/v1/predict", `{"text": "a"}`), 200).Version
	bodies := map[string]string{
		"/v1/predict": `{"text": "a", "top": 2, "reject": 0.1}`, "/v1/explain": `{"examples": ["a"]}`, "/api/why": `{"text": "a", "confidence": 0.5}`,
		"/v2/models/{model}/infer": `{"inputs": [{"name": "text", "datatype": "BYTES", "shape": [1], "data": ["a"]}]}`,
	}
	bodies["/v2/models/{model}/versions/{version}/infer"] = bodies["/v2/models/{model}/infer"]
	for path, methods := range d.Paths {
		for method, op := range methods {
			at := strings.NewReplacer("{model}", "text", "{version}", version, "{piece}", "start").Replace(path)
			if r := ask(t, s, strings.ToUpper(method), at, bodies[path]); r.status != 200 {
				t.Errorf("%s %s: %d %s", method, path, r.status, r.body)
			}
			if bodies[path] == "" {
				continue
			}
			var v any
			if err := json.Unmarshal([]byte(bodies[path]), &v); err != nil {
				t.Fatal(err)
			}
			if err := d.fits(op.RequestBody.Content["application/json"].Schema, v, path); err != nil {
				t.Error(err)
			}
		}
	}
	for _, route := range s.Routes() {
		method, path, _ := strings.Cut(route, " ")
		path = strings.TrimSuffix(strings.TrimSuffix(path, "{$}"), "/")
		if path == "" {
			path = "/"
		}
		if _, ok := d.Paths[path][strings.ToLower(method)]; !ok {
			t.Errorf("%s is not described", route)
		}
	}
}

// packed packs with gzip.
func packed(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func jsonLog(w io.Writer) *slog.Logger { return slog.New(slog.NewJSONHandler(w, nil)) }

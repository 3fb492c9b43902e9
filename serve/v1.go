package serve

import (
	"context"
	"net/http"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/internal/explain"
)

// modelPart tells which model answered.
type modelPart struct {
	Model   string `json:"model"`
	Version string `json:"version"`
}

// predict answers POST /v1/predict.
func (s *Server) predict(x *exchange) error {
	v, q, examples, err := x.readExamples()
	if err != nil {
		return err
	}
	rule, err := q.rule(1)
	if err == nil {
		rule, err = v.fits(rule, len(examples))
	}
	if err != nil {
		return err
	}
	j := &job{ctx: x.request.Context(), examples: examples, rule: rule}
	if err := v.do(s, j); err != nil {
		return err
	}
	return x.json(struct {
		modelPart
		Answers []classify.Answer `json:"answers"`
	}{modelPart{v.name, v.id}, j.answers})
}

// do runs a job and counts its examples, if it was answered.
func (v *version) do(s *Server, j *job) error {
	err := v.queue.do(j)
	if err == nil {
		s.metrics.examples.WithLabelValues(v.name).Add(float64(len(j.examples)))
	}
	return err
}

// explain answers POST /v1/explain.
func (s *Server) explain(x *exchange) error {
	v, q, examples, err := x.readExamples()
	if err != nil {
		return err
	}
	reasons, err := v.explain(x.request.Context(), func(e *explain.Explainer) (list []*explain.Explanation, err error) {
		if err := e.Ask(q.Features, q.Against); err != nil {
			return nil, refuse(http.StatusBadRequest, "%v", err)
		}
		for i, example := range examples {
			why, err := e.Explain(x.request.Context(), example)
			if err != nil {
				return nil, &exampleError{i, err}
			}
			list = append(list, why)
		}
		return list, nil
	})
	if err != nil {
		return err
	}
	return x.json(struct {
		modelPart
		Explanations []*explain.Explanation `json:"explanations"`
	}{modelPart{v.name, v.id}, reasons})
}

// explain calls use with the explainer of the model, which one request has at a time: it
// keeps what it found out about the classes.
func (v *version) explain(ctx context.Context, use func(*explain.Explainer) ([]*explain.Explanation, error)) ([]*explain.Explanation, error) {
	m := classify.LinearModelOf(v.classifier)
	if m == nil {
		return nil, refuse(http.StatusBadRequest, "model %s is no plain linear model, and only the answers of these can be explained", v.name)
	}
	if v.about.Balanced {
		return nil, refuse(http.StatusBadRequest, "model %s answers by other class frequencies than those of its training, and only answers by these can be explained", v.name)
	}
	select {
	case v.explains <- struct{}{}:
		defer func() { <-v.explains }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if v.explainer == nil {
		e, err := explain.New(m, explain.Options{})
		if err != nil {
			return nil, refuse(http.StatusBadRequest, "model %s is %v", v.name, err)
		}
		v.explainer = e
	}
	return use(v.explainer)
}

// modelInfo is what /v1/models says of a model.
type modelInfo struct {
	modelPart
	Kind       string   `json:"kind"`     // linear or network
	Examples   string   `json:"examples"` // text, numeric columns, sparse features or pictures
	Columns    []string `json:"columns,omitempty"`
	Classes    int      `json:"classes"`
	Tree       bool     `json:"tree"`       // whether confidence and cost have one
	Calibrated bool     `json:"calibrated"` // whether probabilities were checked on held-out rows
}

// listModels answers GET /v1/models.
func (s *Server) listModels(x *exchange) error {
	list := struct {
		Models []modelInfo `json:"models"`
	}{}
	for _, m := range s.models {
		v := m.acquire()
		if v == nil {
			return refuse(http.StatusServiceUnavailable, "the server has stopped")
		}
		a := v.about
		list.Models = append(list.Models, modelInfo{modelPart{v.name, v.id}, kindOf(a), v.kind(), a.Like.Columns, len(a.Labels), a.Tree != nil, a.Calibrated})
		v.release()
	}
	return x.json(list)
}

// kind names what the model looks at.
func (v *version) kind() string {
	if v.pictures() {
		return "pictures"
	}
	return v.about.Like.Kind.String()
}

// live answers GET /healthz: the process runs.
func (s *Server) live(x *exchange) error { return x.write(http.StatusOK, "text/plain", []byte("ok\n")) }

// welcomes returns an error once the server is about to stop: it answers what comes, but a
// balancer should send requests to another.
func (s *Server) welcomes() error {
	if s.leaving.Load() {
		return refuse(http.StatusServiceUnavailable, "the server is about to stop")
	}
	return nil
}

// ready answers GET /readyz: requests are welcome.
func (s *Server) ready(x *exchange) error {
	if err := s.welcomes(); err != nil {
		return err
	}
	return x.write(http.StatusOK, "text/plain", []byte("ok\n"))
}

package serve

import (
	"context"
	_ "embed" // the description of the paths
	"errors"
	"net/http"

	"github.com/treeloss/treeloss/internal/explorer"
	"github.com/treeloss/treeloss/internal/option"
)

//go:embed openapi.json
var openAPIJSON []byte

// openAPI answers GET /openapi.json.
func (s *Server) openAPI(x *exchange) error {
	return x.write(http.StatusOK, "application/json", openAPIJSON)
}

// page answers GET / with the explorer. It has no data in it, and asks /api and /v1 like any
// client, with a token where one is needed.
func (s *Server) page(x *exchange) error { return x.asset("index.html") }

// assets are what answers the paths of the files of the page.
func (s *Server) assets() (list []route) {
	for _, name := range explorer.Assets() {
		list = append(list, route{"GET", "/" + name, true, func(x *exchange) error { return x.asset(name) }})
	}
	return list
}

// asset answers with a file of the page.
func (x *exchange) asset(name string) error {
	data, kind, err := explorer.Asset(name)
	if err != nil {
		return err
	}
	x.Header().Set("Content-Security-Policy", explorer.Policy)
	x.Header().Set("Cache-Control", "no-cache") // a new program has a new page
	return x.write(http.StatusOK, kind, data)
}

// prepared is the explorer of a version once it is made.
type prepared struct {
	done     chan struct{}
	explorer *explorer.Explorer
	err      error
}

// explore returns the explorer of a version. The first request for it has it made, which may
// take longer than a request: the work goes on, and who asks again a second later gets it.
// An error of making it is kept, too: the same model would fail the same way. The error for
// a ctx that is done first is a 503 with Retry-After.
func (s *Server) explore(ctx context.Context, v *version) (*explorer.Explorer, error) {
	v.exploring.Lock()
	p := v.explored
	if p == nil {
		p = &prepared{done: make(chan struct{})}
		v.explored = p
		if given := s.opts.Explorer; given != nil && v.name == s.opts.Models[0].Name {
			p.explorer = given
			close(p.done)
		} else {
			v.users.Add(1) // a reload does not close what is looked at; the caller has it open
			go func() {
				defer v.release()
				defer close(p.done)
				p.explorer, p.err = explorer.New(v.classifier, v.name)
			}()
		}
	}
	v.exploring.Unlock()
	select {
	case <-p.done:
		return p.explorer, p.err
	case <-ctx.Done():
		return nil, &problem{status: http.StatusServiceUnavailable, text: "the tree of the model is being built; ask again", retry: true}
	}
}

// piece answers GET /api/{model}/{piece}: what the page shows of a model.
func (s *Server) piece(x *exchange) error {
	v, err := x.use(x.request.PathValue("model"), "")
	if err != nil {
		return err
	}
	e, err := s.explore(x.request.Context(), v)
	if err != nil {
		return err
	}
	data, err := e.Piece(x.request.Context(), x.request.PathValue("piece"))
	if errors.Is(err, explorer.ErrPiece) {
		return refuse(http.StatusNotFound, "%v", err)
	}
	if err != nil {
		return err
	}
	return x.write(http.StatusOK, "application/json", data)
}

// why answers POST /api/why: how the probabilities of one example go down the tree.
func (s *Server) why(x *exchange) error {
	v, q, examples, err := x.readExamples()
	if err != nil {
		return err
	}
	if len(examples) != 1 {
		return refuse(http.StatusBadRequest, "%d examples, want one", len(examples))
	}
	ask := explorer.Question{Example: examples[0], Against: q.Against}
	if q.Confidence != nil {
		ask.Confidence = *q.Confidence
		if err := option.Check("Confidence", ask.Confidence, ask.Confidence > 0 && ask.Confidence <= 1, "a probability above 0, up to 1, such as 0.9"); err != nil {
			return err
		}
	}
	e, err := s.explore(x.request.Context(), v)
	if err != nil {
		return err
	}
	j := &job{ctx: x.request.Context(), examples: examples, all: make([]float32, len(v.about.Labels))}
	if err := v.do(s, j); err != nil {
		return err
	}
	ask.Probabilities = j.all
	a, err := e.Why(x.request.Context(), ask)
	if err != nil {
		return err
	}
	return x.json(a)
}

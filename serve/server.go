package serve

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/treeloss/treeloss/internal/option"
)

// Server is an http.Handler that answers with models. Mount it at the root of a host,
// or below a prefix with http.StripPrefix. What limits a slow client is the
// http.Server's: Serve sets that up.
type Server struct {
	opts    Options
	models  []*model
	routes  []route
	mux     *http.ServeMux
	metrics *metrics
	tokens  *tokens // nil: everybody may ask
	bodies  budget
	leaving atomic.Bool // no longer ready
	closed  atomic.Bool
}

// route is what one path answers.
type route struct {
	method string
	path   string // a pattern of http.ServeMux
	public bool   // no token is needed
	answer func(x *exchange) error
}

// New opens all models, which reads each file twice and compiles networks, and starts
// Threads goroutines for each. Close the Server when nobody asks it any more. Options out of
// range, a model that cannot be opened and a file of tokens without any are errors.
func New(o Options) (*Server, error) {
	o, err := o.check()
	if err != nil {
		return nil, err
	}
	s := &Server{opts: o, mux: http.NewServeMux(), metrics: newMetrics(), bodies: budget{limit: o.Limits.MaxBodies}}
	if o.Tokens != "" {
		if s.tokens, err = readTokens(o.Tokens, o.Log); err != nil {
			return nil, err
		}
	}
	for _, m := range o.Models {
		next := &model{Model: m}
		if err := s.reload(next, true); err != nil {
			s.Close()
			return nil, err
		}
		s.models = append(s.models, next)
	}
	s.metrics.watch(s.models)
	s.routes = s.table()
	// By path and not by method: a ServeMux that knows methods answers 405 in plain text, and
	// all our errors are JSON.
	allowed := make(map[string][]route)
	for _, r := range s.routes {
		allowed[r.path] = append(allowed[r.path], r)
	}
	for path, routes := range allowed {
		s.mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { s.dispatch(w.(*exchange), r, routes) })
	}
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		x := w.(*exchange)
		x.fail(refuse(http.StatusNotFound, "no such path; /openapi.json lists them"))
	})
	return s, nil
}

// table lists what the Server answers. What says whether it lives, and the page, which holds
// no data, is public; all that tells of a model needs a token.
func (s *Server) table() []route {
	list := []route{
		{"GET", "/{$}", true, s.page},
		{"GET", "/openapi.json", true, s.openAPI},
		{"GET", "/healthz", true, s.live},
		{"GET", "/readyz", true, s.ready},
		{"GET", "/metrics", false, s.showMetrics},
		{"GET", "/v1/models", false, s.listModels},
		{"POST", "/v1/predict", false, s.predict},
		{"POST", "/v1/explain", false, s.explain},
		{"GET", "/api/{model}/{piece}", false, s.piece},
		{"POST", "/api/why", false, s.why},
		{"GET", "/v2", false, s.v2Server},
		{"GET", "/v2/{$}", false, s.v2Server},
		{"GET", "/v2/health/live", true, s.v2Live},
		{"GET", "/v2/health/ready", true, s.v2Ready},
	}
	list = append(list, s.assets()...)
	for _, at := range []string{"/v2/models/{model}", "/v2/models/{model}/versions/{version}"} {
		list = append(list,
			route{"GET", at, false, s.v2Model},
			route{"GET", at + "/ready", false, s.v2ModelReady},
			route{"POST", at + "/infer", false, s.v2Infer})
	}
	return list
}

// Close frees the models, each when its last request is done. Requests that come later
// are answered with 503.
func (s *Server) Close() {
	if !s.closed.CompareAndSwap(false, true) {
		return
	}
	for _, m := range s.models {
		if v := m.current.Load(); v != nil {
			v.release()
		}
	}
}

// dispatch calls the route of a path that has the method.
func (s *Server) dispatch(x *exchange, r *http.Request, routes []route) {
	x.request, x.route = r, routes[0].path
	var methods []string
	for _, route := range routes {
		if route.method == r.Method || route.method == "GET" && r.Method == "HEAD" {
			if !route.public && s.tokens != nil && !s.tokens.allow(r.Header.Get("Authorization")) {
				x.Header().Set("WWW-Authenticate", "Bearer")
				x.fail(refuse(http.StatusUnauthorized, "a bearer token is needed; send the header Authorization: Bearer TOKEN"))
				return
			}
			if err := route.answer(x); err != nil {
				x.fail(err)
			}
			return
		}
		methods = append(methods, route.method)
	}
	x.Header().Set("Allow", strings.Join(methods, ", "))
	x.fail(refuse(http.StatusMethodNotAllowed, "%s takes %s, not %s", r.URL.Path, strings.Join(methods, " or "), r.Method))
}

// ServeHTTP answers a request, counts it and logs it. It may be called by many goroutines at
// once. From Limits.Timeout on the answer is a 503.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	ctx, cancel := context.WithTimeout(r.Context(), s.opts.Limits.Timeout)
	defer cancel()
	x := &exchange{ResponseWriter: w, server: s, id: requestID(r), route: "other"}
	defer x.end(r, start)
	x.Header().Set("X-Request-Id", x.id)
	x.Header().Set("X-Content-Type-Options", "nosniff")
	s.mux.ServeHTTP(x, r.WithContext(ctx))
}

// exchange is a request on its way and what is known about its answer, for one goroutine:
//
//	ServeHTTP: id, timeout --mux--> dispatch: method, token --> route: limits, model, answer
//	                                                               | or a problem
//	                       end: model and memory given back, counted, logged
//
// It is the http.ResponseWriter of the handlers, so that what they send is counted and
// logged in one place, whoever sends it.
type exchange struct {
	http.ResponseWriter
	server  *Server
	request *http.Request
	id      string
	route   string

	body   *buffer // of the request; nil: not read
	held   int64   // bytes of the budget
	using  *version
	items  int // examples
	status int // 0: nothing was sent
	sent   int64
	err    error // that was answered
}

// end gives back what the request held, and counts and logs it. A panic of a handler is
// logged with its stack and answered with a 500; the client is told the id and nothing else.
func (x *exchange) end(r *http.Request, start time.Time) {
	if p := recover(); p != nil && p != http.ErrAbortHandler {
		x.fail(&panicError{p, debug.Stack()})
	}
	x.free()
	took := time.Since(start)
	x.server.metrics.request(x.route, x.status, took)
	log := x.server.opts.Log
	level := slog.LevelInfo
	if x.status >= 500 {
		level = slog.LevelError
	}
	if !log.Enabled(r.Context(), level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("id", x.id), slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Int("status", x.status),
		slog.Int64("bytes", x.sent), slog.Float64("ms", float64(took.Microseconds())/1000), slog.String("client", r.RemoteAddr),
	}
	if x.items > 0 {
		attrs = append(attrs, slog.Int("examples", x.items))
	}
	if x.err != nil {
		attrs = append(attrs, slog.String("error", x.err.Error()))
		if p, ok := errors.AsType[*panicError](x.err); ok {
			attrs = append(attrs, slog.String("stack", string(p.stack)))
		}
	}
	log.LogAttrs(r.Context(), level, "request", attrs...)
}

// free gives back the model and the memory of the body.
func (x *exchange) free() {
	if x.using != nil {
		x.using.release()
		x.using = nil
	}
	x.freeBody()
}

// use takes the current version of a model for the rest of the request. An empty name
// is the first model, an empty version the current one.
func (x *exchange) use(name, id string) (*version, error) {
	s := x.server
	for _, m := range s.models {
		if name != "" && name != m.Name {
			continue
		}
		if x.using = m.acquire(); x.using == nil {
			return nil, refuse(http.StatusServiceUnavailable, "the server has stopped")
		}
		if id != "" && id != x.using.id {
			return nil, refuse(http.StatusNotFound, "model %s has no version %q; it has %s", m.Name, id, x.using.id)
		}
		return x.using, nil
	}
	var names []string
	for _, m := range s.models {
		names = append(names, m.Name)
	}
	return nil, refuse(http.StatusNotFound, "no model %q; there is %s", name, strings.Join(names, ", "))
}

// problem is an error with its status of HTTP (RFC 9110, section 15).
type problem struct {
	status int
	text   string
	retry  bool // in a second
}

func (p *problem) Error() string { return p.text }

// refuse makes a problem.
func refuse(status int, format string, args ...any) error {
	return &problem{status: status, text: fmt.Sprintf(format, args...)}
}

// fail answers with an error, {"error": "..."}, unless something was sent already.
func (x *exchange) fail(err error) {
	x.err = err
	if x.status != 0 {
		return
	}
	p := x.problem(err)
	if p.retry {
		x.Header().Set("Retry-After", "1")
	}
	if p.status == http.StatusRequestEntityTooLarge || p.status == http.StatusRequestTimeout {
		x.Header().Set("Connection", "close") // the rest of the body is not read
	}
	body, _ := json.Marshal(struct {
		Error string `json:"error"`
	}{p.text})
	_ = x.write(p.status, "application/json", append(body, '\n')) // a client that is gone hears nothing
}

// problem finds the status of an error: that which it has, 500 for a panic, 429 and 503
// for what another try may mend, and 400 for the rest, as the library's errors are about
// what was asked. Options are named as the keys of a request.
func (x *exchange) problem(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	if _, ok := errors.AsType[*panicError](err); ok {
		return &problem{status: http.StatusInternalServerError, text: "a bug in the server; its log has more under the id " + x.id}
	}
	switch e, ok := errors.AsType[*option.Error](err); {
	case errors.Is(err, errBusy):
		return &problem{status: http.StatusTooManyRequests, text: err.Error(), retry: true}
	case errors.Is(err, context.DeadlineExceeded):
		return &problem{status: http.StatusServiceUnavailable, text: fmt.Sprintf("no answer within %v; ask again, or for fewer examples at once", x.server.opts.Limits.Timeout), retry: true}
	case errors.Is(err, context.Canceled):
		return &problem{status: 499, text: "the client has gone"} // nginx's status, for the log alone
	case ok:
		return &problem{status: http.StatusBadRequest, text: fmt.Sprintf("%s is %s, want %s", strings.ToLower(e.Name), e.Text(), e.Want)}
	}
	if e, ok := errors.AsType[*option.Misuse](err); ok {
		return &problem{status: http.StatusBadRequest, text: e.In(strings.ToLower)}
	}
	return &problem{status: http.StatusBadRequest, text: err.Error()}
}

// json answers with a value. It is encoded as a whole first, so that an error has a status of
// its own.
func (x *exchange) json(v any) error {
	b := buffers.Get().(*buffer)
	defer b.free()
	if err := encodeJSON(b, v); err != nil {
		return refuse(http.StatusInternalServerError, "the answer has no JSON: %v", err)
	}
	return x.write(http.StatusOK, "application/json", b.Bytes())
}

// encodeJSON writes a value and a line feed, with <, > and & as they are.
func encodeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// write sends an answer whole. What fails is the client's connection.
func (x *exchange) write(status int, kind string, body []byte) error {
	h := x.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	x.WriteHeader(status)
	_, err := x.Write(body)
	return err
}

// WriteHeader keeps the status.
func (x *exchange) WriteHeader(status int) {
	if x.status == 0 {
		x.status = status
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write counts bytes.
func (x *exchange) Write(b []byte) (int, error) {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	n, err := x.ResponseWriter.Write(b)
	x.sent += int64(n)
	return n, err
}

// Unwrap is for http.ResponseController.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// requestID returns the id that a client or a proxy gave, or a new one of 64 random bits.
// What could break a line of the log, or fill it, is not taken over.
func requestID(r *http.Request) string {
	id := r.Header.Get("X-Request-Id")
	plain := func(c rune) bool { return c > ' ' && c < 0x7f && c != '"' && c != '\\' }
	if id != "" && len(id) <= 64 && !slices.ContainsFunc([]rune(id), func(c rune) bool { return !plain(c) }) {
		return id
	}
	var b [8]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

package serve

import (
	_ "embed" // the page and the description of the paths
	"net/http"
)

//go:embed page.html
var pageHTML []byte

//go:embed openapi.json
var openAPIJSON []byte

// page answers GET /: what is served, and a field to try a text. It has no data in it,
// and asks /v1 like any client, with a token where one is needed.
func (s *Server) page(x *exchange) error {
	x.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	return x.write(http.StatusOK, "text/html; charset=utf-8", pageHTML)
}

// openAPI answers GET /openapi.json.
func (s *Server) openAPI(x *exchange) error {
	return x.write(http.StatusOK, "application/json", openAPIJSON)
}

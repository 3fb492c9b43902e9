package serve_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/treeloss/treeloss/serve"
)

// A Server is an http.Handler like any other.
func ExampleNew() {
	paths, err := models() // files that treeloss train wrote
	if err != nil {
		fmt.Println(err)
		return
	}
	desk, err := serve.New(serve.Options{Models: []serve.Model{{Name: "desk", Path: paths["text"]}}, Open: open})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer desk.Close()
	mux := http.NewServeMux()
	mux.Handle("/desk/", http.StripPrefix("/desk", desk))
	port := httptest.NewServer(mux)
	defer port.Close()

	r, err := http.Post(port.URL+"/desk/v2/models/desk/infer", "application/json", strings.NewReader(
		`{"inputs": [{"name": "text", "datatype": "BYTES", "shape": [1], "data": ["when do you open?"]}], "outputs": [{"name": "label"}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Body.Close()
	body, _ := io.ReadAll(r.Body)
	_, outputs, _ := strings.Cut(string(body), `"outputs":`)
	fmt.Print(outputs)
	// Output: [{"name":"label","shape":[1],"datatype":"BYTES","data":["opening hours"]}]}
}

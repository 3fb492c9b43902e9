package serve_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/internal/explorer"
	"github.com/treeloss/treeloss/internal/pagetest"
)

// What the page asks for: pieces of each model, and why an example has its answer, whatever
// examples are made of. Wrong requests are 4xx.
func TestExplorerAPI(t *testing.T) {
	s := newServer(t, options(t))
	for _, c := range []struct {
		name, method, path, body string
		status                   int
		has                      string
	}{
		{"the tree", "GET", "/api/text/start", "", 200, `"tree":"model"`},
		{"numbers have a linkage", "GET", "/api/numbers/start", "", 200, `"columns":["length`},
		{"no examples", "GET", "/api/text/confusions", "", 200, `"count":""`},
		{"a class", "GET", "/api/text/classes-0", "", 200, `"features":{"for":[{"feature":`},
		{"two classes", "GET", "/api/text/pair-0-1", "", 200, `"other":1`},
		{"no such class", "GET", "/api/text/classes-99", "", 404, "no such piece"},
		{"no such piece", "GET", "/api/text/x", "", 404, "no such piece"},
		{"no such model", "GET", "/api/x/start", "", 404, "no model"},
		{"a text", "POST", "/api/why", `{"text": "my card is lost", "confidence": 0.9}`, 200, `"hedged":{"node":`},
		{"without a hedged answer", "POST", "/api/why", `{"text": "my card"}`, 200, `"words":[{"text":"my"`},
		{"numbers", "POST", "/api/why", `{"model": "numbers", "examples": [[20, 400, 1]]}`, 0, ""},
		{"two examples", "POST", "/api/why", `{"examples": ["a", "b"]}`, 400, "want one"},
		{"confidence", "POST", "/api/why", `{"text": "a", "confidence": 1.5}`, 400, "want a probability above 0"},
		{"against nothing", "POST", "/api/why", `{"text": "a", "against": "x"}`, 400, "no class"},
		{"nothing", "POST", "/api/why", `{}`, 400, "no example"},
	} {
		r := ask(t, s, c.method, c.path, c.body)
		if c.status != 0 && r.status != c.status || !strings.Contains(string(r.body), c.has) {
			t.Errorf("%s: %d %.300s", c.name, r.status, r.body)
		}
	}
	r := ask(t, s, "GET", "/", "")
	if policy := r.header.Get("Content-Security-Policy"); !strings.Contains(policy, "script-src 'self'") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy of the page is %q", policy)
	}
}

// The page of a server in a real browser: a token is asked for, a text goes down the tree,
// its evidence is highlighted, and two classes are compared.
func TestExplorerInBrowser(t *testing.T) {
	browser := pagetest.Open(t)
	o := options(t)
	o.Tokens = filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(o.Tokens, []byte("secret-token\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := o.Open(o.Models[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	if o.Explorer, err = explorer.New(m, "desk"); err != nil {
		t.Fatal(err)
	}
	x, err := m.Open(classify.Input{Paths: []string{desk}})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if err := o.Explorer.Measure(t.Context(), m, x, []string{desk}); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(newServer(t, o))
	defer server.Close()
	p := browser.Page(server.URL+"/", 1280, 800, false)
	p.Wait(`!$("secret").hidden && !$("problem").hidden`)
	p.Eval(`$("token").focus()`)
	p.Type("secret-token")
	p.Press("Enter")
	p.Wait(`typeof state !== "undefined" && state.m && T.drawn > 0 && $("problem").hidden`)
	p.Eval(`$("text").focus()`)
	p.Type("I lost my library card")
	p.Press("Enter")
	p.Wait(`state.flow && document.querySelector(".words .f3")`)
	for script, want := range map[string]string{
		`document.querySelector(".words").textContent`:                      `"I lost my library card"`,
		`$("answer").querySelector("td button").textContent`:                `"lost a card"`,
		`Math.abs(state.flow.mass.get(0) - 1) < 1e-4`:                       "true",
		`/Hedged answer, at least 90 % sure/.test($("answer").textContent)`: "true",
		`state.flow.hedged >= 0`:                                            "true",
	} {
		if got := p.Eval(script); got != want {
			t.Errorf("%s is %s, want %s", script, got, want)
		}
	}
	p.Eval(`[...$("answer").querySelectorAll("button")].find(x => x.textContent === "Compare the two classes").click()`)
	p.Wait(`/and not/.test($("details").textContent) && /Features for lost a card/.test($("details").textContent)`)
	p.Eval(`$("model").value = "numbers"; $("model").dispatchEvent(new Event("change"))`)
	p.Wait(`state.first.model === "numbers" && state.m.k > 1`)
	p.Eval(`$("text").value = "1, x"; $("form").requestSubmit()`)
	p.Wait(`$("answer").textContent.length > 20`)
	p.Eval(`$("tab-map").click()`)
	p.Wait(`!$("empty").hidden`)
	for _, c := range p.Complaints() {
		if !strings.Contains(c, "401") && !strings.Contains(c, "400") { // the browser notes what it was refused
			t.Errorf("the browser complains: %s", c)
		}
	}
}

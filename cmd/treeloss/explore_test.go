package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// explore --out writes a page without the model and without paths of this machine.
func TestExploreWritesFiles(t *testing.T) {
	model := trainOn(t, "--data", desk, "--taxonomy", deskGroups, "--sharing", "taxonomy")
	dir := filepath.Join(t.TempDir(), "page")
	o := succeed(t, "explore", "--model", model, "--data", deskTest, "--baseline", model, "--out", dir)
	if o.out != "" || !strings.Contains(o.log, filepath.Join(dir, "index.html")) {
		t.Errorf("it prints %q and logs %q", o.out, o.log)
	}
	for _, name := range []string{"index.html", "main.js", "data/start.js", "data/confusions.js", "data/classes-0.js"} {
		text := string(content(t, filepath.Join(dir, name)))
		if text == "" || strings.Contains(text, filepath.Dir(model)) || strings.Contains(text, "testdata") {
			t.Errorf("%s has %d bytes, or a path of this machine", name, len(text))
		}
	}
	if start := string(content(t, filepath.Join(dir, "data/start.js"))); !strings.Contains(start, `"base":"`) || !strings.Contains(start, `"files":["desk_test.csv"]`) {
		t.Errorf("the first piece begins with %.300s", start)
	}
}

// What cannot be meant is one line that says what to do.
func TestExploreRefuses(t *testing.T) {
	model := trainOn(t, "--data", desk)
	numbers := trainOn(t, "--data", breads, "--label", "bread")
	taken, page := file(t, "taken", "x"), t.TempDir()
	if err := os.WriteFile(filepath.Join(page, "index.html"), []byte("<p>mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name   string
		args   []string
		status int
		says   string
	}{
		{"no model", nil, 2, "no model"},
		{"files or a server", []string{"--model", model, "--out", filepath.Join(t.TempDir(), "x"), "--addr", ":0"}, 2, "give one of them"},
		{"baseline without examples", []string{"--model", model, "--baseline", model}, 2, "--data"},
		{"a file for a folder", []string{"--model", model, "--out", taken}, 1, "name a folder"},
		{"another page", []string{"--model", model, "--out", page}, 1, "page of another program"},
		{"labels of another model", []string{"--model", model, "--data", file(t, "other.csv", "text,label\na,b\n"), "--out", filepath.Join(t.TempDir(), "x")}, 1, "none of the 1 examples has a label of the model"},
		{"a baseline of other classes", []string{"--model", model, "--data", deskTest, "--baseline", numbers, "--out", filepath.Join(t.TempDir(), "x")}, 1, "the baseline needs all classes of the model"},
		{"a place that is not there", []string{"--model", model, "--addr", "nowhere.invalid:1"}, 2, "--addr"},
		{"no model file", []string{"--model", "no.safetensors"}, 1, "no such model file"},
	} {
		o := call(t, append([]string{"explore", "--quiet"}, tc.args...)...)
		if o.status != tc.status || !strings.Contains(o.log, tc.says) || strings.Count(o.log, "\n") != 1 {
			t.Errorf("%s: status %d, %q; want %d and %q", tc.name, o.status, o.log, tc.status, tc.says)
		}
	}
}

// Without --out the page is served until the command is told to stop.
func TestExploreServes(t *testing.T) {
	model := trainOn(t, "--data", desk)
	ctx, cancel := context.WithCancel(t.Context())
	log, done := new(lockedBuffer), make(chan int, 1)
	go func() {
		done <- execute(ctx, []string{"explore", "--addr", "127.0.0.1:0", "--model", model, "--data", deskTest}, strings.NewReader(""), new(lockedBuffer), log)
	}()
	defer cancel()
	address := regexp.MustCompile(`serving on (\S+)`)
	for range 2000 {
		if address.MatchString(log.String()) {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	found := address.FindStringSubmatch(log.String())
	if found == nil {
		t.Fatalf("it does not serve: %s", log)
	}
	for path, want := range map[string]string{"/": "treeloss explorer", "/main.js": "drawTree", "/api/model/start": `"support":"`} {
		if body := fetch(t, found[1]+path); !strings.Contains(body, want) {
			t.Errorf("%s has no %q: %.200s", path, want, body)
		}
	}
	cancel()
	<-done
}

// fetch returns what an address answers.
func fetch(t *testing.T, url string) string {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// lockedBuffer is a log that is read while it is written.
type lockedBuffer struct {
	mutex sync.Mutex
	b     bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.b.String()
}

// serving runs treeloss serve on a free port until the test ends, or stop is called,
// which returns its exit status.
func serving(t *testing.T, args ...string) (url string, log *lockedBuffer, stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	log = new(lockedBuffer)
	done := make(chan int, 1)
	go func() {
		done <- execute(ctx, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...), strings.NewReader(""), new(lockedBuffer), log)
	}()
	stop = sync.OnceValue(func() int { cancel(); return <-done })
	t.Cleanup(func() { stop() })
	address := regexp.MustCompile(`serving on (\S+)`)
	for range 2000 {
		if found := address.FindStringSubmatch(log.String()); found != nil {
			return found[1], log, stop
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("serve %q does not serve: %s", args, log)
	return "", nil, nil
}

// Each snippet of docs/serving.md runs, and prints what stands below it. Versions and
// probabilities may be others.
func TestServingSnippets(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(content(t, filepath.Join(root, "docs", "serving.md")))
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.CopyFS("testdata", os.DirFS(filepath.Join(root, "testdata"))); err != nil {
		t.Fatal(err)
	}
	var serve []string
	for _, call := range recipe(t, filepath.Join(root, "docs", "serving.md")) {
		if call[0] == "serve" {
			serve = call[1:]
			continue
		}
		succeed(t, append(call, "--quiet")...)
	}
	url, _, _ := serving(t, serve...)
	run := map[string]func(code string) *exec.Cmd{
		"bash":   func(code string) *exec.Cmd { return exec.Command("bash", "-c", code) },
		"python": func(code string) *exec.Cmd { return exec.Command("python3", "-c", code) },
		"go": func(code string) *exec.Cmd {
			file := filepath.Join(dir, "main.go")
			if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
				t.Fatal(err)
			}
			return exec.Command("go", "run", file)
		},
	}
	needs := map[string]string{"bash": "curl", "python": "python3"}
	changing := regexp.MustCompile(`"(probability|version|model_version)":("[0-9a-f]{12}"|"VERSION"|[0-9.]+|P)`)
	snippets := regexp.MustCompile("(?s)```(bash|python|go)\n(.*?)```\n\n```(?:json|text)\n(.*?)```").FindAllStringSubmatch(doc, -1)
	if len(snippets) != 4 {
		t.Errorf("%d snippets, want 4", len(snippets))
	}
	for _, s := range snippets {
		language, code, want := s[1], strings.ReplaceAll(s[2], "http://127.0.0.1:8080", url), s[3]
		if tool := needs[language]; tool != "" {
			if _, err := exec.LookPath(tool); err != nil {
				t.Logf("skipped: no %s", tool)
				continue
			}
		} else if testing.Short() {
			continue // a program to build
		}
		out, err := run[language](code).CombinedOutput()
		plain := func(s string) string { return changing.ReplaceAllString(s, `"$1":`) }
		if err != nil || plain(string(out)) != plain(want) {
			t.Errorf("%s prints %s %v, want %s", language, out, err, want)
		}
	}
}

// The command serves models by their names, reloads on SIGHUP and stops when told.
func TestServe(t *testing.T) {
	model := quickModel(t)
	url, log, stop := serving(t, "--model", model, "--model", "again="+model, "--log", "json", "--watch", "1h", "--max-body", "1K")
	for name, body := range map[string]string{"m": `{"text": "when do you open?"}`, "again": `{"text": "when do you open?", "model": "again"}`} {
		r, err := http.Post(url+"/v1/predict", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		_, err = out.ReadFrom(r.Body)
		r.Body.Close()
		if err != nil || r.StatusCode != 200 || !strings.HasPrefix(out.String(), `{"model":"`+name+`"`) {
			t.Errorf("%s: %d %s %v", name, r.StatusCode, out.String(), err)
		}
	}
	r, err := http.Post(url+"/v1/predict", "application/json", strings.NewReader(`{"text": "`+strings.Repeat("a", 2000)+`"}`))
	if err != nil || r.StatusCode != 413 {
		t.Errorf("a body above --max-body: %v %v", r, err)
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Signal(syscall.SIGHUP); err == nil { // else this system has no such signal
		for range 2000 {
			if strings.Count(log.String(), "model reloaded") == 2 {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		if n := strings.Count(log.String(), "model reloaded"); n != 2 {
			t.Errorf("%d models reloaded on SIGHUP, want 2", n)
		}
	}
	if status := stop(); status != 0 || !strings.Contains(log.String(), `"path":"/v1/predict","status":200`) {
		t.Errorf("status %d, log %s", status, log)
	}
}

func TestServeRefused(t *testing.T) {
	model := quickModel(t)
	for _, tc := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{}, 2, "--model"},
		{[]string{"--model", "nowhere"}, 1, "nowhere"},
		{[]string{"--model", desk}, 1, "is no model"},
		{[]string{"--model", "a/b=" + model}, 2, `--model "a/b", want a name`},
		{[]string{"--model", model, "--model", model}, 1, "two models are called m"},
		{[]string{"--model", model, "--addr", "nowhere"}, 2, "--addr nowhere: address nowhere: missing port"},
		{[]string{"--model", model, "--tls-cert", "a"}, 2, "--tls-key"},
		{[]string{"--model", model, "--addr", "127.0.0.1:0", "--tls-cert", "a", "--tls-key", "b"}, 1, "no file a"},
		{[]string{"--model", model, "--token-file", "nowhere"}, 1, "no file nowhere"},
		{[]string{"--model", model, "--max-items", "-1"}, 2, "--max-items -1, want"},
		{[]string{"--model", model, "--timeout", "-1s"}, 2, "--timeout"},
		{[]string{"--model", model, "--addr", "127.0.0.1:0", "--connections", "-1"}, 2, "--connections"},
		{[]string{"--model", model, "--backend", "go"}, 2, "--backend has no effect"},
		{[]string{"--model", model, "--max-body", "many"}, 2, "--max-body"},
	} {
		o := call(t, append([]string{"serve"}, tc.args...)...)
		if o.status != tc.status || !strings.Contains(o.log, tc.want) {
			t.Errorf("serve %q: status %d, %s; want %d and %q", tc.args, o.status, o.log, tc.status, tc.want)
		}
	}
}

// asked sends a body and returns the answers, as text.
func asked(t *testing.T, url, body string, headers ...string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	r, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	out, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	_, answers, _ := strings.Cut(strings.TrimSpace(string(out)), `"answers":[`)
	return cmp.Or(strings.TrimSuffix(answers, "]}"), string(out))
}

// BERTs and networks on pictures are served as linear models are, with the answers of
// predict.
func TestServeNetworks(t *testing.T) {
	dir := t.TempDir()
	bert, pictures := filepath.Join(dir, "bert.safetensors"), filepath.Join(dir, "pictures.safetensors")
	train := []string{"train", "--quiet", "--backend", "go", "--epochs", "1", "--sharing", "none"}
	succeed(t, append(train, "--network", "bert:"+bertFolder(t), "--data", desk, "--tokens", "20", "--model", bert)...)
	succeed(t, append(train, "--network", "resnet20", "--data", pictureFolder(t, 3), "--model", pictures)...)
	grey := filepath.Join(greyPictures(t, 1), "0.jpg")
	url, _, _ := serving(t, "--model", bert, "--model", pictures, "--backend", "go")

	text := "may I keep this book for longer"
	want := strings.TrimSpace(callWith(t, text+"\n", "predict", "--json", "--top", "2", "--backend", "go", "--model", bert).out)
	if got := asked(t, url+"/v1/predict", `{"text": "`+text+`", "top": 2}`); got != want {
		t.Errorf("a BERT: %s, want %s", got, want)
	}
	file := string(content(t, grey))
	want = regexp.MustCompile(`"file":"[^"]*",`).ReplaceAllString(strings.TrimSpace(succeed(t, "predict", "--json", "--top", "2", "--backend", "go", "--model", pictures, grey).out), "")
	encoded := base64.StdEncoding.EncodeToString([]byte(file))
	if got := asked(t, url+"/v1/predict", `{"model": "pictures", "top": 2, "text": "`+encoded+`"}`); got != want {
		t.Errorf("a picture: %s, want %s", got, want)
	}
	head := fmt.Sprintf(`{"inputs": [{"name": "picture", "datatype": "BYTES", "shape": [1], "parameters": {"binary_data_size": %d}}], "outputs": [{"name": "label"}]}`, 4+len(file))
	body := head + string(binary.LittleEndian.AppendUint32(nil, uint32(len(file)))) + file
	got := asked(t, url+"/v2/models/pictures/infer", body, "Inference-Header-Content-Length", strconv.Itoa(len(head)))
	if label := regexp.MustCompile(`"data":\[("[^"]+")\]`).FindStringSubmatch(got); label == nil || !strings.HasPrefix(want, `{"label":`+label[1]) {
		t.Errorf("a binary picture: %s, want the label of %s", got, want)
	}
	for body, want := range map[string]string{
		`{"model": "pictures", "text": "` + encoded[:40] + `"}`:                          "no readable picture",
		`{"model": "pictures", "examples": ["` + encoded + `", "` + encoded + `b"]}`:     "example 2 is not the base64",
		`{"model": "pictures", "examples": ["` + encoded + `", "` + encoded[:80] + `"]}`: "example 2: no readable picture",
		`{"model": "pictures", "examples": [[1]]}`:                                       "send the base64",
	} {
		if got := asked(t, url+"/v1/predict", body); !strings.Contains(got, want) {
			t.Errorf("%.60s: %s, want %q", body, got, want)
		}
	}
	if got := asked(t, url+"/v1/explain", `{"text": "a"}`); !strings.Contains(got, "only the answers of these can be explained") {
		t.Errorf("why: %s", got)
	}
}

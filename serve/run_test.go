package serve_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/serve"
)

// start serves on a port of its own until the test ends, or stop is called, which
// returns the error of Serve.
func start(t *testing.T, s *serve.Server, o serve.RunOptions) (address string, stop func() error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l, o) }()
	stop = sync.OnceValue(func() error { cancel(); return <-done })
	t.Cleanup(func() { stop() })
	return l.Addr().String(), stop
}

// until waits for something that happens in another goroutine.
func until(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for range 2000 {
		if happened() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%s: not within 10 s", what)
}

// gate is a model whose answers wait, and which tells whether it was closed.
type gate struct {
	classify.Classifier
	open    chan struct{}
	asked   atomic.Int64
	closed  atomic.Bool
	failing error
}

func (g *gate) Runners(int) ([]classify.Runner, error) {
	runners, err := g.Classifier.Runners(1)
	return []classify.Runner{func(ctx context.Context, block []dataset.Example, visit func(int, []float32) error) (int, error) {
		g.asked.Add(1)
		<-g.open
		if g.closed.Load() {
			return 0, errors.New("closed while in use")
		}
		if g.failing != nil {
			panic(g.failing)
		}
		return runners[0](ctx, block, visit)
	}}, err
}

func (g *gate) Close() error { g.closed.Store(true); return g.Classifier.Close() }

// gated serves the model of texts behind gates, one for each time that it was opened.
func gated(t *testing.T, o serve.Options) (serve.Options, func(i int) *gate) {
	t.Helper()
	var mutex sync.Mutex
	var gates []*gate
	o.Models = o.Models[:1]
	o.Open = func(path string) (classify.Classifier, error) {
		c, err := open(path)
		mutex.Lock()
		defer mutex.Unlock()
		gates = append(gates, &gate{Classifier: c, open: make(chan struct{})})
		return gates[len(gates)-1], err
	}
	return o, func(i int) *gate {
		mutex.Lock()
		defer mutex.Unlock()
		return gates[i]
	}
}

// A full queue is a 429 with Retry-After, and one that is too slow a 503.
func TestBusy(t *testing.T) {
	o := options(t)
	o.Limits = serve.Limits{Queue: 4, MaxItems: 4, Timeout: 300 * time.Millisecond}
	o, gate := gated(t, o)
	s := newServer(t, o)
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			if r := ask(t, s, "POST", "/v1/predict", `{"examples": ["a", "b"]}`); r.status != 503 || r.header.Get("Retry-After") == "" || !strings.Contains(r.body, "300ms") {
				t.Errorf("behind a closed gate: %+v", r)
			}
		})
	}
	until(t, "four examples wait", func() bool {
		return strings.Contains(ask(t, s, "GET", "/metrics", "").body, `treeloss_queue_examples{model="text"} 4`)
	})
	if r := ask(t, s, "POST", "/v1/predict", `{"text": "a"}`); r.status != 429 || r.header.Get("Retry-After") != "1" {
		t.Errorf("behind a full queue: %+v", r)
	}
	group.Wait()
	close(gate(0).open)
	until(t, "the queue is empty", func() bool { return ask(t, s, "POST", "/v1/predict", `{"text": "a"}`).status == 200 })
}

// A panic of a model is a 500 for those who asked, and the next request has its answer.
func TestPanic(t *testing.T) {
	var log bytes.Buffer
	o, gate := gated(t, options(t))
	o.Log = jsonLog(&log)
	s := newServer(t, o)
	close(gate(0).open)
	gate(0).failing = errors.New("out of luck")
	r := ask(t, s, "POST", "/v1/predict", `{"text": "a"}`)
	if r.status != 500 || strings.Contains(r.body, "luck") || !strings.Contains(log.String(), "out of luck") || !strings.Contains(log.String(), "run_test.go") {
		t.Errorf("%+v, log %s", r, log.String())
	}
	gate(0).failing = nil
	if r := ask(t, s, "POST", "/v1/predict", `{"text": "a"}`); r.status != 200 {
		t.Errorf("%+v", r)
	}
}

// A request keeps the model that it began with; that is closed when its last request is
// done, and not before.
func TestReloadKeepsTheOldModel(t *testing.T) {
	o, gate := gated(t, options(t))
	s := newServer(t, o)
	var group sync.WaitGroup
	group.Go(func() {
		if r := ask(t, s, "POST", "/v1/predict", `{"text": "a"}`); r.status != 200 {
			t.Errorf("%+v", r)
		}
	})
	until(t, "the request runs", func() bool { return gate(0).asked.Load() == 1 })
	if err := s.Reload(true); err != nil {
		t.Fatal(err)
	}
	close(gate(1).open)
	if r := ask(t, s, "POST", "/v1/predict", `{"text": "a"}`); r.status != 200 || gate(0).closed.Load() {
		t.Errorf("after a reload: %+v, the old model closed: %v", r, gate(0).closed.Load())
	}
	close(gate(0).open)
	group.Wait()
	until(t, "the old model is closed", gate(0).closed.Load)
	if gate(1).closed.Load() {
		t.Error("the new model is closed")
	}
}

// Models that are replaced again and again answer all the time, each with its version;
// a file that is no model leaves the old one.
func TestReloadUnderLoad(t *testing.T) {
	paths, err := models()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "m.safetensors")
	put := func(content []byte) {
		t.Helper()
		if err := os.WriteFile(path+".new", content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(paths["text"])
	if err != nil {
		t.Fatal(err)
	}
	put(data)
	reload := make(chan struct{})
	s := newServer(t, serve.Options{Open: open, Models: []serve.Model{{Name: "m", Path: path}}})
	address, stop := start(t, s, serve.RunOptions{Reload: reload, Watch: 3 * time.Millisecond})
	want := ask(t, s, "POST", "/v1/predict", `{"text": "when do you open?"}`).body
	var asked atomic.Int64
	var over atomic.Bool
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for !over.Load() {
				r, err := http.Post("http://"+address+"/v1/predict", "application/json", strings.NewReader(`{"text": "when do you open?"}`))
				if err != nil {
					t.Error(err)
					return
				}
				body, err := io.ReadAll(r.Body)
				r.Body.Close()
				if err != nil || r.StatusCode != 200 || string(body) != want {
					t.Errorf("%d %s %v", r.StatusCode, body, err)
					return
				}
				asked.Add(1)
			}
		})
	}
	for i := range 30 {
		before := asked.Load()
		if i%3 == 0 {
			put(data) // for Watch, which sees the new time
		} else {
			reload <- struct{}{}
		}
		until(t, "requests go on", func() bool { return asked.Load() > before+3 || t.Failed() })
	}
	put(data[:len(data)/2])
	until(t, "a broken file is refused", func() bool {
		return strings.Contains(ask(t, s, "GET", "/metrics", "").body, `treeloss_model_reloads_total{model="m",result="failed"} 1`)
	})
	if r := ask(t, s, "POST", "/v1/predict", `{"text": "when do you open?"}`); r.body != want {
		t.Errorf("after a broken file: %+v", r)
	}
	put(bytes.Clone(data))
	over.Store(true)
	group.Wait()
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// A closed server answers 503, and closing it again does nothing.
func TestClosed(t *testing.T) {
	s := newServer(t, options(t))
	s.Close()
	s.Close()
	for _, r := range []reply{ask(t, s, "POST", "/v1/predict", `{"text": "a"}`), ask(t, s, "GET", "/v1/models", ""), ask(t, s, "GET", "/v2/models/text", "")} {
		if r.status != 503 {
			t.Errorf("%+v", r)
		}
	}
}

// What runs when the server is told to stop ends; the probes tell that it leaves.
func TestGracefulStop(t *testing.T) {
	o, gate := gated(t, options(t))
	s := newServer(t, o)
	address, stop := start(t, s, serve.RunOptions{})
	var group sync.WaitGroup
	group.Go(func() {
		r, err := http.Post("http://"+address+"/v1/predict", "application/json", strings.NewReader(`{"text": "a"}`))
		if err != nil {
			t.Error(err)
			return
		}
		defer r.Body.Close()
		if r.StatusCode != 200 {
			t.Errorf("status %d", r.StatusCode)
		}
	})
	until(t, "the request runs", func() bool { return gate(0).asked.Load() == 1 })
	stopped := make(chan error)
	go func() { stopped <- stop() }()
	until(t, "it is not ready", func() bool { return ask(t, s, "GET", "/readyz", "").status == 503 })
	if r := ask(t, s, "GET", "/v2/health/ready", ""); r.status != 503 {
		t.Errorf("%+v", r)
	}
	if r := ask(t, s, "GET", "/healthz", ""); r.status != 200 {
		t.Errorf("%+v", r)
	}
	close(gate(0).open)
	group.Wait()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// Clients that send too much, too slowly or nothing are answered or cut off, and others
// have their answers meanwhile.
func TestHostileClients(t *testing.T) {
	o := options(t)
	o.Limits = serve.Limits{MaxBody: 1 << 20, Timeout: 400 * time.Millisecond}
	s := newServer(t, o)
	address, _ := start(t, s, serve.RunOptions{Connections: 20})
	dial := func(text string) net.Conn {
		t.Helper()
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, text) // a server that closes early is one of the outcomes
		return c
	}
	post := "POST /v1/predict HTTP/1.1\r\nHost: a\r\n"
	for _, tc := range []struct{ name, text, want string }{
		{"a length above the limit", post + "Content-Length: 1073741824\r\n\r\n", "413"},
		{"chunks above the limit", post + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("10000\r\n"+strings.Repeat("a", 1<<16)+"\r\n", 17), "413"},
		{"a body that does not come", post + "Content-Length: 100\r\n\r\n{", "408"},
		{"a header that does not end", post, ""},
		{"a header without end", post + strings.Repeat("X: "+strings.Repeat("a", 1000)+"\r\n", 100), "431"},
		{"no HTTP", "hello\r\n\r\n", "400"},
		{"a broken chunk", post + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", "400"},
	} {
		answer, err := bufio.NewReader(dial(tc.text)).ReadString('\n')
		if tc.want == "" && err == nil && !strings.Contains(answer, "408") || tc.want != "" && !strings.Contains(answer, " "+tc.want+" ") {
			t.Errorf("%s: %q %v, want %s or the end", tc.name, answer, err, tc.want)
		}
	}
	half := dial(post + "Content-Length: 100\r\n\r\n{").(*net.TCPConn)
	if err := half.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if answer, _ := bufio.NewReader(half).ReadString('\n'); !strings.Contains(answer, "400") {
		t.Errorf("half closed: %q, want 400", answer)
	}
	var idle []net.Conn
	for range 60 {
		idle = append(idle, dial(""))
	}
	r, err := http.Post("http://"+address+"/v1/predict", "application/json", strings.NewReader(`{"text": "a"}`))
	if err != nil || r.StatusCode != 200 {
		t.Fatalf("among idle connections: %v %v", r, err)
	}
	r.Body.Close()
	if _, err := idle[0].Read(make([]byte, 1)); err != io.EOF && !strings.Contains(fmt.Sprint(err), "reset") {
		t.Errorf("the first of 60 idle connections of 20: %v, want it closed", err)
	}
}

// All bodies together are bounded, too.
func TestManyLargeBodies(t *testing.T) {
	o := options(t)
	o.Limits = serve.Limits{MaxBody: 1000, MaxBodies: 1500}
	s := newServer(t, o)
	reader, writer := io.Pipe()
	first, _ := http.NewRequest("POST", "/v1/predict", reader)
	done := make(chan int)
	go func() {
		w := &statusWriter{header: http.Header{}}
		s.ServeHTTP(w, first)
		reader.Close()
		done <- w.status
	}()
	io.WriteString(writer, `{"text": "`+strings.Repeat("a", 800))
	io.WriteString(writer, "a") // is read when the bytes before it are counted
	if r := ask(t, s, "POST", "/v1/predict", `{"text": "`+strings.Repeat("a", 800)+`"}`); r.status != 429 || r.header.Get("Retry-After") != "1" {
		t.Errorf("%+v", r)
	}
	io.WriteString(writer, `"}`)
	writer.Close()
	if status := <-done; status != 200 {
		t.Errorf("the first has status %d", status)
	}
	if r := ask(t, s, "POST", "/v1/predict", `{"text": "`+strings.Repeat("a", 800)+`"}`); r.status != 200 {
		t.Errorf("after it: %+v", r)
	}
}

type statusWriter struct {
	header http.Header
	status int
}

func (w *statusWriter) Header() http.Header         { return w.header }
func (w *statusWriter) Write(b []byte) (int, error) { return len(b), nil }
func (w *statusWriter) WriteHeader(status int)      { w.status = status }

// TLS takes its certificate from files, and a new one on reload.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	s := newServer(t, options(t))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := s.Serve(t.Context(), l, serve.RunOptions{Cert: cert, Key: key}); err == nil {
		t.Fatal("a certificate that is not there was accepted")
	}
	writeCertificate(t, cert, key, 1)
	reload := make(chan struct{})
	address, _ := start(t, s, serve.RunOptions{Cert: cert, Key: key, Reload: reload})
	serial := func() int64 {
		c, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return c.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	if n := serial(); n != 1 {
		t.Errorf("certificate %d", n)
	}
	writeCertificate(t, cert, key, 2)
	reload <- struct{}{}
	until(t, "the new certificate", func() bool { return serial() == 2 })
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}}
	r, err := client.Post("https://"+address+"/v1/predict", "application/json", strings.NewReader(`{"text": "a"}`))
	if err != nil || r.StatusCode != 200 || r.ProtoMajor != 2 {
		t.Fatalf("%v %v", r, err)
	}
	r.Body.Close()
}

// writeCertificate writes one that is its own authority.
func writeCertificate(t *testing.T, cert, key string, serial int64) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

package remote

import (
	"bufio"
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// bucket is a fake of S3 with one bucket, "data", in memory. It checks no signature.
type bucket struct {
	mutex    sync.Mutex
	objects  map[string][]byte
	uploads  map[string]map[int][]byte
	requests int
	fault    func(n int, r *http.Request) string // what goes wrong with request n: "", 500, reset, short
}

// goWrong sets what goes wrong from now on.
func (b *bucket) goWrong(fault func(n int, r *http.Request) string) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.fault = fault
}

func tag(data []byte) string {
	sum := md5.Sum(data)
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

// body returns what a request carries, be it in the chunks of signature version 4.
func body(r *http.Request) []byte {
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING") {
		data, _ := io.ReadAll(r.Body)
		return data
	}
	var data []byte
	for in := bufio.NewReader(r.Body); ; {
		line, err := in.ReadString('\n')
		size, _, _ := strings.Cut(line, ";")
		n, bad := strconv.ParseInt(strings.TrimSpace(size), 16, 64)
		if err != nil || bad != nil || n == 0 {
			return data
		}
		chunk := make([]byte, n+2)
		if _, err := io.ReadFull(in, chunk); err != nil {
			return nil
		}
		data = append(data, chunk[:n]...)
	}
}

func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.requests++
	fault := ""
	if b.fault != nil {
		fault = b.fault(b.requests, r)
	}
	switch fault {
	case "500":
		w.WriteHeader(http.StatusInternalServerError)
		return
	case "reset":
		panic(http.ErrAbortHandler)
	case "short":
		w = &shortWriter{ResponseWriter: w}
	}
	key, ok := strings.CutPrefix(r.URL.Path, "/data/")
	query := r.URL.Query()
	upload := query.Get("uploadId")
	switch {
	case !ok && r.URL.Path != "/data":
		http.Error(w, "<Error><Code>NoSuchBucket</Code></Error>", http.StatusNotFound)
	case r.Header.Get("Authorization") == "":
		http.Error(w, "<Error><Code>AccessDenied</Code></Error>", http.StatusForbidden)
	case r.Method == http.MethodGet && key == "":
		b.list(w, query.Get("prefix"))
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		data, there := b.objects[key]
		if !there {
			http.Error(w, "<Error><Code>NoSuchKey</Code></Error>", http.StatusNotFound)
			return
		}
		w.Header().Set("ETag", tag(data))
		http.ServeContent(w, r, "", time.Unix(1, 0), bytes.NewReader(data))
	case r.Method == http.MethodPost && query.Has("uploads"):
		upload = fmt.Sprint("upload", b.requests)
		b.uploads[upload] = map[int][]byte{}
		fmt.Fprintf(w, "<InitiateMultipartUploadResult><UploadId>%s</UploadId></InitiateMultipartUploadResult>", upload)
	case r.Method == http.MethodPost && b.uploads[upload] == nil:
		http.Error(w, "<Error><Code>NoSuchUpload</Code></Error>", http.StatusNotFound)
	case r.Method == http.MethodPost:
		var data []byte
		for i := 1; i <= len(b.uploads[upload]); i++ {
			data = append(data, b.uploads[upload][i]...)
		}
		b.objects[key] = data
		delete(b.uploads, upload)
		fmt.Fprintf(w, "<CompleteMultipartUploadResult><Bucket>data</Bucket><ETag>%s</ETag></CompleteMultipartUploadResult>", tag(data))
	case r.Method == http.MethodPut && upload != "":
		n, _ := strconv.Atoi(query.Get("partNumber"))
		data := body(r)
		if sum := md5.Sum(data); base64.StdEncoding.EncodeToString(sum[:]) != r.Header.Get("Content-Md5") {
			http.Error(w, "<Error><Code>BadDigest</Code></Error>", http.StatusBadRequest)
			return
		}
		b.uploads[upload][n] = data
		w.Header().Set("ETag", tag(data))
	case r.Method == http.MethodPut:
		b.objects[key] = body(r)
		w.Header().Set("ETag", tag(b.objects[key]))
	}
}

func (b *bucket) list(w io.Writer, prefix string) {
	type content struct {
		Key  string
		Size int
		ETag string
	}
	answer := struct {
		XMLName  xml.Name `xml:"ListBucketResult"`
		Contents []content
	}{}
	for key, data := range b.objects {
		if strings.HasPrefix(key, prefix) {
			answer.Contents = append(answer.Contents, content{key, len(data), tag(data)})
		}
	}
	_ = xml.NewEncoder(w).Encode(answer)
}

// shortWriter breaks the connection in the middle of a body.
type shortWriter struct{ http.ResponseWriter }

func (w *shortWriter) Write(p []byte) (int, error) {
	_, _ = w.ResponseWriter.Write(p[:len(p)/2])
	panic(http.ErrAbortHandler)
}

// serve starts a fake and points the environment to it.
func serve(t *testing.T) *bucket {
	b := &bucket{objects: map[string][]byte{}, uploads: map[string]map[int][]byte{}}
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	pause := firstPause
	firstPause = time.Microsecond
	t.Cleanup(func() { firstPause = pause })
	return b
}

func stage(t *testing.T) *Stage {
	t.Helper()
	s, err := NewStage()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// large is longer than a piece, so that it goes in several.
func large() []byte {
	data := make([]byte, 2*piece+12345)
	r := rand.New(rand.NewPCG(1, 2))
	for i := 0; i < len(data); i += 8 {
		data[i] = byte(r.Uint32())
	}
	return data
}

// Whatever goes wrong on the way, what arrives is what was there.
func TestFetchAndSendThroughFaults(t *testing.T) {
	b := serve(t)
	data := large()
	b.objects["in/a.bin"] = data
	r := rand.New(rand.NewPCG(3, 4))
	b.goWrong(func(int, *http.Request) string { // under the mutex of the fake
		return []string{"", "", "500", "reset", "short"}[r.IntN(5)]
	})
	s := stage(t)
	path, err := s.Fetch(t.Context(), "s3://data/in/a.bin", nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes of %d arrived, or others: %v", len(got), len(data), err)
	}
	before := b.requests
	if again, err := s.Fetch(t.Context(), "s3://data/in/a.bin", nil); err != nil || again != path || b.requests != before {
		t.Error("fetched twice")
	}
	result, err := s.Result("s3://data/out/b.bin")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(result, data, 0o600); err != nil {
		t.Fatal(err)
	}
	completed := 0
	b.goWrong(func(_ int, q *http.Request) string {
		if q.Method == http.MethodPost && q.URL.Query().Get("uploadId") != "" {
			if completed++; completed == 1 {
				return "short" // it is done, but nobody hears of it
			}
		}
		return []string{"", "", "500", "reset"}[r.IntN(4)]
	})
	if err := s.Send(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.objects["out/b.bin"], data) {
		t.Error("other bytes were sent")
	}
	if text := s.Named("cannot read " + path); text != "cannot read s3://data/in/a.bin" {
		t.Error(text)
	}
}

// A server that never answers well is an error, and so is an object that is replaced.
func TestFetchFails(t *testing.T) {
	b := serve(t)
	b.objects["a"], b.objects["c"] = large(), large()
	b.goWrong(func(_ int, r *http.Request) string {
		if r.Method == http.MethodGet {
			return "short"
		}
		return ""
	})
	if _, err := stage(t).Fetch(t.Context(), "s3://data/a", nil); err == nil || !strings.Contains(err.Error(), "tried 6 times") {
		t.Errorf("short answers: %v", err)
	}
	b.goWrong(func(_ int, r *http.Request) string {
		if r.URL.Path == "/data/c" && strings.HasSuffix(r.Header.Get("Range"), "-"+fmt.Sprint(2*piece+12344)) { // the last piece
			b.objects["c"] = append([]byte("new"), b.objects["c"]...)
		}
		return ""
	})
	if _, err := stage(t).Fetch(t.Context(), "s3://data/c", nil); err == nil || !strings.Contains(err.Error(), "replaced") {
		t.Errorf("an object that changes: %v", err)
	}
	b.goWrong(nil)
	for url, want := range map[string]string{
		"s3://data/none":                "no such object, or no such bucket",
		"s3://other/a":                  "no such object, or no such bucket",
		"s3:///a":                       "needs a host or a bucket",
		"http://127.0.0.1:1/a":          "refused",
		"https://example.invalid/data/": "does not list",
	} {
		if _, err := stage(t).Fetch(t.Context(), url, nil); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), url) {
			t.Errorf("%s: %v, want %q", url, err, want)
		}
	}
	if _, err := stage(t).Result("https://example.org/m"); err == nil {
		t.Error("a result to a web server")
	}
	t.Setenv("AWS_ENDPOINT_URL", "nonsense")
	if _, err := stage(t).Fetch(t.Context(), "s3://data/a", nil); err == nil || !strings.Contains(err.Error(), "AWS_ENDPOINT_URL") {
		t.Errorf("a wrong endpoint: %v", err)
	}
}

// A folder comes and goes with all below it that is wanted.
func TestFolders(t *testing.T) {
	b := serve(t)
	for _, key := range []string{"run/part-0", "run/part-1", "run/deep/x", "other/y"} {
		b.objects[key] = []byte("of " + key)
	}
	s := stage(t)
	folder, err := s.Fetch(t.Context(), "s3://data/run/", func(name string) bool { return name != "part-1" })
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	err = filepath.WalkDir(folder, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			names = append(names, filepath.ToSlash(path[len(folder)+1:]))
		}
		return err
	})
	if err != nil || !slices.Equal(names, []string{"deep/x", "part-0"}) {
		t.Errorf("%v, %v", names, err)
	}
	out, err := s.Result("s3://data/out/")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "a.json"} {
		if err := os.WriteFile(filepath.Join(out, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Send(t.Context()); err != nil {
		t.Fatal(err)
	}
	if string(b.objects["out/a"]) != "a" || string(b.objects["out/a.json"]) != "a.json" {
		t.Errorf("%v", b.objects)
	}
}

// A web server with and without ranges.
func TestWeb(t *testing.T) {
	data := large()
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/ranges.csv":
			w.Header().Set("ETag", tag(data))
			if r.Header.Get("Range") != "" {
				asked.Add(1)
			}
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
		case "/plain.csv":
			w.Header().Set("Content-Type", "text/csv")
			_, _ = w.Write(data)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	s := stage(t)
	for _, name := range []string{"/ranges.csv?a=b", "/plain.csv"} {
		path, err := s.Fetch(t.Context(), server.URL+name, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, data) || filepath.Ext(path) != ".csv" {
			t.Errorf("%s: other bytes, or %s: %v", name, path, err)
		}
	}
	if asked.Load() != 3 {
		t.Errorf("%d pieces, want 3", asked.Load())
	}
	if _, err := s.Fetch(t.Context(), server.URL+"/none", nil); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("%v", err)
	}
}

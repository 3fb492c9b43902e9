package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// memoryStore answers as S3 does to requests for whole objects.
func memoryStore(t *testing.T) map[string][]byte {
	objects, mutex := map[string][]byte{}, sync.Mutex{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mutex.Lock()
		defer mutex.Unlock()
		key := strings.TrimPrefix(r.URL.Path, "/")
		data, there := objects[key]
		switch {
		case r.Method == http.MethodPut:
			data, err := io.ReadAll(r.Body)
			if err != nil || r.Header.Get("Content-Encoding") != "" || strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING") {
				_, data, _ = bytes.Cut(data, []byte("\r\n")) // one chunk, with its signature before it
				data = data[:bytes.LastIndex(data, []byte("\r\n0;"))]
			}
			objects[key] = data
		case r.URL.Query().Has("list-type"):
			bucket := key
			answer := "<ListBucketResult>"
			for key, data := range objects {
				if name, ok := strings.CutPrefix(key, strings.TrimSuffix(bucket, "/")+"/"); ok && strings.HasPrefix(name, r.URL.Query().Get("prefix")) {
					answer += fmt.Sprintf("<Contents><Key>%s</Key><Size>%d</Size><ETag>v1</ETag></Contents>", name, len(data))
				}
			}
			_, _ = io.WriteString(w, answer+"</ListBucketResult>")
		case !there:
			http.Error(w, "<Error><Code>NoSuchKey</Code></Error>", http.StatusNotFound)
		default:
			w.Header().Set("ETag", `"v1"`)
			http.ServeContent(w, r, "", time.Unix(1, 0), bytes.NewReader(data))
		}
	}))
	t.Cleanup(server.Close)
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	return objects
}

// URLs of objects stand where files do: to train, evaluate, predict in parts and gather.
func TestRemote(t *testing.T) {
	objects := memoryStore(t)
	folder := t.TempDir()
	data, model := filepath.Join(folder, "train.csv"), filepath.Join(folder, "m.safetensors")
	var rows strings.Builder
	rows.WriteString("text,label\n")
	for range 20 {
		rows.WriteString("where is my card,card\nthe fee is too high,fee\nlost my phone,phone\n")
	}
	if err := os.WriteFile(data, []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	objects["data/in/train.csv"] = []byte(rows.String())
	here := succeed(t, "train", "--data", data, "--model", model)
	there := succeed(t, "train", "--data=s3://data/in/train.csv", "--model", "s3://data/out/m.safetensors")
	if !bytes.Equal(objects["data/out/m.safetensors"], content(t, model)) {
		t.Error("another model")
	}
	if !strings.Contains(there.out, "s3://data/out/m.safetensors: 3 classes") || strings.Contains(there.out+there.log, "treeloss-remote") {
		t.Errorf("out %q, log %q; a local run says %q", there.out, there.log, here.out)
	}
	want := succeed(t, "predict", "--model", model, "--text", "text", data).out
	for i, part := range []string{"0/2", "1/2", "1/2"} {
		o := succeed(t, "predict", "--model", "s3://data/out/m.safetensors", "s3://data/in/train.csv", "--text", "text", "--shard", part, "--out", "s3://data/parts")
		if done := strings.Contains(o.log, "already"); done != (i == 2) {
			t.Errorf("part %s, call %d: %s", part, i, o.log)
		}
	}
	if got := succeed(t, "gather", "s3://data/parts").out; got != want {
		t.Errorf("gathered %q, want %q", got, want)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"predict", "--model", "s3://data/none", data}, "s3://data/none: there is no such object"},
		{[]string{"train", "--data", "s3://data/out/m.safetensors", "--model", model}, "s3://data/out/m.safetensors: is a safetensors file"},
		{[]string{"train", "--data", data, "--model", "https://example.org/m"}, "https://example.org/m: results go to"},
	} {
		if o := call(t, c.args...); o.status == 0 || !strings.Contains(o.log, c.want) || strings.Count(o.log, "\n") != 1 {
			t.Errorf("%v: status %d, %q, want %q", c.args, o.status, o.log, c.want)
		}
	}
}

package treeloss_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// embedder is a program that only predicts.
const embedder = `package main

import (
	"fmt"
	"os"

	"github.com/treeloss/treeloss/record"
	"github.com/treeloss/treeloss/softmax"
)

func main() {
	m, err := softmax.Load(os.Args[1])
	if err != nil {
		panic(err)
	}
	fmt.Println(m.NewPredictor().Predict(record.Example{Text: os.Args[2]}, 3))
}
`

// A program that only predicts links no reader of files of examples, no figures and no
// networks. Its size, which softmax's documentation gives, is below 8 MB.
func TestPredictingLinksLittle(t *testing.T) {
	deps, err := exec.Command("go", "list", "-deps", "./softmax").Output()
	if err != nil {
		t.Skipf("the command go, which lists what a package imports, does not run here: %v", err)
	}
	for _, heavy := range []string{"parquet", "lz4", "brotli", "protobuf", "gomlx", "treeloss/dataset", "treeloss/internal/report", "net/http"} {
		if strings.Contains(string(deps), heavy) {
			t.Errorf("package softmax needs %s", heavy)
		}
	}
	if testing.Short() {
		return
	}
	dir, err := os.MkdirTemp(".", "_embed") // within the module, and not listed by ./...
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(embedder), 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "embedder")
	if text, err := exec.Command("go", "build", "-o", program, "./"+filepath.Join(dir, "main.go")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	info, err := os.Stat(program)
	if err != nil {
		t.Fatal(err)
	}
	if mb := float64(info.Size()) / 1e6; mb > 8 {
		t.Errorf("a program that only predicts has %.1f MB, want at most 8", mb)
	}
}

// Command licences writes the licence texts of all that the program links, on all
// platforms that it is released for:
//
//	go run ./scripts/licences -out LICENSES.txt
//
// It runs in the root of the repository, after go mod download.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/treeloss/treeloss/scripts/internal/licences"
)

func main() {
	out := flag.String("out", "LICENSES.txt", "file to write")
	flag.Parse()
	texts, err := licences.Texts(".", "./cmd/treeloss", licences.Platform{OS: "linux", Arch: "amd64"}, licences.Platform{OS: "darwin", Arch: "arm64"}, licences.Platform{OS: "windows", Arch: "amd64"})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(*out), 0o777)
	}
	if err == nil {
		err = os.WriteFile(*out, texts, 0o666)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

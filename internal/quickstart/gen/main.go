// Command gen packs the CSV files of banking77 (Casanueva et al. 2020, CC BY 4.0) for
// the quickstart to embed. See the package comment of internal/quickstart.
package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
)

func main() {
	log.SetFlags(0)
	from := flag.String("data", cmp.Or(os.Getenv("BANKING77"), "../../../shared/data/banking77"), "folder with train.csv and test.csv of banking77")
	to := flag.String("out", ".", "folder to write to")
	flag.Parse()
	for _, name := range []string{"train.csv", "test.csv"} {
		if err := pack(filepath.Join(*from, name), filepath.Join(*to, name+".gz")); err != nil {
			log.Fatal("gen: ", err)
		}
	}
}

// pack writes the file from to to, packed with gzip and without its time and name.
func pack(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(content)
	}
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		err = os.WriteFile(to, packed.Bytes(), 0o644)
	}
	if err == nil {
		fmt.Printf("%s: %d bytes\n", to, packed.Len())
	}
	return err
}

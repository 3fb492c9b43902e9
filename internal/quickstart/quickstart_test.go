package quickstart

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
)

func TestData(t *testing.T) {
	d, train, test, err := Data(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(train) != 10003 || len(test) != 3080 || len(d.Classes.Labels) != 77 {
		t.Errorf("%d training and %d test rows of %d classes, want 10003 and 3080 of 77", len(train), len(test), len(d.Classes.Labels))
	}
	for class, n := range d.Count(test) {
		if n != 40 {
			t.Errorf("%d test rows of %s, want 40 as of each", n, d.Classes.Labels[class])
		}
	}
	if own := d.Labelled(test); len(own) != len(test) {
		t.Errorf("%d test rows have a class that is trained, want all", len(own))
	}
}

// The files that users get are what the program trains on.
func TestWriteFiles(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new")
	if err := WriteFiles(folder); err != nil {
		t.Fatal(err)
	}
	train := filepath.Join(folder, "train.csv")
	c, _, err := corpus.Read([]string{train}, dataset.Options{}, corpus.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	embedded := corpus.New(dataset.Text, nil)
	if err := read(embedded, "train.csv.gz", files[0].packed); err != nil {
		t.Fatal(err)
	}
	if c.Fingerprint() != embedded.Fingerprint() {
		t.Error("train.csv is another set of examples than the embedded ones")
	}
	before, err := os.ReadFile(train)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(folder, "test.csv")); err != nil {
		t.Fatal(err)
	}
	if err := WriteFiles(folder); err == nil || !strings.Contains(err.Error(), "train.csv is there already") {
		t.Errorf("over a train.csv: error %v", err)
	}
	after, err := os.ReadFile(train)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("train.csv was changed (%v)", err)
	}
	if _, err := os.Stat(filepath.Join(folder, "test.csv")); err == nil {
		t.Error("test.csv was written beside a train.csv of the user")
	}
}

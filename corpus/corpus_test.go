package corpus

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/dataset"
)

func TestCorpusFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	train := write("train.csv", "text,label\nwhere is my card,cat\nfee again,dog\nmy card is lost,cat\nanother fee,dog\n")
	test := write("test.tsv", "label\ttext\nbird\tsomething new\ndog\tthe fee\n")
	c, how, err := Read([]string{train}, dataset.Options{}, Limits{})
	if err != nil || how == "" {
		t.Fatal(how, err)
	}
	rows, err := c.Append([]string{test}, "")
	if err != nil || !slices.Equal(rows, []int{4, 5}) {
		t.Fatal(rows, err)
	}
	numbers := write("numbers.csv", "a,b,label\n1,2,cat\n3,4,dog\n")
	if _, err := c.Append([]string{numbers}, ""); err == nil {
		t.Error("numbers were read into a corpus of texts")
	}
	if _, err := c.Data(ctx, []int{0, 2}, ClassFiles{}); !errors.Is(err, ErrOneClass) {
		t.Errorf("error %v, want ErrOneClass", err)
	}
	for _, tc := range []struct{ name, taxonomy, want string }{
		{"a class is missing", "child,parent\ncat,animal\n", "dog"},
		{"a cycle", "child,parent\ncat,dog\ndog,cat\n", "ancestor"},
		{"damaged tree file", "{", "tax"},
	} {
		if _, err := c.Data(ctx, dataset.Range(0, 4), ClassFiles{Taxonomy: write("tax.csv", tc.taxonomy)}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want one with %q", tc.name, err, tc.want)
		}
	}
	d, err := c.Data(ctx, dataset.Range(0, 4), ClassFiles{Taxonomy: write("tax.csv", "child,parent\ncat,animal\ndog,animal\n")})
	if err != nil || d.Classes.Taxonomy.Classes() != 2 {
		t.Fatal(err)
	}
	if d.Class[4] != -1 || d.Class[5] != 1 {
		t.Errorf("test classes %v, want -1 for a label never trained and 1", d.Class[4:])
	}
	if given := d.Classes.Sources(); !slices.Equal(given, []classinfo.Source{classinfo.Taxonomy}) {
		t.Errorf("sources %v, want the taxonomy", given)
	}
}

func TestFingerprint(t *testing.T) {
	print := func(examples ...dataset.Example) string {
		c := New(dataset.Text, nil)
		for _, e := range examples {
			if err := c.Add(e); err != nil {
				t.Fatal(err)
			}
		}
		return c.Fingerprint()
	}
	a, b := dataset.Example{Text: "ab", Label: "c", Weight: 1}, dataset.Example{Text: "b", Label: "ca", Weight: 1}
	if print(a) == print(b) || print(a, b) == print(b, a) {
		t.Error("fingerprints of other examples agree")
	}
	if first, again := print(a, b), print(a, b); first != again {
		t.Error("fingerprints of the same examples differ")
	}
	c, e := a, a
	c.Mix = []dataset.Share{{Label: "c", Share: 0.75}, {Label: "d", Share: 0.25}}
	e.Mix = []dataset.Share{{Label: "c", Share: 0.5}, {Label: "d", Share: 0.5}}
	if print(a) == print(c) || print(c) == print(e) {
		t.Error("fingerprints of other shares agree")
	}
}

package dataset

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// randomFiles are files of each format with records of very different length and what
// makes their ends hard to find. Places of examples tell them apart.
func randomFiles(rng *rand.Rand) map[string]string {
	var csv, tsv, jsonl, words, sparse, plain strings.Builder
	csv.WriteString("\n\ntext,label\n")
	tsv.WriteString("text\tlabel\r\n")
	for i := range 1 + rng.IntN(40) {
		long := strings.Repeat("x ", rng.IntN(1+rng.IntN(60)))
		blank := strings.Repeat("\n", max(0, rng.IntN(6)-3))
		fmt.Fprintf(&csv, "%s\"%s\nline two, \"\"quoted\"\"\n\n%d\",c%d\n%s, c%d\n", blank, long, i, i%3, long, i%2)
		fmt.Fprintf(&tsv, "%s5\" pipe %d\tc%d\r\n\"quoted\t\n %s\"\tc\n", blank, i, i%3, long)
		fmt.Fprintf(&jsonl, "%s{\"text\": \"a\\n%s%d\", \"label\": \"c%d\"}\n", strings.ReplaceAll(blank, "\n", " \n"), long, i, i%3)
		fmt.Fprintf(&words, "%s__label__c%d %s %d\n", blank, i%3, long, i)
		fmt.Fprintf(&sparse, "%s# nothing\nc%d %d:1 # %s\n", blank, i%3, i+1, long)
		fmt.Fprintf(&plain, "%s%s%d\r\n", blank, long, i)
	}
	files := map[string]string{"f.csv": csv.String(), "f.tsv": tsv.String(), "f.jsonl": jsonl.String(), "f.ft": words.String(), "f.svm": sparse.String(), "f.plain": plain.String()}
	if rng.IntN(2) == 0 {
		for name, text := range files {
			files[name] = strings.TrimRight(text, "\r\n")
		}
	}
	if rng.IntN(2) == 0 {
		for name, text := range files {
			files[name] = "\xef\xbb\xbf" + text
		}
	}
	return files
}

// checkParts compares the examples of n parts, one behind the other, with the whole.
func checkParts(t *testing.T, paths []string, opts Options, counts ...int) {
	t.Helper()
	read := func(p Shard) []Example {
		t.Helper()
		opts.Shard = p
		r, err := OpenAll(paths, opts)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		var all []Example
		for range 2 { // a part can be walked again
			all = nil
			for e, err := range r.All() {
				if err != nil {
					t.Fatalf("%s of part %v: %v", paths[0], p, err)
				}
				all = append(all, e.Clone())
			}
		}
		return all
	}
	whole := read(Shard{})
	for _, n := range counts {
		var joined []Example
		most := 0
		for i := range n {
			part := read(Shard{i, n})
			most = max(most, len(part))
			joined = append(joined, part...)
		}
		if len(joined) != len(whole) {
			t.Fatalf("%s: %d parts have %d examples, the whole has %d", paths[0], n, len(joined), len(whole))
		}
		for i := range whole {
			if !same(joined[i], whole[i]) || joined[i].Place != whole[i].Place {
				t.Fatalf("%s, %d parts: example %d is %+v, want %+v", paths[0], n, i, joined[i], whole[i])
			}
		}
	}
}

// The parts of a file are all of it, in order, with their lines, wherever the cuts fall.
func TestParts(t *testing.T) {
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 1))
		files := randomFiles(rng)
		for name, text := range files {
			opts := Options{Unlabelled: name == "f.plain"}
			if opts.Unlabelled {
				opts.Format = Lines
			}
			checkParts(t, []string{write(t, name, []byte(text))}, opts, 1, 2, 3, 7, len(text)/3+1)
		}
	}
	labels := write(t, "labels.txt", []byte("a\nb\nc"))
	for _, name := range []string{"x.npy", "x.npy.gz"} {
		data := npyBytes(1, "<f4", "(3, 2)", []float32{0, 1, 2, 3, 4, 5})
		if name == "x.npy.gz" {
			data = gzipped(data)
		}
		checkParts(t, []string{write(t, name, data)}, Options{Labels: labels}, 2, 3, 5)
	}
	checkParts(t, []string{parquetFiles + "snappy-v2.parquet"}, Options{}, 2, 3, 4, 40)
}

// Of several files, packed ones too, each part has whole ones.
func TestPartsOfFiles(t *testing.T) {
	var paths []string
	for i := range 9 {
		var b strings.Builder
		b.WriteString("text,label\n")
		for j := range 1 + i*i%5 {
			fmt.Fprintf(&b, "file %d row %d,c\n", i, j)
		}
		name, data := fmt.Sprintf("%d.csv", i), []byte(b.String())
		if i%3 == 2 {
			name, data = name+".gz", gzipped(data)
		}
		paths = append(paths, write(t, name, data))
	}
	checkParts(t, paths, Options{}, 2, 3, 9, 20)
}

func TestPartsRefused(t *testing.T) {
	text := []byte("text,label\na,b\nc,d\n")
	packed := write(t, "f.csv.gz", gzipped(text))
	utf16 := write(t, "f.csv", []byte("\xff\xfet\x00e\x00x\x00t\x00,\x00l\x00a\x00b\x00e\x00l\x00\n\x00a\x00,\x00b\x00\n\x00"))
	for _, path := range []string{packed, utf16} {
		r, err := Open(path, Options{Shard: Shard{1, 2}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := collect(r); err == nil || !strings.Contains(err.Error(), "in parts") {
			t.Errorf("%s: error %v", path, err)
		}
		r.Close()
	}
	for _, p := range []Shard{{2, 2}, {-1, 3}, {1, 0}, {0, -1}} {
		if _, err := Open(packed, Options{Shard: p}); err == nil || !strings.Contains(err.Error(), "Shard is") {
			t.Errorf("part %v: error %v", p, err)
		}
	}
	// A row that cannot be used is told by its own part alone.
	bad := write(t, "bad.csv", []byte("text,label\n"+strings.Repeat("some text,c\n", 50)+"one,two,three\n"+strings.Repeat("some text,c\n", 50)))
	failed := 0
	for i := range 8 {
		r, err := Open(bad, Options{Shard: Shard{i, 8}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := collect(r); err != nil {
			failed++
			if e := (*Error)(nil); !errors.As(err, &e) || e.Line != 52 {
				t.Errorf("part %d: %v", i, err)
			}
		}
		r.Close()
	}
	if failed != 1 {
		t.Errorf("%d of 8 parts told of the bad row, want 1", failed)
	}
}

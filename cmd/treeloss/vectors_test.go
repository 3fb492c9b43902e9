package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// cardVectors is a word2vec text file of our own: cards lies near card, fee far
// from it, and nothing has a direction.
const cardVectors = "5 2\ncard 1 0\ncards 0.75 0.25\nfee -1 0.5\nnothing 0 0\ntab\\ 0 2\n"

// fastTextModel is a fastText .bin of two words of one number and three rows of
// n-grams of 3 characters, which are worth 1, 10 and 100.
func fastTextModel(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	write := func(values ...any) {
		for _, v := range values {
			if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(int32(0x2f4f16ba), int32(12))                // magic, version
	write([]int32{1, 5, 5, 1, 5, 1, 2, 1, 3, 3, 3, 1}) // dim, ws, epoch, minCount, neg, wordNgrams, loss, model, bucket, minn, maxn, lrUpdateRate
	write(float64(1e-4))
	write([]int32{2, 2, 0}, []int64{9, -1}) // entries, words, labels, tokens, pruned
	for _, word := range []string{"card", "fee"} {
		b.WriteString(word + "\x00")
		write(int64(4), int8(0))
	}
	write(false, []int64{5, 1}, []float32{4, -4, 1, 10, 100}) // quantised, rows, columns, the rows
	return file(t, "tiny.bin", b.String())
}

func TestVectorsInfo(t *testing.T) {
	text := file(t, "cards.vec", cardVectors)
	for _, tc := range []struct {
		name, in string
		args     []string
		want     map[string]any
		shown    []string
	}{
		{"word2vec text", "", []string{text}, map[string]any{"file": text, "format": "word2vec text", "words": 5.0, "dimensions": 2.0, "subwords": false},
			[]string{"word2vec text", "have no vector"}},
		{"gzip", "", []string{file(t, "cards.vec.gz", pack(t, ".gz", cardVectors))}, map[string]any{"words": 5.0}, nil},
		{"GloVe from standard input", "card 1 0\nfee 0 1\n", []string{"-"}, map[string]any{"file": "standard input", "format": "GloVe text", "words": 2.0}, nil},
		{"fastText", "", []string{fastTextModel(t)}, map[string]any{"format": "fastText binary", "words": 2.0, "dimensions": 1.0, "subwords": true, "min_n": 3.0, "max_n": 3.0, "buckets": 3.0, "supervised": false},
			[]string{"n-grams of 3 to 3 characters in 3 rows"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			args := append([]string{"vectors", "info", "--vectors"}, tc.args...)
			o := callWith(t, tc.in, append(args, "--json")...)
			if o.status != 0 || o.log != "" {
				t.Fatalf("status %d, log %q", o.status, o.log)
			}
			got := parse(t, o.out)
			for key, want := range tc.want {
				if got[key] != want {
					t.Errorf("%s is %v, want %v", key, got[key], want)
				}
			}
			o = callWith(t, tc.in, args...)
			for _, want := range tc.shown {
				if !strings.Contains(o.out, want) {
					t.Errorf("%q, want %q in it", o.out, want)
				}
			}
		})
	}
}

func TestVectorsGet(t *testing.T) {
	text := file(t, "cards.vec", cardVectors)
	o := succeed(t, "vectors", "get", "--vectors", text, "fee", "cards", "fee")
	if want := "fee -1 0.5\ncards 0.75 0.25\nfee -1 0.5\n"; o.out != want {
		t.Errorf("%q, want the words in the order asked for: %q", o.out, want)
	}
	// What get prints is itself a file of word vectors.
	all := succeed(t, "vectors", "get", "--vectors", text, "card", "cards", `tab\`)
	again := succeed(t, "vectors", "get", "--vectors", file(t, "again.txt", all.out), "card", "cards", `tab\`)
	if again.out != all.out {
		t.Errorf("%q read again is %q", all.out, again.out)
	}
	o = callWith(t, cardVectors, "vectors", "get", "--vectors", "-", "--json", "card")
	if got := parse(t, o.out); o.status != 0 || len(got["unknown"].([]any)) != 0 {
		t.Errorf("status %d, %q", o.status, o.out)
	}
	// </s> has no n-grams; of <dog> there are <do, dog and og>.
	o = call(t, "vectors", "get", "--vectors", fastTextModel(t), "dog", "card", "</s>", "--json")
	if o.status != 1 || !strings.Contains(o.log, `no vector for "</s>"`) {
		t.Errorf("status %d, log %q", o.status, o.log)
	}
	var found struct {
		Vectors []wordVector
		Unknown []string
	}
	if err := json.Unmarshal([]byte(o.out), &found); err != nil {
		t.Fatal(err)
	}
	if len(found.Vectors) != 2 || found.Vectors[0].Source != "n-grams" || found.Vectors[1].Source != "file" || len(found.Unknown) != 1 {
		t.Fatalf("%+v", found)
	}
	if x := 3 * float64(found.Vectors[0].Vector[0]); math.Abs(x-math.Round(x)) > 1e-4 || x < 3 || x > 300 {
		t.Errorf("dog is %v, want the mean of three of 1, 10 and 100", found.Vectors[0].Vector)
	}
}

func TestVectorsGetUnknown(t *testing.T) {
	text := file(t, "cards.vec", cardVectors)
	o := call(t, "vectors", "get", "--vectors", text, "dog", "card", "cat", "dog")
	if o.status != 1 || o.out != "card 1 0\n" || !strings.Contains(o.log, `no vector for "dog", "cat":`) || strings.Count(o.log, "\n") != 1 {
		t.Errorf("status %d, %q, %q: want the known word, then one line that names the others once", o.status, o.out, o.log)
	}
	many := []string{"vectors", "get", "--vectors", text}
	for i := range 13 {
		many = append(many, "w"+strconv.Itoa(i))
	}
	if o := call(t, many...); o.status != 1 || !strings.Contains(o.log, `"w9" and 3 more`) {
		t.Errorf("status %d, %q", o.status, o.log)
	}
}

func TestVectorsNearest(t *testing.T) {
	text := file(t, "cards.vec", cardVectors)
	o := succeed(t, "vectors", "nearest", "--vectors", text, "card")
	want := "cards\t0.948683\n" + `tab\\` + "\t0.000000\nfee\t-0.894427\n"
	if o.out != want {
		t.Errorf("%q, want %q: not the word itself, nor one without a direction", o.out, want)
	}
	o = succeed(t, "vectors", "nearest", "--vectors", text, "card", "--top", "1", "--json")
	got := parse(t, o.out)
	near := got["nearest"].([]any)
	if got["word"] != "card" || got["source"] != "file" || len(near) != 1 || near[0].(map[string]any)["word"] != "cards" {
		t.Errorf("%v", got)
	}
	o = succeed(t, "vectors", "nearest", "--vectors", text, "card", "--top", strconv.Itoa(math.MaxInt))
	if strings.Count(o.out, "\n") != 3 {
		t.Errorf("%q, want all three", o.out)
	}
	o = succeed(t, "vectors", "nearest", "--vectors", fastTextModel(t), "dog")
	if !strings.HasPrefix(o.out, "card\t1.000000\n") {
		t.Errorf("%q, want card for a word from n-grams", o.out)
	}
	o = succeed(t, "vectors", "nearest", "--vectors", file(t, "one.txt", "card 1 0\n"), "--json", "card")
	if !strings.Contains(o.out, `"nearest": []`) {
		t.Errorf("%q, want an empty list", o.out)
	}
}

func TestVectorsTwice(t *testing.T) {
	twice := file(t, "twice.txt", "card 1 0\ncard 0 1\nfee 0 1\n")
	o := succeed(t, "vectors", "get", "--vectors", twice, "card")
	if o.out != "card 1 0\n" || !strings.Contains(o.log, "first vectors count") {
		t.Errorf("%q, %q: want the first, and a word about the second", o.out, o.log)
	}
}

func TestBadVectors(t *testing.T) {
	text := file(t, "cards.vec", cardVectors)
	refuse(t, quickModel(t), []badInput{
		{"no command", []string{"vectors", "list"}, 2, []string{`"list"`, "get, info, names and nearest"}},
		{"info without file", []string{"vectors", "info"}, 2, []string{"--vectors"}},
		{"info of a word", []string{"vectors", "info", "--vectors", text, "card"}, 2, []string{`"card"`}},
		{"get without file", []string{"vectors", "get", "card"}, 2, []string{"--vectors"}},
		{"get without words", []string{"vectors", "get", "--vectors", text}, 2, []string{"no words"}},
		{"an empty word", []string{"vectors", "get", "--vectors", text, ""}, 2, []string{`""`}},
		{"a word of two lines", []string{"vectors", "get", "--vectors", text, "a\nb"}, 2, []string{`"a\nb"`}},
		{"nearest without file", []string{"vectors", "nearest", "card"}, 2, []string{"--vectors"}},
		{"nearest of two", []string{"vectors", "nearest", "--vectors", text, "card", "fee"}, 2, []string{"one word"}},
		{"nearest of none", []string{"vectors", "nearest", "--vectors", text, "card", "--top", "0"}, 2, []string{"--top"}},
		{"nearest of an unknown word", []string{"vectors", "nearest", "--vectors", text, "dog"}, 1, []string{"cards.vec", `"dog"`, "spelling"}},
		{"nearest of no direction", []string{"vectors", "nearest", "--vectors", text, "nothing"}, 1, []string{"cards.vec", `"nothing"`, "zeros"}},
		{"no such file", []string{"vectors", "info", "--vectors", "missing.bin"}, 1, []string{"missing.bin", "check the path"}},
		{"a folder", []string{"vectors", "info", "--vectors", "testdata"}, 1, []string{"testdata", "folder"}},
		{"an empty file", []string{"vectors", "info", "--vectors", file(t, "empty.vec", "")}, 1, []string{"empty.vec", "empty"}},
		{"a table", []string{"vectors", "info", "--vectors", desk}, 1, []string{"desk.csv", "word2vec"}},
		{"a model", []string{"vectors", "info", "--vectors", "MODEL"}, 1, []string{"m.safetensors"}},
		{"cut short", []string{"vectors", "info", "--vectors", file(t, "cut.vec", "9 2\ncard 1 0\n")}, 1, []string{"cut.vec"}},
		{"NaN", []string{"vectors", "nearest", "--vectors", file(t, "nan.txt", "card 1 0\nfee NaN 1\n"), "card"}, 1, []string{"nan.txt", "NaN"}},
		{"cut fastText", []string{"vectors", "get", "--vectors", file(t, "cut.bin", string(content(t, fastTextModel(t))[:100])), "card"}, 1, []string{"cut.bin", "ends inside"}},
	})
}

func TestVectorsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	text := file(t, "cards.vec", cardVectors)
	blocked, w := io.Pipe() // nothing ever comes
	defer w.Close()
	for _, path := range []string{text, "-"} {
		var out, log bytes.Buffer
		status := execute(ctx, []string{"vectors", "info", "--vectors", path}, blocked, &out, &log)
		if status != 130 || out.Len() > 0 || !strings.Contains(log.String(), "interrupted") {
			t.Errorf("%s: status %d, %q, %q", path, status, out.String(), log.String())
		}
	}
}

// The real files, where they are there.
func TestVectorsOfSharedData(t *testing.T) {
	folder := "../../../shared/data/label-vectors"
	if _, err := os.Stat(folder); err != nil {
		t.Skip("the real data of ../shared is not beside the repository: no label-vectors")
	}
	for name, want := range map[string]string{
		"emoji2vec.bin":         "word2vec binary",
		"word2vec-imagenet.txt": "word2vec text",
		"fasttext-clinc.vec":    "word2vec text",
		"fasttext-clinc.bin":    "fastText binary",
	} {
		o := succeed(t, "vectors", "info", "--json", "--vectors", filepath.Join(folder, name))
		if got := parse(t, o.out)["format"]; got != want {
			t.Errorf("%s is %v, want %s", name, got, want)
		}
	}
	// Words and numbers as fastText itself printed them.
	expected := strings.Split(strings.TrimSpace(string(content(t, filepath.Join(folder, "fasttext-clinc-expected.txt")))), "\n")
	args := []string{"vectors", "get", "--vectors", filepath.Join(folder, "fasttext-clinc.bin")}
	for _, line := range expected {
		word, _, _ := strings.Cut(line, " ")
		args = append(args, word)
	}
	got := strings.Split(strings.TrimSpace(succeed(t, args...).out), "\n")
	if len(got) != len(expected) {
		t.Fatalf("%d lines, want %d", len(got), len(expected))
	}
	for i, line := range expected {
		want, have := strings.Fields(line), strings.Fields(got[i])
		if len(want) != len(have) || want[0] != have[0] {
			t.Fatalf("%q, want %q", got[i], line)
		}
		for j := range want[1:] {
			a, errA := strconv.ParseFloat(want[j+1], 64)
			b, errB := strconv.ParseFloat(have[j+1], 64)
			if errA != nil || errB != nil || math.Abs(a-b) > 1e-4 {
				t.Fatalf("%s: number %d is %s, want %s", want[0], j+1, have[j+1], want[j+1])
			}
		}
	}
}

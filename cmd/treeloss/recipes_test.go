package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// recipe returns the calls of treeloss in the indented lines of a document, with
// the variables of its shell put in, and the words of a file for $(grep -v ' ' FILE).
// What is redirected is a file's name behind ">", at the end.
func recipe(t *testing.T, path string) [][]string {
	t.Helper()
	variable := regexp.MustCompile(`^    ([a-z]+)="(.*)"$`)
	grep := regexp.MustCompile(`\$\(grep -v ' ' (\S+)\)`)
	values := map[string]string{}
	var calls [][]string
	expand := func(line string) string {
		return os.Expand(line, func(name string) string {
			v, ok := values[name]
			if !ok {
				t.Errorf("%s: %s: no variable %s above", path, line, name)
			}
			return v
		})
	}
	for line := range strings.Lines(string(content(t, path))) {
		line = strings.TrimRight(line, "\n")
		if m := variable.FindStringSubmatch(line); m != nil {
			values[m[1]] = expand(m[2])
			continue
		}
		line, ok := strings.CutPrefix(line, "    treeloss ")
		if !ok {
			continue
		}
		if m := grep.FindStringSubmatch(line); m != nil {
			var words []string
			for word := range strings.Lines(string(content(t, filepath.Join(filepath.Dir(path), "..", m[1])))) {
				if !strings.Contains(word, " ") {
					words = append(words, strings.TrimSpace(word))
				}
			}
			line = strings.Replace(line, m[0], strings.Join(words, " "), 1)
		}
		line, _, _ = strings.Cut(expand(line), " #")
		calls = append(calls, strings.Fields(strings.ReplaceAll(line, "'", "")))
	}
	return calls
}

// redirected cuts "> FILE" off a call.
func redirected(args []string) (call []string, file string) {
	if n := len(args); n > 2 && args[n-2] == ">" {
		return args[:n-2], args[n-1]
	}
	return args, ""
}

// Each command of the recipes is a right call: where none of the files are there
// it fails for want of one of them, and not for its flags.
func TestRecipesAreRightCalls(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for name, least := range map[string]int{"data.md": 1, "classes.md": 3, "results.md": 6, "networks.md": 7, "serving.md": 2, "explore.md": 2, "model-file.md": 3, "encoders.md": 4, "cifar100.md": 8, "imagenet.md": 7, "twitter.md": 6} {
		calls := recipe(t, filepath.Join(root, "docs", name))
		if len(calls) < least {
			t.Errorf("%s: %d commands, want at least %d", name, len(calls), least)
		}
		for _, args := range calls {
			t.Chdir(t.TempDir())
			args, _ := redirected(args)
			o := call(t, args...)
			missing := strings.Contains(o.log, "no such") || strings.Contains(o.log, "there is no file") || strings.Contains(o.log, "has no config.json")
			if o.status != 1 || !missing || strings.Count(o.log, "\n") != 1 {
				t.Errorf("%s: treeloss %s: status %d, %q; want 1 and a file that is missing", name, strings.Join(args, " "), o.status, o.log)
			}
		}
	}
}

// The commands of the CIFAR-100 recipe go through from the first to the last, one
// epoch each, on a few small pictures.
func TestRecipeOfCIFAR100(t *testing.T) {
	if testing.Short() {
		t.Skip("trains three networks, some seconds: left out by -short")
	}
	path, err := filepath.Abs("../../docs/cifar100.md")
	if err != nil {
		t.Fatal(err)
	}
	calls := recipe(t, path)
	dir := pictureFolder(t, 3) // of classes 0, 1 and 2: apples, aquarium fish, babies
	words := content(t, filepath.Join(filepath.Dir(path), "cifar100-words.txt"))
	t.Chdir(dir)
	if err := errors.Join(os.Mkdir("cifar-100-binary", 0o777), os.Mkdir("docs", 0o777), os.WriteFile("docs/cifar100-words.txt", words, 0o600),
		os.Rename("train.bin", "cifar-100-binary/train.bin"), os.Rename("test.bin", "cifar-100-binary/test.bin")); err != nil {
		t.Fatal(err)
	}
	// 100 names, of which only the number matters here, and vectors of all words and
	// of the parts of those that are two.
	var names, vectors bytes.Buffer
	all := strings.Fields(string(words))
	fmt.Fprintf(&vectors, "%d 2\n", len(all))
	for i, word := range all {
		fmt.Fprintf(&vectors, "%s ", word)
		binary.Write(&vectors, binary.LittleEndian, []float32{float32(i) + 1, float32(i * i % 17)})
		vectors.WriteByte('\n')
	}
	for i := range 100 {
		fmt.Fprintf(&names, "class%d\n", i)
	}
	if err := errors.Join(os.WriteFile("cifar-100-binary/fine_label_names.txt", names.Bytes(), 0o600), os.WriteFile("GoogleNews-vectors-negative300.bin", vectors.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, args := range calls {
		args, file := redirected(args)
		if args[0] == "train" {
			for i := range args {
				if args[i] == "--epochs" {
					args[i+1] = "1"
				}
			}
		}
		if args[0] == "train" || args[0] == "embed" || args[0] == "evaluate" {
			args = append(args, "--backend", "go")
		}
		o := succeed(t, args...)
		switch {
		case file != "":
			if err := os.WriteFile(file, []byte(o.out), 0o600); err != nil {
				t.Fatal(err)
			}
		case args[0] == "train" && !(strings.Contains(o.log, "4 classes with 1 of 3 pictures") && strings.Contains(o.log, "2 examples of 96 classes")):
			t.Errorf("not the paper's 96 classes: %s", o.log)
		case args[0] == "evaluate" && !strings.Contains(o.out, "similarity accuracy (label vectors)"):
			t.Errorf("evaluate says %s", o.out)
		}
	}
}

// So do those of the Twitter recipe, on a few tweets and a tiny BERT.
func TestRecipeOfTwitter(t *testing.T) {
	path, err := filepath.Abs("../../docs/twitter.md")
	if err != nil {
		t.Fatal(err)
	}
	calls := recipe(t, path)
	folder := bertFolder(t)
	t.Chdir(t.TempDir())
	if err := os.Rename(folder, "LaBSE"); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	fmt.Fprint(w, tweetLines())
	w.Close()
	vectors := "3 2\n📚 \x00\x00\x80?\x00\x00\x00\x00\n☀️ \x00\x00\x00\x00\x00\x00\x80?\n☕ \x00\x00\x80?\x00\x00\x80?\n"
	for name, data := range map[string][]byte{"geoTwitter-1.jsonl.gz": packed.Bytes(), "emoji2vec.bin": []byte(vectors)} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range calls {
		for i, a := range args {
			switch a {
			case "geoTwitter-*.jsonl.gz": // a shell would find it
				args[i] = "geoTwitter-1.jsonl.gz"
			case "64":
				args[i] = "20" // the tiny one has no more positions
			case "100":
				args[i] = "3"
			}
		}
		if args[0] == "train" || args[0] == "evaluate" {
			args = append(args, "--backend", "go")
		}
		o := succeed(t, args...)
		if args[0] == "evaluate" && !strings.Contains(o.out, "similarity accuracy (label vectors)") {
			t.Errorf("evaluate says %s", o.out)
		}
	}
}

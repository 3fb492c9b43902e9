package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// recipe returns the calls of treeloss in the indented lines of a document, with
// the variables of its shell put in, without their redirections.
func recipe(t *testing.T, path string) [][]string {
	t.Helper()
	variable := regexp.MustCompile(`^    ([a-z]+)="(.*)"$`)
	values := map[string]string{}
	var calls [][]string
	for line := range strings.Lines(string(content(t, path))) {
		line = strings.TrimRight(line, "\n")
		if m := variable.FindStringSubmatch(line); m != nil {
			values[m[1]] = m[2]
			continue
		}
		line, ok := strings.CutPrefix(line, "    treeloss ")
		if !ok {
			continue
		}
		line = os.Expand(line, func(name string) string {
			v, ok := values[name]
			if !ok {
				t.Errorf("%s: %s: no variable %s above", path, line, name)
			}
			return v
		})
		line, _, _ = strings.Cut(line, ">")
		calls = append(calls, strings.Fields(strings.ReplaceAll(line, "'", "")))
	}
	return calls
}

// Each command of the recipes is a right call: where none of the files are there
// it fails for want of one of them, and not for its flags.
func TestRecipesAreRightCalls(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for name, least := range map[string]int{"cifar100.md": 7, "imagenet.md": 6, "twitter.md": 6} {
		calls := recipe(t, filepath.Join(root, "docs", name))
		if len(calls) < least {
			t.Errorf("%s: %d commands, want at least %d", name, len(calls), least)
		}
		for _, args := range calls {
			t.Chdir(t.TempDir())
			o := call(t, args...)
			missing := strings.Contains(o.log, "no such") || strings.Contains(o.log, "has no config.json")
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
	dir := pictureFolder(t, 6)
	t.Chdir(dir)
	if err := os.Mkdir("cifar-100-binary", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"train.bin", "test.bin", "fine_label_names.txt", "coarse_label_names.txt"} {
		if err := os.Rename(name, filepath.Join("cifar-100-binary", name)); err != nil {
			t.Fatal(err)
		}
	}
	// No dog: its pictures are dropped.
	if err := os.WriteFile("GoogleNews-vectors-negative300.bin", []byte("2 2\ncat \x00\x00\x80?\x00\x00\x00\x00\ntruck \x00\x00\x00\x00\x00\x00\x80?\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range calls {
		switch args[0] {
		case "train":
			for i := range args {
				if args[i] == "--epochs" {
					args[i+1] = "1"
				}
			}
			args = append(args, "--backend", "go")
		case "embed", "evaluate":
			args = append(args, "--backend", "go")
		}
		o := succeed(t, args...)
		if args[0] == "train" && !strings.Contains(o.log, "1 classes with 2 of 6 pictures") {
			t.Errorf("the dogs are not dropped: %s", o.log)
		}
		if args[0] == "evaluate" && !strings.Contains(o.out, "similarity accuracy (label vectors)") {
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

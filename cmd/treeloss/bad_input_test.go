package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// badInput is one way in which users' files go wrong.
type badInput struct {
	name   string
	args   []string // of the program; MODEL stands for a model that is already there
	status int
	want   []string // all in the one line that says what is wrong
}

// refuse runs a table of bad inputs. Each ends with a status and one line on
// standard error, prints nothing and leaves the model as it was.
func refuse(t *testing.T, model string, table []badInput) {
	t.Helper()
	before := content(t, model)
	for _, tc := range table {
		t.Run(tc.name, func(t *testing.T) {
			args := []string{"--quiet"}
			for _, a := range tc.args {
				args = append(args, strings.ReplaceAll(a, "MODEL", model))
			}
			o := call(t, args...)
			if o.status != tc.status {
				t.Errorf("status %d, want %d: %s", o.status, tc.status, o.log)
			}
			if !strings.HasPrefix(o.log, "treeloss: ") || strings.Count(o.log, "\n") != 1 {
				t.Errorf("the log is %q, want one line", o.log)
			}
			for _, inside := range insides() {
				if strings.Contains(o.log, inside) {
					t.Errorf("the log is %q, which speaks of %q", o.log, inside)
				}
			}
			for _, want := range tc.want {
				if !strings.Contains(o.log, want) {
					t.Errorf("the log is %q, want %q in it", o.log, want)
				}
			}
			if !bytes.Equal(content(t, model), before) {
				t.Fatal("the model that was there has changed")
			}
			if _, err := os.Stat(checkpointOf(model)); err == nil {
				t.Error("a checkpoint was left")
			}
		})
	}
}

// flipped changes one bit of a byte, which is counted from the end.
func flipped(data string, at int) string {
	b := []byte(data)
	b[len(b)+at] ^= 1
	return string(b)
}

func TestBadExamples(t *testing.T) {
	train := func(path string, more ...string) []string {
		return append([]string{"train", "--model", "MODEL", "--data", path}, more...)
	}
	const rows = "text,label\nhello there,greeting\ngood bye,parting\n"
	table := []badInput{
		{"missing file", train("missing.csv"), 1, []string{"missing.csv", "check the path"}},
		{"directory", train("testdata"), 1, []string{"testdata", "is a folder", "want a file"}},
		{"empty file", train(file(t, "empty.csv", "")), 1, []string{"empty.csv", "empty"}},
		{"header only", train(file(t, "header.csv", "text,label\n")), 1, []string{"header.csv", "no rows", "add examples"}},
		{"one class only", train(file(t, "one.csv", "text,label\nhello,greeting\nhi,greeting\n")), 1, []string{"one.csv", "greeting", "two classes"}},
		{"a row with too few columns", train(file(t, "short.csv", rows+"well\n")), 1, []string{"short.csv:4", "1 column", "want 2"}},
		{"a row with too many columns", train(file(t, "long.csv", rows+"well,parting,now\n")), 1, []string{"long.csv:4", "3 columns", "want 2"}},
		{"a label that is empty", train(file(t, "nolabel.csv", rows+"well,\n")), 1, []string{"nolabel.csv:4", "label", "empty"}},
		{"a label of spaces", train(file(t, "spaces.csv", rows+"well,  \n")), 1, []string{"spaces.csv:4", "label"}},
		{"no label column", train(file(t, "nolabels.csv", "text,kind\nhello,a\nbye,b\n")), 1, []string{"nolabels.csv", "--label"}},
		{"invalid UTF-8", train(file(t, "latin1.csv", rows+"caf\xe9,greeting\n")), 1, []string{"latin1.csv:4", "UTF-8", "save the file"}},
		{"an unknown label column", train(desk, "--label", "topic"), 1, []string{"desk.csv", `"topic"`, "label"}},
		{"an unknown text column", train(desk, "--text", "body"), 1, []string{"desk.csv", `"body"`, "text"}},
		{"an unknown numeric column", train(breads, "--label", "bread", "--features", "length,depth"), 1, []string{"breads.csv", `"depth"`, "length"}},
		{"a quote never closed", train(file(t, "quote.csv", rows+"\"well,parting\n")), 1, []string{"quote.csv:4", "quote"}},
		{"bad JSON", train(file(t, "bad.jsonl", "{\"text\": \"a\", \"label\": \"x\"}\n{\"text\": }\n")), 1, []string{"bad.jsonl:2"}},
		{"a gzip file cut short", train(file(t, "cut.csv.gz", pack(t, ".gz", rows)[:40])), 1, []string{"cut.csv.gz"}},
		{"a gzip file with a flipped bit", train(file(t, "flip.csv.gz", flipped(pack(t, ".gz", rows), -6))), 1, []string{"flip.csv.gz", "damaged", "anew"}},
		{"a zstd file with a flipped bit", train(file(t, "flip.csv.zst", flipped(pack(t, ".zst", rows), -2))), 1, []string{"flip.csv.zst", "damaged", "anew"}},
		{"zeros", train(file(t, "zeros.csv", strings.Repeat("\x00", 100))), 1, []string{"zeros.csv", "bytes of 0"}},
		{"a binary file", train(file(t, "image.csv", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")), 1, []string{"image.csv"}},
		{"no features at all", train(file(t, "blank.csv", "text,label\n,a\n,b\n"), "--names-as-examples", "off"), 1, []string{"blank.csv", "empty"}},
		{"npy without labels", train(file(t, "x.npy", npy("(1, 2)", []float64{1, 2}))), 1, []string{"x.npy", "--labels"}},
		{"npy with too few labels", train(file(t, "x2.npy", npy("(2, 1)", []float64{1, 2})), "--labels", file(t, "y.txt", "a\n")), 1, []string{"y.txt"}},
		{"npy cut short", train(file(t, "x3.npy", npy("(2, 1)", []float64{1})), "--labels", file(t, "y3.txt", "a\nb\n")), 1, []string{"x3.npy"}},
		{"taxonomy without file", train(desk, "--sharing", "taxonomy"), 2, []string{"--taxonomy"}},
		{"a model", train("MODEL"), 1, []string{"safetensors file, as models are", "examples"}},
		{"a program", train(file(t, "tool.csv", "\x7fELF\x02\x01\x01\x00\xd0\xff\n")), 1, []string{"tool.csv:1", "no text", "CSV"}},
		{"a PDF", train(file(t, "paper.csv", "%PDF-1.5\n%\xd0\xd4\n")), 1, []string{"paper.csv", "PDF"}},
		{"no name", train(""), 1, []string{"name of a file of examples is empty"}},
		{"below a file", train(filepath.Join(desk, "a.csv")), 1, []string{"a.csv", "a file and no folder"}},
		{"sentences without header", train(file(t, "plain.csv", "where is my card,lost\nhello,greet\n")), 1, []string{"plain.csv:1", "is the header missing?"}},
		{"commas in a .tsv", train(file(t, "commas.tsv", "text,label\nhello,greet\n")), 1, []string{"commas.tsv:1", "another separator"}},
		{"class weights that are a folder", train(desk, "--class-weight", "testdata"), 1, []string{"testdata", "folder, want a file"}},
		{"a CSV to start from", train(desk, "--init-model", desk), 1, []string{"desk.csv is no model", "treeloss train wrote"}},
		{"a CSV as weights", train(desk, "--weights-model", desk), 1, []string{"desk.csv is no model", "treeloss train wrote"}},
		{"a model as taxonomy", train(desk, "--taxonomy", "MODEL"), 1, []string{"is a model", "tree show --format json"}},
		{"a model as vectors", train(desk, "--label-vectors", "MODEL"), 1, []string{"is a model", "--weights-model"}},
		{"a model as distances", train(desk, "--distances", "MODEL"), 1, []string{"is a model", "--weights-model"}},
		{"a folder as taxonomy", train(desk, "--taxonomy", "testdata"), 1, []string{"testdata: cannot read: it is a folder, want a file"}},
		{"no such taxonomy", train(desk, "--taxonomy", "missing.csv"), 1, []string{"missing.csv: no such file", "--taxonomy"}},
		{"no such distances", train(desk, "--distances", "missing.txt"), 1, []string{"missing.txt: no such file", "--distances"}},
		{"pictures without a network", train(filepath.Join(t.TempDir(), ".")), 1, []string{"is a folder", "a network"}},
		{"examples for a network", train(desk, "--network", "resnet20"), 1, []string{"desk.csv", "neither a file of CIFAR-100", "folder of pictures"}},
		{"no such pictures", train("missing", "--network", "resnet20"), 1, []string{"missing: no such file or folder"}},
		{"missing validation file", train(desk, "--valid", "missing.csv"), 1, []string{"missing.csv", "check the path"}},
		{"names as examples of numbers", train(breads, "--label", "bread", "--names-as-examples", "on"), 1, []string{"numbers", "off or auto"}},
	}
	for _, bad := range []string{"NaN", "inf", "-Infinity", "much", "1e999"} {
		text := "width,height,label\n1,2,a\n3,4,b\n5," + bad + ",a\n"
		table = append(table, badInput{bad + " in a numeric column", train(file(t, "numbers.csv", text)), 1, []string{"numbers.csv:4", "height", bad}})
	}
	refuse(t, quickModel(t), table)
}

func TestBadTestExamples(t *testing.T) {
	model := quickModel(t)
	stranger := file(t, "strange.csv", "text,label\nDo you open at ten?,opening hours\nIs there coffee?,coffee\n")
	refuse(t, model, []badInput{
		{"a label never trained", []string{"evaluate", "--model", "MODEL", "--data", stranger, "--unknown-labels", "error"}, 1,
			[]string{"strange.csv:3", `"coffee"`, "--unknown-labels"}},
		{"only labels never trained, skipped", []string{"evaluate", "--model", "MODEL", "--data", file(t, "other.csv", "text,label\nhi,greeting\n"), "--unknown-labels", "skip"}, 1,
			[]string{"other.csv", "right model"}},
		{"no such test file", []string{"evaluate", "--model", "MODEL", "--data", "missing.csv"}, 1, []string{"missing.csv", "check the path"}},
		{"numbers for a model of texts", []string{"evaluate", "--model", "MODEL", "--data", breads, "--label", "bread"}, 1, []string{"breads.csv", "--text"}},
		{"a text column that is not there", []string{"predict", "--model", "MODEL", "--text", "body", deskTest}, 1, []string{"desk_test.csv", `"body"`}},
		{"invalid UTF-8 at predict", []string{"predict", "--model", "MODEL", file(t, "latin1.txt", "caf\xe9\n")}, 1, []string{"latin1.txt:1", "UTF-8"}},
		{"no file at predict", []string{"predict", "--model", "MODEL", "missing.txt"}, 1, []string{"missing.txt", "check the path"}},
		{"an empty file at predict", []string{"predict", "--model", "MODEL", file(t, "empty.txt", "")}, 1, []string{"empty.txt"}},
	})
	refuse(t, breadModel(t), []badInput{
		{"a missing column at predict", []string{"predict", "--model", "MODEL", file(t, "narrow.csv", "length,width,height\n1,2,3\n")}, 1, []string{"narrow.csv", `"weight"`}},
		{"wrong feature count at predict", []string{"predict", "--model", "MODEL", file(t, "two.jsonl", "{\"x\": [1, 2]}\n"), "--features", "x"}, 1,
			[]string{"two.jsonl", "2 numbers", "trained on 4"}},
		{"wrong number of named columns", []string{"predict", "--model", "MODEL", breads, "--features", "length,width"}, 1, []string{"breads.csv", "2 numbers", "trained on 4"}},
		{"NaN at predict", []string{"predict", "--model", "MODEL", file(t, "nan.csv", "length,width,height,weight\n1,2,3,nan\n")}, 1, []string{"nan.csv:2", "weight"}},
		{"a number beyond 32 bits at predict", []string{"predict", "--model", "MODEL", file(t, "huge.csv", "length,width,height,weight\n1,2,3,1e300\n")}, 1, []string{"huge.csv:2", "32-bit"}},
		{"texts for a model of numbers", []string{"predict", "--model", "MODEL", deskTest}, 1, []string{"desk_test.csv"}},
	})
}

func TestBadTaxonomies(t *testing.T) {
	good := string(content(t, deskGroups))
	without := func(row string) string { return strings.Replace(good, row+"\n", "", 1) }
	var table []badInput
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"a cycle", good + "library,books\n", []string{"library"}},
		{"two parents", good + "books,house\n", []string{"books", "house"}},
		{"a class missing", without("lost a card,account"), []string{"lost a card"}},
		{"a row twice", good + "books,library\n", []string{":11", "books"}},
		{"a row without parent", good + "books\n", []string{":11", "child,parent"}},
		{"an empty parent", good + "books,\n", []string{":11", "empty"}},
		{"invalid UTF-8", good + "caf\xe9,library\n", []string{":11", "UTF-8"}},
		{"an empty file", "", nil},
	} {
		path := file(t, "groups.csv", tc.text)
		want := append([]string{"groups.csv"}, tc.want...)
		table = append(table,
			badInput{"train: " + tc.name, []string{"train", "--model", "MODEL", "--data", desk, "--taxonomy", path}, 1, want},
			badInput{"tree check: " + tc.name, []string{"tree", "check", path, "--data", desk}, 1, want},
			badInput{"tree build: " + tc.name, []string{"tree", "build", "--data", desk, "--from", "taxonomy", "--taxonomy", path}, 1, want})
	}
	table = append(table,
		badInput{"no such taxonomy", []string{"train", "--model", "MODEL", "--data", desk, "--taxonomy", "missing.csv"}, 1, []string{"missing.csv"}},
		badInput{"a folder", []string{"tree", "check", "testdata"}, 1, []string{"testdata", "folder"}},
		badInput{"no such tree", []string{"tree", "show", "missing.json"}, 1, []string{"missing.json", "check the path"}},
		badInput{"no tree at all", []string{"tree", "show", file(t, "note.txt", "hello")}, 1, []string{"note.txt:1", "child,parent"}},
		badInput{"broken JSON", []string{"tree", "show", file(t, "tree.json", `{"format": "treeloss-tree"`)}, 1, []string{"tree.json"}},
		badInput{"a model without a tree", []string{"tree", "check", "MODEL"}, 1, []string{"no tree", "--sharing v-tree"}},
		badInput{"no file of labels", []string{"tree", "build", "--labels", "missing.txt"}, 1, []string{"missing.txt", "check the path"}},
		badInput{"an empty file of labels", []string{"tree", "build", "--labels", file(t, "labels.txt", "\n\n")}, 1, []string{"labels.txt", "one class name a line"}},
		badInput{"labels that are not UTF-8", []string{"tree", "build", "--labels", file(t, "labels.txt", "a\ncaf\xe9\n")}, 1, []string{"labels.txt:2", "UTF-8"}},
		badInput{"labels that are a folder", []string{"tree", "build", "--labels", "testdata"}, 1, []string{"testdata: is a folder"}},
		badInput{"a folder that is not there", []string{"tree", "build", "--data", desk, "--out", filepath.Join(t.TempDir(), "no", "tree.json")}, 1, []string{"tree.json", "--out"}},
	)
	refuse(t, quickModel(t), table)
}

// users returns the commands that read a model.
func users(path string) map[string][]string {
	return map[string][]string{
		"evaluate":  {"evaluate", "--model", path, "--data", deskTest},
		"predict":   {"predict", "--model", path, deskTest},
		"tree show": {"tree", "show", path},
		"train":     {"train", "--model", "MODEL", "--data", desk, "--init-model", path},
	}
}

func TestBadModels(t *testing.T) {
	model := quickModel(t)
	good := string(content(t, model))
	var table []badInput
	bad := func(name, text string, want ...string) {
		path := file(t, "bad.safetensors", text)
		for command, args := range users(path) {
			table = append(table, badInput{command + ": " + name, args, 1, append([]string{"bad.safetensors"}, want...)})
		}
	}
	for tenth := range 10 {
		bad(fmt.Sprintf("truncated at %d/10", tenth), good[:len(good)*tenth/10])
	}
	header := 8 + int(binary.LittleEndian.Uint64([]byte(good)))
	for name, at := range map[string]int{
		"in the length":   0,
		"in the header":   header / 2,
		"in the tensors":  header + (len(good)-header)/2,
		"in the last one": len(good) - 1,
	} {
		flipped := []byte(good)
		flipped[at] ^= 0x10
		bad("one flipped byte "+name, string(flipped))
	}
	bad("one byte too many", good+"\n")
	bad("another kind of file", string(content(t, desk)), "is no model", "treeloss train wrote")
	bad("an empty file", "", "is no model")
	other := `{"weight":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}     `
	bad("a safetensors file of another program", string(binary.LittleEndian.AppendUint64(nil, uint64(len(other))))+other+"\x00\x00\x80\x3f", "another program", "treeloss train")
	newer := strings.Replace(good, `"format_version":"2"`, `"format_version":"9"`, 1)
	if newer == good {
		t.Fatal("the model file has no format version 1")
	}
	bad("a newer format version", newer, `version "9"`, "newer")
	table = append(table,
		badInput{"no such model", []string{"evaluate", "--model", "missing.safetensors", "--data", deskTest}, 1, []string{"missing.safetensors", "treeloss train"}},
		badInput{"a folder as model", []string{"predict", "--model", "testdata", deskTest}, 1, []string{"testdata is a folder", "want a model"}})
	refuse(t, model, table)
}

// A flipped byte anywhere is found, and nothing panics.
func TestEveryFlippedByte(t *testing.T) {
	good := content(t, breadModel(t))
	path := filepath.Join(t.TempDir(), "bad.safetensors")
	for at := range good {
		bad := bytes.Clone(good)
		bad[at] ^= 1
		if err := os.WriteFile(path, bad, 0o666); err != nil {
			t.Fatal(err)
		}
		if o := call(t, "predict", "--quiet", "--model", path, breads); o.status != 1 || !strings.Contains(o.log, path) {
			t.Fatalf("byte %d flipped: status %d, %q", at, o.status, o.log)
		}
	}
}

func TestNoPlaceForTheModel(t *testing.T) {
	model := quickModel(t)
	dir := t.TempDir()
	train := func(path string) []string { return []string{"train", "--data", desk, "--model", path} }
	refuse(t, model, []badInput{
		{"a folder", train(dir), 1, []string{dir, "folder", "--model"}},
		{"a folder that is not there", train(filepath.Join(dir, "no", "m")), 1, []string{filepath.Join(dir, "no", "m"), "create it first"}},
		{"a path below a file", train(filepath.Join(model, "m")), 1, []string{filepath.Join(model, "m"), "name another"}},
		{"a device", train("/dev/null"), 1, []string{"/dev/null", "--model"}},
	})
}

func TestNoRightToWriteTheModel(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("this user may write everywhere, as root does")
	}
	model := quickModel(t)
	dir := filepath.Dir(model)
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) }) // for the removal of the folder
	refuse(t, model, []badInput{
		{"new model", []string{"train", "--data", desk, "--model", filepath.Join(dir, "new")}, 1, []string{"no right", "choose another"}},
		{"old model", []string{"train", "--data", desk, "--model", "MODEL"}, 1, []string{"no right", "choose another"}},
	})
}

// The program runs as a process that may write files of 4 kB only.
func TestNoRoomForTheModel(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Skipf("no way to run the program as a process: %v", err)
	}
	model := quickModel(t)
	before := content(t, model)
	c := exec.CommandContext(t.Context(), self, "train", "--quiet", "--data", desk, "--sharing", "none", "--model", model)
	c.Env = append(os.Environ(), asProgram+"=1", fileLimit+"=4096")
	var log bytes.Buffer
	c.Stderr = &log
	if err := c.Run(); err == nil {
		t.Skip("this system does not limit files")
	}
	line, rest, _ := strings.Cut(log.String(), "\n")
	if testing.CoverMode() != "" {
		rest = "" // there is no room for the coverage either, which the program says
	}
	if c.ProcessState.ExitCode() != 1 || rest != "" || !strings.Contains(line, model) {
		t.Errorf("status %d, %q; want 1 and one line that names the model", c.ProcessState.ExitCode(), log.String())
	}
	if !bytes.Equal(content(t, model), before) {
		t.Error("the model that was there has changed")
	}
	if files, err := os.ReadDir(filepath.Dir(model)); err != nil || len(files) != 1 {
		t.Errorf("the folder holds %v (%v), want the model alone", files, err)
	}
}

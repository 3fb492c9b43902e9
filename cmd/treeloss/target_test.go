package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// keeps runs a call that would write over a file of the user's, which must end
// with one line and leave the file as it was.
func keeps(t *testing.T, name string, status int, path string, want []string, args ...string) {
	t.Helper()
	before := content(t, path)
	t.Run(name, func(t *testing.T) {
		refuse(t, path, []badInput{{name, args, status, want}})
		if !bytes.Equal(content(t, path), before) {
			t.Errorf("%s has changed", path)
		}
	})
}

func TestNoFileOfTheUserIsReplaced(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	data := put("data.csv", string(content(t, desk)))
	notes := put("notes.txt", "do not lose me")
	groups := put("groups.txt", string(content(t, deskGroups)))
	names := put("names.txt", "cat\ndog\nfox\n")
	link := filepath.Join(dir, "link.csv")
	if err := os.Symlink(data, link); err != nil {
		t.Skipf("this system or user makes no symbolic links: %v", err)
	}
	foreign := put("resnet.safetensors", "\x40\x00\x00\x00\x00\x00\x00\x00"+`{"fc.weight":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}  `+"\x00\x00\x80\x3f")
	other := []string{"no model of treeloss", "left as it is", "another file with --model"}

	keeps(t, "model over its data", 1, data, other, "train", "--data", data, "--model", data)
	keeps(t, "model over its data by a link", 1, data, other, "train", "--data", data, "--model", link)
	keeps(t, "model over other data", 1, notes, other, "train", "--data", data, "--model", notes)
	keeps(t, "model over another program's", 1, foreign, other, "train", "--data", data, "--model", foreign)
	keeps(t, "quickstart's model over data", 1, data, other, "quickstart", "--model", data)
	keeps(t, "tree over its names", 2, names, []string{"--out would replace " + names, "--labels", "another"}, "tree", "build", "--labels", names, "--out", names)
	keeps(t, "tree over its taxonomy", 2, groups, []string{"--out would replace", "--taxonomy"},
		"tree", "build", "--data", data, "--from", "taxonomy", "--taxonomy", groups, "--out", groups)
	keeps(t, "report beside the data", 2, data, []string{"--report " + dir, data, "folder of its own"}, "compare", "--data", data, "--report", dir)
	keeps(t, "report beside the taxonomy", 2, groups, []string{"--report " + dir, groups, "--taxonomy"}, "compare", "--data", desk, "--taxonomy", groups, "--report", dir)

	array := put("x.npy", npy("(1, 2)", []float64{1, 2}))
	keeps(t, "features over the data", 2, array, []string{"--out would replace", "--data"}, "embed", "--model", "m", "--data", array, "--out", array)
	labels := put("x.labels.txt", "cat\n")
	keeps(t, "labels over the labels", 2, labels, []string{"--out would replace " + labels, "--labels"}, "embed", "--model", "m", "--data", dir, "--labels", labels, "--out", array)

	site := filepath.Join(dir, "site")
	if err := os.Mkdir(site, 0o777); err != nil {
		t.Fatal(err)
	}
	page := put(filepath.Join("site", "index.html"), "<html>my own page</html>")
	keeps(t, "report over a page", 1, page, []string{page, "another program", "another folder"}, "compare", "--data", desk, "--report", site)
	keeps(t, "quickstart's report over a page", 1, page, []string{page, "another program"}, "quickstart", "--report", site)

	list := put(filepath.Join("site", "emojis.csv"), "emoji,examples\n☀,3\n")
	keeps(t, "emojis over the list of them", 2, list, []string{"--out would replace", "--emojis"}, "tweets", "prepare", "--data", "t.jsonl", "--emojis", list, "--out", site)
}

// What treeloss wrote itself may be written anew.
func TestOwnFilesAreReplaced(t *testing.T) {
	model := quickModel(t)
	succeed(t, "train", "--data", desk, "--sharing", "none", "--model", model)
	succeed(t, "train", "--data", desk, "--sharing", "none", "--init-model", model, "--model", model)
	report := filepath.Join(t.TempDir(), "report")
	for range 2 {
		succeed(t, "compare", "--data", desk, "--methods", "cross-entropy", "--report", report)
	}
	tree := filepath.Join(t.TempDir(), "tree.json")
	for range 2 {
		succeed(t, "tree", "build", "--data", desk, "--out", tree)
	}
	empty := file(t, "empty", "") // as mktemp makes one
	succeed(t, "train", "--data", desk, "--sharing", "none", "--model", empty)
}

func TestPlacesThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	refuse(t, quickModel(t), []badInput{
		{"tree in no folder", []string{"tree", "build", "--data", desk, "--out", filepath.Join(dir, "no", "t.json")}, 1, []string{"there is no folder", "create it first", "--out"}},
		{"tree below a file", []string{"tree", "build", "--data", desk, "--out", filepath.Join(desk, "t.json")}, 1, []string{"no folder", "--out"}},
		{"tree as a folder", []string{"tree", "build", "--data", desk, "--out", func() string {
			path := filepath.Join(dir, "t.json")
			if err := os.Mkdir(path, 0o777); err != nil {
				t.Fatal(err)
			}
			return path
		}()}, 1, []string{"is a folder", "--out"}},
	})
}

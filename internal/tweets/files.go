package tweets

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/treeloss/treeloss/internal/atomicfile"
)

// Files are the files of examples while they are written: train.csv, valid.csv and
// test.csv, with the columns text, label and language, and emojis.csv.
type Files struct {
	folder string
	files  []*atomicfile.File // by Part
	rows   []*csv.Writer
}

// First lines of the files.
const (
	exampleHeader = "text,label,language\n"
	emojiHeader   = "emoji,examples\n"
)

// Create begins the files in a folder, which is made if need be. What the folder had
// of them stays until Commit. Files of these names that an earlier run did not write
// are an error: they are somebody's data.
func Create(folder string) (*Files, error) {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	t := &Files{folder: folder}
	if err := t.checkOwn(); err != nil {
		return nil, err
	}
	for _, p := range []Part{Train, Valid, Test} {
		file, err := atomicfile.Create(t.path(p.String()))
		if err != nil {
			t.Discard()
			return nil, err
		}
		t.files, t.rows = append(t.files, file), append(t.rows, csv.NewWriter(file))
		t.files[p].WriteString(exampleHeader) // its error comes back from Flush
	}
	return t, nil
}

// checkOwn refuses files that begin in another way than those of this package, and
// examples without the list of emojis that goes with them.
func (t *Files) checkOwn() error {
	list := startsWith(t.path("emojis"), emojiHeader)
	for _, p := range []Part{Train, Valid, Test} {
		path := t.path(p.String())
		if _, err := os.Lstat(path); err == nil && !(list && startsWith(path, exampleHeader)) {
			return foreign(path)
		}
	}
	if path := t.path("emojis"); !list {
		if _, err := os.Lstat(path); err == nil {
			return foreign(path)
		}
	}
	return nil
}

func foreign(path string) error {
	return fmt.Errorf("%s is there, and no earlier run wrote it; it is left as it is: name another folder", path)
}

// startsWith tells whether the file at path begins with a text.
func startsWith(path, text string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(text))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == text
}

func (t *Files) path(name string) string { return filepath.Join(t.folder, name+".csv") }

// Write adds an example to its file.
func (t *Files) Write(e Example) error {
	return t.rows[e.Part].Write([]string{e.Text, e.Emoji, e.Language})
}

// Commit gives the files their names and lists the emojis.
func (t *Files) Commit(c Counts) error {
	for _, rows := range t.rows {
		rows.Flush()
		if err := rows.Error(); err != nil {
			return err
		}
	}
	byCount := slices.SortedFunc(maps.Keys(c.Emojis), func(x, y string) int {
		return cmp.Or(cmp.Compare(c.Emojis[y], c.Emojis[x]), cmp.Compare(x, y))
	})
	list := []byte(emojiHeader)
	for _, e := range byCount {
		list = append(strconv.AppendInt(append(append(list, e...), ','), c.Emojis[e], 10), '\n')
	}
	if err := atomicfile.WriteBytes(t.path("emojis"), list); err != nil {
		return err
	}
	for _, file := range t.files {
		if err := file.Commit(); err != nil {
			return err
		}
	}
	t.files = nil
	return nil
}

// Discard removes what is not kept.
func (t *Files) Discard() {
	for _, file := range t.files {
		file.Discard()
	}
}

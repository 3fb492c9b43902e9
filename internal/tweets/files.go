package tweets

import (
	"cmp"
	"encoding/csv"
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

// Create begins the files in a folder, which is made if need be. What the folder had
// of them stays until Commit.
func Create(folder string) (*Files, error) {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	t := &Files{folder: folder}
	for _, p := range []Part{Train, Valid, Test} {
		file, err := atomicfile.Create(t.path(p.String()))
		if err != nil {
			t.Discard()
			return nil, err
		}
		t.files, t.rows = append(t.files, file), append(t.rows, csv.NewWriter(file))
		t.rows[p].Write([]string{"text", "label", "language"}) // its error comes back from Flush
	}
	return t, nil
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
	list := []byte("emoji,examples\n")
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

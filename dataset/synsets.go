package dataset

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/treeloss/treeloss/internal/input"
)

// Synset is a class of ImageNet: a set of synonyms of WordNet.
type Synset struct {
	ID    string   // wnid, such as n01440764
	Names []string // synonyms, the usual one first: tench, Tinca tinca
}

// textOfClasses says what a file of classes holds.
var textOfClasses = input.Options{Want: "a text file of classes"}

// ReadSynsets reads the names of ImageNet's classes in any of the forms in which
// they are handed around:
//
//	n01440764 tench, Tinca tinca           LOC_synset_mapping.txt, synset_words.txt
//	n01440764<tab>tench, Tinca tinca       words.txt
//	wnid,words                             a CSV with such a header
//	{"0": ["n01440764", "tench"], ...}     imagenet_class_index.json
//
// The order is that of the file, of JSON that of the numbers. An id that stands
// twice, one without names, and lines of another form are *Errors.
func ReadSynsets(path string) ([]Synset, error) {
	var out []Synset
	var err error
	switch strings.ToLower(filepath.Ext(path)) {
	case ".json":
		out, err = synsetsFromJSON(path)
	case ".csv":
		out, err = synsetsFromCSV(path)
	default:
		err = input.EachLine(path, textOfClasses, func(number int, line string) error {
			id, words, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
			s, err := synset(path, number, id, words)
			out = append(out, s)
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, input.Refuse(path, 0, 0, "no classes in it; want a wnid and its names on each line")
	}
	seen := map[string]bool{}
	for _, s := range out {
		if seen[s.ID] {
			return nil, input.Refuse(path, 0, 0, "the class %q stands there twice", s.ID)
		}
		seen[s.ID] = true
	}
	return out, nil
}

// synset checks an id and splits its names at commas.
func synset(path string, line int, id, words string) (Synset, error) {
	s := Synset{ID: strings.TrimSpace(id)}
	if len(s.ID) != 9 || s.ID[0] != 'n' || strings.Trim(s.ID[1:], "0123456789") != "" {
		return s, input.Refuse(path, line, 0, "%s, want a wnid such as n01440764 and the names of the class", input.Clip(id))
	}
	for name := range strings.SplitSeq(words, ",") {
		if name = strings.TrimSpace(name); name != "" {
			s.Names = append(s.Names, name)
		}
	}
	if s.Names == nil {
		return s, input.Refuse(path, line, 0, "the class %s has no name", s.ID)
	}
	return s, nil
}

// synsetsFromCSV reads a header, then a wnid and the names of the class in each row; a
// name with a comma in it cannot be told from two.
func synsetsFromCSV(path string) ([]Synset, error) {
	in, err := input.Open(path, textOfClasses)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	rec := &records{lines: in.Lines(1 << 20), comma: ',', quotes: true, limit: 2}
	if err := rec.read(); err != nil || rec.count() < 2 {
		return nil, input.Refuse(path, 1, 0, "want a header with two columns, such as wnid,words")
	}
	columns := rec.count()
	var out []Synset
	for {
		if err := rec.read(); err == io.EOF {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		if rec.count() != columns {
			return nil, input.Refuse(path, rec.line, 0, "%s, want %d as in the header; quote names that hold a comma", input.Plural(rec.count(), "column"), columns)
		}
		s, err := synset(path, rec.line, string(rec.field(0)), string(rec.field(1)))
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
}

// synsetsFromJSON reads what Keras hands out as imagenet_class_index.json: class
// numbers, from 0 without gaps, to a wnid and one name, with _ for spaces.
func synsetsFromJSON(path string) ([]Synset, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, input.Missing(path, err)
	}
	byNumber := map[int][]string{}
	if err := json.Unmarshal(data, &byNumber); err != nil {
		return nil, &Error{File: path, Message: "want an object of numbers with the wnid and a name each: " + err.Error(), Err: err}
	}
	out := make([]Synset, len(byNumber))
	for i := range out {
		pair, ok := byNumber[i]
		if !ok || len(pair) < 2 {
			return nil, input.Refuse(path, 0, 0, "no wnid and name under number %d of %d", i, len(out))
		}
		if out[i], err = synset(path, 0, pair[0], strings.ReplaceAll(pair[1], "_", " ")); err != nil {
			return nil, err
		}
	}
	return out, nil
}

package tune

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
)

// Run is all that decides what a training does, in words: where two runs have the same,
// the one can resume from the checkpoint of the other.
type Run map[string]string

// String is the run in one line, the same for equal runs, to be kept with a checkpoint.
func (r Run) String() string {
	text, _ := json.Marshal(r) // of texts, with the keys in order: it cannot fail
	return string(text)
}

// AddFile adds the SHA-256 of a file under a key: what counts is its content, and not where
// it is. An empty path adds nothing, and a pipe no more than that it is one.
func (r Run) AddFile(key, path string) error {
	if path == "" {
		return nil
	}
	// A pipe was read before, and holds nothing any more.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		r[key] = "a stream"
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	r[key] = hex.EncodeToString(sum.Sum(nil))
	return nil
}

// Difference says in what r differs from the run that String wrote as text.
func (r Run) Difference(text string) string {
	var old Run
	if json.Unmarshal([]byte(text), &old) != nil {
		return "of another program"
	}
	all := maps.Clone(r)
	maps.Copy(all, old)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		was, is := old[key], r[key]
		switch {
		case was == is:
		case key == "data" || len(was)+len(is) > 80: // fingerprints, and lists of names
			return "other " + key
		default:
			return fmt.Sprintf("%s %q, now %q", key, was, is)
		}
	}
	return "of another program"
}

package bert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gomlx/compute"

	"github.com/treeloss/treeloss/encoder"
	"github.com/treeloss/treeloss/internal/input"
)

// ErrNotEmpty says that a folder to write has files already.
var ErrNotEmpty = errors.New("the folder is not empty")

// CheckEmpty returns an error that wraps ErrNotEmpty for a folder with files: some may have
// the names of those to be written.
func CheckEmpty(folder string) error {
	list, err := os.ReadDir(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(list) > 0:
		return fmt.Errorf("%s: %w; name a new one", folder, ErrNotEmpty)
	}
	return nil
}

// DistillFolder is Distill from one folder to another, which must not have files. The
// vocabulary is a number of BERT's tokens, a file of further words, one a line, the most
// frequent first (what follows a tab is not read), or "" for all of BERT's tokens alone.
func DistillFolder(ctx context.Context, b compute.Backend, from, vocabulary, to string, o DistillOptions) (s *encoder.Static, left []string, err error) {
	if err := CheckEmpty(to); err != nil {
		return nil, nil, err
	}
	if n, err := strconv.Atoi(vocabulary); err == nil && n > 0 {
		o.Tokens = n
	} else if vocabulary != "" {
		if o.Words, err = readWords(vocabulary); err != nil {
			return nil, nil, err
		}
	}
	e, err := Open(from)
	if err != nil {
		return nil, nil, err
	}
	if s, left, err = e.Distill(ctx, b, o); err != nil {
		return nil, nil, err
	}
	return s, left, s.Write(to)
}

// readWords reads a word from each line of a file, blank lines left out.
func readWords(path string) (words []string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, input.Missing(path, err)
	}
	if !utf8.Valid(text) {
		return nil, fmt.Errorf("%s: not UTF-8 text; want a word on each line", path)
	}
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\uFEFF")) {
		word, _, _ := strings.Cut(line, "\t")
		if word = strings.TrimSpace(word); word != "" {
			words = append(words, word)
		}
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("%s: no words; want one on each line, or a number of tokens in place of the file", path)
	}
	return words, nil
}

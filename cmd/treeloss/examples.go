package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/deep/bert"
	"github.com/treeloss/treeloss/deep/network"
	"github.com/treeloss/treeloss/softmax"
)

// stdinName is how messages call the standard input.
const stdinName = "standard input"

// isStream tells whether the paths are the standard input.
func isStream(paths []string) bool { return len(paths) == 1 && paths[0] == "-" }

// tellTerminal tells a person who named no file that the program waits for them.
func (a *app) tellTerminal() {
	if f, ok := a.in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		a.logf("no file was named, so this reads the terminal: type or paste lines, and end with Ctrl-D")
	}
}

// openExamples opens files, or the standard input for "-".
func (a *app) openExamples(paths []string, o dataset.Options) (*dataset.Reader, error) {
	if isStream(paths) {
		a.tellTerminal()
		return dataset.NewReader(a.in, stdinName, o)
	}
	if slices.Contains(paths, "-") {
		return nil, usagef("- is the standard input and cannot be mixed with files")
	}
	return dataset.OpenAll(paths, o)
}

// openFor opens examples that are to go through a model. What the flags leave
// open is read as in training: the numeric columns by the model's names for
// them, text and label by the names that the training record holds.
func (f *dataFlags) openFor(a *app, m *softmax.Model, unlabelled bool) (*dataset.Reader, error) {
	given, err := f.options()
	if err != nil {
		return nil, err
	}
	given.Unlabelled = unlabelled
	var first error
	for _, o := range likeTraining(given, m, f.data) {
		r, err := a.openExamples(f.data, o)
		if err == nil {
			if err = f.fits(r, m); err == nil {
				return r, nil
			}
			r.Close()
		}
		first = cmp.Or(first, err)
		if isStream(f.data) {
			break // what was read of it is gone
		}
	}
	return nil, first
}

// likeTraining returns the options to try one after the other.
func likeTraining(given dataset.Options, m *softmax.Model, paths []string) []dataset.Options {
	trained := withLabel(given, m)
	switch m.Features.Kind() {
	case dataset.Numbers:
		if len(given.Columns) > 0 || isArray(given, paths) {
			return []dataset.Options{trained, given}
		}
		array := trained
		trained.Columns = m.Features.Columns()
		if numbered(trained.Columns) { // trained on an array, whose columns have no names
			return []dataset.Options{array, trained}
		}
		given.Columns = trained.Columns
	case dataset.Text:
		// Lines typed at a terminal have no columns; a named one would make
		// the first of them a header.
		if given.Text == "" && !(given.Unlabelled && isStream(paths)) {
			trained.Text = m.Training.Options["text"]
		}
	case dataset.Sparse:
		if given.Format == dataset.Auto && isStream(paths) {
			trained.Format = dataset.LIBSVM
		}
	}
	return []dataset.Options{trained, given}
}

// withLabel adds the label column of the training record if labels matter.
func withLabel(o dataset.Options, m *softmax.Model) dataset.Options {
	if o.Label == "" && !o.Unlabelled {
		o.Label = m.Training.Options["label"]
	}
	return o
}

// isArray tells whether the first file is a NumPy array, whose columns have no
// names.
func isArray(o dataset.Options, paths []string) bool {
	name := strings.ToLower(paths[0])
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	return o.Format == dataset.NPY || o.Format == dataset.Auto && strings.HasSuffix(name, ".npy")
}

// numbered tells whether columns are x1, x2, ..., the names that training gives
// to the columns of an array.
func numbered(columns []string) bool {
	for j, name := range columns {
		if name != fmt.Sprintf("x%d", j+1) {
			return false
		}
	}
	return true
}

// fits refuses examples that are not what the model was trained on.
func (f *dataFlags) fits(r *dataset.Reader, m *softmax.Model) error {
	path := f.first()
	want := m.Features.Kind()
	if got := r.Kind(); got != want {
		advice := "name its numeric columns with --features"
		switch want {
		case dataset.Text:
			advice = "name the column of the text with --text"
		case dataset.Sparse:
			advice = "give LIBSVM lines"
		}
		return fmt.Errorf("%s: holds %v, but the model was trained on %v; %s", path, got, want, advice)
	}
	if want != dataset.Numbers {
		return nil
	}
	if r.Width() != m.Features.Dim() {
		return fmt.Errorf("%s: %d numbers a row, but the model was trained on %d; bring rows with the columns of its training data", path, r.Width(), m.Features.Dim())
	}
	if got := r.Columns(); len(f.features) == 0 && got != nil && !slices.Equal(got, m.Features.Columns()) {
		return fmt.Errorf("%s: the numeric columns begin with %q, those of the model with %q; name them in the model's order with --features",
			path, got[0], m.Features.Columns()[0])
	}
	return nil
}

// blockSize is the number of examples that all threads together take at a time
// when no one waits for the single answer.
const blockSize = 512

// blockFor returns how many examples to read before answering: 1 if the input
// may pause, as a pipe or a terminal does.
func (a *app) blockFor(paths []string) int {
	if !isStream(paths) {
		return blockSize
	}
	if f, ok := a.in.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return blockSize
		}
	}
	return 1
}

// inBlocks reads examples in blocks of the given size. It calls work for each,
// on several goroutines (worker in 0..threads-1), then done for the whole block
// in order. After an error of the reader or of work, done still gets the
// examples before it.
func inBlocks(ctx context.Context, r *dataset.Reader, threads, size int,
	work func(worker, at int, e dataset.Example) error, done func(block []dataset.Example) error) error {
	var block []dataset.Example
	flush := func() error {
		parts := min(threads, len(block))
		failed := make([]int, parts) // place of the first error of each part
		errs := make([]error, parts)
		var group sync.WaitGroup
		for p := range parts {
			run := func() {
				for at := p * len(block) / parts; at < (p+1)*len(block)/parts; at++ {
					if err := work(p, at, block[at]); err != nil {
						failed[p], errs[p] = at, err
						return
					}
				}
			}
			if parts == 1 {
				run()
				break
			}
			group.Go(run)
		}
		group.Wait()
		for p, err := range errs {
			if err != nil {
				return cmp.Or(done(block[:failed[p]]), err)
			}
		}
		err := done(block)
		block = block[:0]
		return err
	}
	for e, err := range r.All() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return cmp.Or(flush(), err)
		}
		block = append(block, e.Clone())
		if len(block) == size {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// threadsOf returns the number of goroutines that --threads stands for.
func threadsOf(n int) (int, error) {
	switch {
	case n < 0:
		return 0, usagef("--threads %d, want a number of at least 0", n)
	case n == 0:
		return runtime.GOMAXPROCS(0), nil
	}
	return n, nil
}

// loadModel loads the model that --model names.
func loadModel(path string) (*softmax.Model, error) {
	if path == "" {
		return nil, usagef("no model: name the file that treeloss train wrote with --model")
	}
	if err := checkModel(path); err != nil {
		return nil, err
	}
	m, err := softmax.Load(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such model file; check the path, or write one with treeloss train", path)
	}
	return m, err
}

// checkModel refuses a network, and a file whose first bytes cannot be those of a
// model, so that a CSV does not end as a header of 10^18 bytes. A missing one is
// left to the reader.
func checkModel(path string) error {
	if network.IsFile(path) || bert.IsFile(path) {
		return fmt.Errorf("%s is a network, and here a linear model is wanted: write the network's features with treeloss embed and train on these", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	switch info, err := f.Stat(); {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a folder; want a model, a file that treeloss train wrote", path)
	case err != nil || !info.Mode().IsRegular():
		return nil
	}
	var head [9]byte
	if n, _ := io.ReadFull(f, head[:]); n < len(head) || !isModel("", head[:]) {
		return fmt.Errorf("%s is no model; want a file that treeloss train wrote", path)
	}
	return nil
}

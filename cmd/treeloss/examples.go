package main

import (
	"os"
	"runtime"
	"slices"

	"golang.org/x/term"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/deep/anymodel"
	"github.com/treeloss/treeloss/internal/option"
	"github.com/treeloss/treeloss/softmax"
)

// stdinName is how messages call the standard input.
const stdinName = classify.StdinName

// isStream tells whether the paths are the standard input.
func isStream(paths []string) bool { return len(paths) == 1 && paths[0] == "-" }

// logTerminal tells a person who named no file that the program waits for them.
func (a *app) logTerminal() {
	if f, ok := a.in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		a.logf("no file was named, so this reads the terminal: type or paste lines, and end with Ctrl-D")
	}
}

// openExamples opens files, or the standard input for "-".
func (a *app) openExamples(paths []string, o dataset.Options) (*dataset.Reader, error) {
	if isStream(paths) {
		a.logTerminal()
		return dataset.NewReader(a.in, stdinName, o)
	}
	if slices.Contains(paths, "-") {
		return nil, usagef("- is the standard input and cannot be mixed with files")
	}
	return dataset.OpenAll(paths, o)
}

// live tells whether the standard input may pause, as a pipe or a terminal does.
func (a *app) live() bool {
	f, ok := a.in.(*os.File)
	if !ok {
		return true
	}
	info, err := f.Stat()
	return err != nil || !info.Mode().IsRegular()
}

// threadsOf returns the number of goroutines that --threads stands for.
func threadsOf(n int) (int, error) {
	if n == 0 {
		return runtime.GOMAXPROCS(0), nil
	}
	return n, option.Threads(n)
}

// loadModel loads the model that --model names.
func loadModel(path string) (*softmax.Model, error) {
	if path == "" {
		return nil, usagef("no model: name the file that treeloss train wrote with --model")
	}
	return anymodel.Linear(path)
}

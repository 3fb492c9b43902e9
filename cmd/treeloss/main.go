// Command treeloss trains and uses classifiers with many similar classes.
//
// Run treeloss quickstart for a tour on real data inside the program, and
// treeloss help for all commands. Results go to standard output, the log and
// progress bars to standard error. It exits with 0 when done, 1 when something
// failed, 2 when it was called wrongly, 130 after Ctrl-C and 143 after SIGTERM.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"

	"github.com/treeloss/treeloss/internal/input"
)

func main() {
	ctx, stop := untilSignal()
	status := execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// execute runs the program and returns its exit status. An error becomes one
// line of the log.
func execute(ctx context.Context, args []string, in io.Reader, out, log io.Writer) int {
	results := &output{to: out}
	a := &app{in: in, out: results, log: log}
	err := patiently(ctx, patience, func() error { return a.run(ctx, args, results) })
	if err == nil {
		return 0
	}
	text, wrongCall := inFlags(err)
	status := 1
	if wrongCall {
		status = 2
	}
	if i, yes := interruptionOf(ctx, err); yes {
		text, status = i.inWords(text), i.status()
	}
	fmt.Fprintln(log, "treeloss:", oneLine(a.named(text)))
	return status
}

// run is the whole program but for the process around it.
func (a *app) run(ctx context.Context, args []string, results *output) error {
	err := a.execute(ctx, args)
	switch failed := results.failure(); {
	case failed == nil:
		return err
	case errors.Is(failed, syscall.EPIPE), errors.Is(failed, io.ErrClosedPipe):
		return nil // whoever reads has had enough, as in treeloss ... | head
	default:
		return fmt.Errorf("the results could not be written to standard output: %w", failed)
	}
}

// output remembers why writing failed, so that no printing code has to ask.
type output struct {
	to    io.Writer
	mutex sync.Mutex // an interrupted predict may still be writing
	err   error
}

func (o *output) failure() error {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.err
}

func (o *output) Write(p []byte) (int, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.to.Write(p)
	o.err = err
	return n, err
}

// usageError is a wrong call: an unknown flag, a value that a flag cannot have.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// plain returns an error's text, with what the system said of a file in words.
func plain(err error) string {
	text := input.InWords(err.Error(), err)
	if errors.Is(err, io.ErrUnexpectedEOF) { // the message says already that a file ends early
		text = strings.ReplaceAll(text, ": "+io.ErrUnexpectedEOF.Error(), "")
	}
	place, ok := errors.AsType[*fs.PathError](err)
	if !ok {
		return text
	}
	words := fmt.Sprintf("%s: %v", place.Path, place.Err)
	switch {
	case errors.Is(place.Err, fs.ErrNotExist):
		words = "there is no file " + place.Path
	case errors.Is(place.Err, fs.ErrPermission):
		words = "no right to open " + place.Path
	case errors.Is(place.Err, syscall.EISDIR):
		words = place.Path + " is a folder, want a file"
	case errors.Is(place.Err, syscall.ENOTDIR):
		words = "a part of the path " + place.Path + " is a file and no folder"
	}
	return strings.ReplaceAll(text, place.Error(), words)
}

// longestError is the most bytes of an error that are printed.
const longestError = 1200

// oneLine keeps an error on one line of a length that can be read, whatever a file name
// or label holds.
func oneLine(text string) string {
	text = strings.Join(strings.FieldsFunc(strings.TrimSpace(text), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	if cut := len(text) - longestError; cut > 0 {
		text = strings.ToValidUTF8(text[:longestError/2], "") + " ... " + strings.ToValidUTF8(text[longestError/2+cut:], "")
	}
	return text
}

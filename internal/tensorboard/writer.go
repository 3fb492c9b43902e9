// Package tensorboard writes event files of scalars that TensorBoard shows:
//
//	Create(folder, step) --> Writer --Scalars(step, values)--> events.out.tfevents.*
//
// A file is a row of records, each with its length and masked CRC-32C checksums
// of both (TFRecord), and each record is one Event in the encoding of protocol
// buffers. TensorBoard's event.proto and summary.proto number their fields.
package tensorboard

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Writer writes one event file, some 60 bytes for each number. It is for one goroutine.
type Writer struct {
	file *os.File
	now  func() time.Time
	buf  []byte
}

// Scalar is a number with the name under which TensorBoard draws it; names that
// begin alike up to a slash stand together.
type Scalar struct {
	Tag   string
	Value float64 // kept as float32; may be NaN or infinite
}

// Create makes folder if need be, and in it a new event file of a run whose next
// step is step. TensorBoard reads all event files of a folder as one run, and
// drops what earlier ones have at step or later: so a run that was broken off
// after step-1 goes on in a new file.
func Create(folder string, step int64) (*Writer, error) { return create(folder, step, time.Now) }

// create is Create with another clock, for tests.
func create(folder string, step int64, now func() time.Time) (*Writer, error) {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, fmt.Errorf("tensorboard: folder: %w", err)
	}
	file, err := createNew(filepath.Join(folder, fileName(now())))
	if err != nil {
		return nil, fmt.Errorf("tensorboard: event file: %w", err)
	}
	// Two events come first: the version of the format, and the start of a session at a
	// step, by which TensorBoard drops what a run that broke off wrote beyond it.
	w := &Writer{file: file, now: now}
	if err := errors.Join(w.write(event{text: fileVersion}), w.write(event{step: step, start: true})); err != nil {
		return nil, errors.Join(err, w.Close(), os.Remove(file.Name()))
	}
	return w, nil
}

// fileVersion is what the first event of a file says.
const fileVersion = "brain.Event:2"

// fileName is the name that TensorBoard looks for. It reads the files of a folder
// in the order of their names, so by time.
func fileName(now time.Time) string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "localhost"
	}
	host = strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == ':' {
			return '-'
		}
		return r
	}, host)
	// Ten digits hold until the year 2286.
	return fmt.Sprintf("events.out.tfevents.%010d.%s", now.Unix(), host)
}

// createNew creates a file that is not there yet: of two runs that start in one
// second the later one has a longer name.
func createNew(path string) (*os.File, error) {
	for i := 0; ; i++ {
		name := path
		if i > 0 {
			name = fmt.Sprintf("%s.%03d", path, i)
		}
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
		if i == 999 || !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// Scalars writes numbers of one step. They are in the file when it returns.
func (w *Writer) Scalars(step int64, values ...Scalar) error {
	return w.write(event{step: step, values: values})
}

// Close closes the file.
func (w *Writer) Close() error {
	if err := w.file.Close(); err != nil {
		return fmt.Errorf("tensorboard: %w", err)
	}
	return nil
}

// write adds one event at the time that it is now, in one call of the system: a viewer
// that reads meanwhile sees whole records.
func (w *Writer) write(e event) error {
	now := w.now()
	e.wall = float64(now.Unix()) + float64(now.Nanosecond())/1e9
	w.buf = appendRecord(w.buf[:0], e.append(nil))
	if _, err := w.file.Write(w.buf); err != nil {
		return fmt.Errorf("tensorboard: %w", err)
	}
	return nil
}

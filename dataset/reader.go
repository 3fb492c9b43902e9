package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/treeloss/treeloss/internal/input"
)

// Error is a refusal of a file, with its place. All that Open, OpenAll, NewReader
// and Reader.All refuse about a file is an *Error, and so is what the readers of pictures,
// class weights and names do.
type Error = input.Error

// Reader gives the examples of one or several files or of one stream. It is
// not for use by several goroutines at once.
type Reader struct {
	opts   Options
	files  []file
	parts  parts // of the first file
	closed bool
	at     *cursor // of the walk; nil before it
}

// file is one of a Reader's files.
type file struct {
	name  string
	again bool    // can be opened again
	ahead *cursor // opened, first example read; nil once it is used
}

// Open opens a file of examples and reads its first one, so that format, kind
// and columns are known and a file that does not fit is refused at once. A
// file without any example is refused as well.
func Open(path string, opts Options) (*Reader, error) { return OpenAll([]string{path}, opts) }

// OpenAll opens the files of one data set, which are read one after the other.
// The later ones must have the kind and the columns that were chosen in the
// first; the columns may stand in another order, and formats may differ. Each
// is opened and its first example read before OpenAll returns.
func OpenAll(paths []string, opts Options) (*Reader, error) {
	if len(paths) == 0 {
		return nil, input.Refuse("dataset", 0, 0, "no file given; name one")
	}
	if err := opts.check(); err != nil {
		return nil, err
	}
	if len(paths) > 1 && opts.Labels != "" {
		return nil, input.Refuse(opts.Labels, 0, 0, "one labels file for %d data files; join the arrays", len(paths))
	}
	r := &Reader{opts: opts}
	for i, path := range paths {
		r.files = append(r.files, file{name: path})
		c, err := r.open(i)
		if err != nil {
			r.Close()
			return nil, err
		}
		r.files[i].again = c.in.Again
		if i == 0 || !c.in.Again {
			r.files[i].ahead = c
		} else if err := c.in.Close(); err != nil {
			r.Close()
			return nil, input.Missing(path, err)
		}
	}
	return r, nil
}

// NewReader reads a stream such as os.Stdin, which stays the caller's to close.
// The name stands for it in messages, and its ending for the format, as a
// path's would. It reads as far as the first example and no farther than
// the stream gives at once, so that lines typed at a terminal are answered
// one by one. It can be walked once.
func NewReader(r io.Reader, name string, opts Options) (*Reader, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	in, err := input.New(r, name, opts.reading())
	if err != nil {
		return nil, err
	}
	c, err := newCursor(in, opts)
	if err != nil {
		return nil, err
	}
	return &Reader{opts: opts, files: []file{{name: name, ahead: c}}, parts: c.what()}, nil
}

// open opens file i anew and checks that it agrees with the first.
func (r *Reader) open(i int) (*cursor, error) {
	in, err := input.Open(r.files[i].name, r.opts.reading())
	if err != nil {
		return nil, err
	}
	opts := r.opts
	if i > 0 {
		opts = r.Resolved()
		opts.later = true
	}
	c, err := newCursor(in, opts)
	if err != nil {
		return nil, err
	}
	if r.parts.about == "" {
		r.parts = c.what() // else the file may have been changed since
	} else if err := r.parts.agree(r.files[0].name, c.what(), in.Name); err != nil {
		in.Close()
		return nil, err
	}
	return c, nil
}

// Kind returns what the examples hold.
func (r *Reader) Kind() Kind { return r.parts.kind }

// Columns returns the names of the numeric columns in the order of
// Example.Values. It is nil for text and sparse features, and for .npy files and
// JSON arrays, whose columns have no names.
func (r *Reader) Columns() []string { return append([]string(nil), r.parts.columns...) }

// Fields returns the columns of texts that come with others; zero for a text alone and for
// other kinds.
func (r *Reader) Fields() Fields { return r.parts.fields }

// Width returns the length of Example.Values for Kind Numbers, else 0.
func (r *Reader) Width() int { return r.parts.width }

// Resolved returns the options with the columns that were chosen named, to
// read a validation or test file the way this one is read. Labels is "": a
// labels file goes with one array only.
func (r *Reader) Resolved() Options {
	o := r.opts
	o.Labels, o.Multilabel = "", r.opts.Several()
	o.Label = cmp.Or(r.parts.labelName, o.Label)
	o.Text = cmp.Or(r.parts.textName, o.Text)
	if r.parts.columns != nil {
		o.Columns = r.Columns()
	}
	if f := r.parts.fields; f.Several() {
		o.Text, o.Categories, o.Columns = strings.Join(f.Texts, ","), slices.Clone(f.Categories), slices.Clone(f.Numbers)
	}
	return o
}

// Describe says in one line how the columns were chosen, such as
//
//	leaves.csv: label column "species", 192 numeric columns margin1..texture64 (column "id" left out)
//
// and what was found about the file itself, such as
//
//	; UTF-16, separated by semicolons, with decimal commas
//
// where decimal commas are told once one has been read.
func (r *Reader) Describe() string {
	s := r.files[0].name + ": " + r.parts.about
	if layout := r.parts.layout(); layout != "" {
		s += "; " + layout
	}
	if n := len(r.files) - 1; n > 0 {
		s += fmt.Sprintf(", and %s like it", input.Plural(n, "file"))
	}
	return s
}

// Rewindable reports whether All can be ranged over more than once: regular files can,
// streams and pipes cannot.
func (r *Reader) Rewindable() bool {
	return !slices.ContainsFunc(r.files, func(f file) bool { return !f.again })
}

// All yields the examples in file order and ends after the first error, which
// is an *Error and comes with a zero Example. Ranging again starts over with
// regular files; with streams and pipes it yields an error. Values and Index of an Example are used
// again for the next one: copy them, or Clone it, to keep it.
func (r *Reader) All() iter.Seq2[Example, error] {
	return func(yield func(Example, error) bool) {
		from, to := 0, len(r.files)
		if shard := r.opts.Shard; to > 1 && !shard.all() {
			var err error
			if from, to, err = shard.choose(r.files); err != nil {
				yield(Example{}, err)
				return
			}
		}
		for i := from; i < to; i++ {
			if !r.walk(i, yield) {
				return
			}
		}
	}
}

// Ready tells, while All is walked, whether a further line that is not blank has arrived,
// so that the next example will not be waited for. It is false for arrays and Parquet.
func (r *Reader) Ready() bool { return r.at != nil && r.at.in.LineArrived() }

// walk yields the examples of file i and reports whether to go on.
func (r *Reader) walk(i int, yield func(Example, error) bool) bool {
	f := &r.files[i]
	c, err := f.ahead, error(nil)
	f.ahead = nil
	switch {
	case r.closed:
		err = input.Refuse(f.name, 0, 0, "was closed before it was read")
	case c == nil && !f.again:
		err = input.Refuse(f.name, 0, 0, "is a stream and can be read only once; save it to a file first")
	case c == nil:
		c, err = r.open(i)
	}
	if err != nil {
		yield(Example{}, err)
		return false
	}
	defer c.in.Close()
	r.at = c
	if shard := r.opts.Shard; len(r.files) == 1 && !shard.all() {
		err = c.start(shard)
	}
	for ; err == nil; err = c.next(&c.ex) {
		if !yield(c.ex, nil) {
			return false
		}
	}
	if err != io.EOF {
		yield(Example{}, err)
		return false
	}
	return true
}

// Labels reads all examples as All does and returns their distinct labels in the order of
// their bytes, in memory for these alone. A stream cannot be read again after it.
func (r *Reader) Labels() ([]string, error) {
	seen := make(map[string]bool)
	for e, err := range r.All() {
		if err != nil {
			return nil, err
		}
		if e.Labels == nil {
			seen[e.Label] = true
		}
		for _, l := range e.Labels {
			seen[l] = true
		}
	}
	return slices.Sorted(maps.Keys(seen)), nil
}

// Close closes what is open. A stream given to NewReader stays open.
func (r *Reader) Close() error {
	r.closed = true
	var errs []error
	for i := range r.files {
		if c := r.files[i].ahead; c != nil {
			r.files[i].ahead = nil
			errs = append(errs, c.in.Close())
		}
	}
	return errors.Join(errs...)
}

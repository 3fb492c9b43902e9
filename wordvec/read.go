package wordvec

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/treeloss/treeloss/internal/input"
)

// Limits that no real file comes near. They end the reading of a file that is
// none before it takes memory.
const (
	bufferSize  = 1 << 20   // bytes read at once
	maxWord     = 1 << 16   // bytes
	maxDim      = 100_000   // numbers of a vector, which fit into the buffer
	maxNumber   = 64        // bytes of a number in a text file, with its separator
	maxWindow   = 128 << 20 // bytes of a .zst window; what `zstd -d` accepts
	maxNgramLen = 100       // characters; fastText's default is 6
)

// Options says what to keep of a file and how to read it. The zero value keeps
// every word of a file whose format its content tells.
type Options struct {
	// Names are class names: kept is what Vectors.Names can use for them.
	Names []string
	// Words are words to keep, spelled exactly so. From a fastText .bin they
	// get a vector from their n-grams if the vocabulary does not have them.
	//
	// Names and Words add up. If both are nil and First is 0, everything is kept; an
	// empty slice that is not nil keeps nothing, which is enough for Info.
	Words []string
	// First keeps the first so many words of the file, beside Names and Words; most files
	// have frequent words first. 0 means none beyond these.
	First int
	// Format skips the detection, for a file that it gets wrong.
	Format Format
	// KeepFirst keeps the first vector of a word that the file has twice, as
	// gensim does. Without it a kept word with two different vectors is an
	// error, since nobody can say which one is meant.
	KeepFirst bool
	// Progress is called after about every MiB with the number of bytes read
	// so far, packed ones if the file is packed; nil means not at all.
	Progress func(bytes int64)
}

// Open reads the word vectors of a file; the path "-" is standard input. See
// Read for the rest.
func Open(ctx context.Context, path string, opts Options) (*Vectors, error) {
	if path == "-" {
		return Read(ctx, os.Stdin, "standard input", opts)
	}
	in, err := input.Open(path, reading(ctx, opts))
	if err != nil {
		return nil, err
	}
	return read(in, opts)
}

// Read reads word vectors from r, packed or not, in one pass; name stands for
// r in errors. It holds the kept vectors and a buffer, whatever the length of
// r. It reads to the end, but for a fastText .bin, of which the second half
// (the output matrix) is left unread.
//
// Only what is kept is looked at in full: a damaged number of a word that
// nobody asked for is not noticed, a missing record is. ctx is looked at
// after about every MiB. Each error names the file, and the line where there
// are lines.
func Read(ctx context.Context, r io.Reader, name string, opts Options) (*Vectors, error) {
	in, err := input.New(r, name, reading(ctx, opts))
	if err != nil {
		return nil, err
	}
	return read(in, opts)
}

// reading says what a file of word vectors may be, and has its bytes go through a meter.
func reading(ctx context.Context, opts Options) input.Options {
	return input.Options{Want: "a file of word vectors", Forms: knownForms, Buffer: bufferSize, Window: maxWindow,
		Through: func(r io.Reader) io.Reader { return &meter{ctx: ctx, r: r, progress: opts.Progress} }}
}

// read closes in, whatever comes of it.
func read(in *input.Stream, opts Options) (*Vectors, error) {
	defer in.Close()
	v := &Vectors{
		info:   Info{Name: in.Name, Format: opts.Format},
		index:  map[string]int{},
		wanted: wanted(opts),
		first:  opts.First,
	}
	if err := v.fill(in, opts); err != nil {
		return nil, input.At(in.Name, 0, err)
	}
	v.info.Kept = len(v.words)
	return v, nil
}

// fill reads a file of the given format, or of the one that its content tells.
func (v *Vectors) fill(in *input.Stream, opts Options) (err error) {
	if v.info.Format == Auto {
		if v.info.Format, err = detect(in); err != nil {
			return err
		}
	}
	switch v.info.Format {
	case Word2VecBinary:
		return v.readBinary(in.Reader, opts)
	case Word2VecText, GloVe:
		return v.readText(in, opts)
	case FastTextBinary:
		return v.readFastText(in.Reader, opts)
	}
	return fmt.Errorf("unknown format %v", v.info.Format)
}

// wanted returns the spellings to keep, or nil for all.
func wanted(opts Options) map[string]struct{} {
	if opts.Names == nil && opts.Words == nil && opts.First <= 0 {
		return nil
	}
	set := make(map[string]struct{})
	for _, word := range opts.Words {
		set[word] = struct{}{}
	}
	for _, name := range opts.Names {
		eachSpelling(name, func(s string) { set[s] = struct{}{} })
	}
	return set
}

// keeps reports whether the next word of the file, with these bytes, is to be kept. It
// does not allocate, which counts with millions of unwanted words.
func (v *Vectors) keeps(word []byte) bool {
	if v.first > 0 {
		v.first--
		return true
	}
	if v.wanted == nil {
		return true
	}
	_, ok := v.wanted[string(word)]
	return ok
}

// meter counts what is read and ends it when the context does.
type meter struct {
	ctx      context.Context
	r        io.Reader
	progress func(int64)
	bytes    int64
}

// Read looks at the context before each read, of up to a MiB: often enough for Ctrl-C.
func (m *meter) Read(p []byte) (int, error) {
	if err := m.ctx.Err(); err != nil {
		return 0, fmt.Errorf("stopped after %d bytes: %w", m.bytes, err)
	}
	n, err := m.r.Read(p)
	m.bytes += int64(n)
	if m.progress != nil {
		m.progress(m.bytes)
	}
	return n, err
}

// truncated is err, with the end of the input where there should be more made
// an io.ErrUnexpectedEOF that says what was missing.
func truncated(err error, what string) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("the file ends inside %s: %w", what, io.ErrUnexpectedEOF)
	}
	return err
}

package wordvec

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/treeloss/treeloss/internal/packed"
)

// Limits that no real file comes near. They end the reading of a file that is
// none before it takes memory.
const (
	bufferSize  = 1 << 20 // bytes read at once
	maxWord     = 1 << 16 // bytes
	maxDim      = 100_000
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
	// Names and Words add up. If both are nil, everything is kept; an empty
	// slice that is not nil keeps nothing, which is enough for Info.
	Words []string
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
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("wordvec: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("wordvec: %s is a folder, want a file of word vectors", path)
	}
	return Read(ctx, f, path, opts)
}

// Read reads word vectors from r, packed or not, in one pass; name stands for
// r in errors. It holds the kept vectors and a buffer, whatever the length of
// r. It reads to the end, but for a fastText .bin, of which the second half
// (the output matrix) is left unread.
//
// Only what is kept is looked at in full: a damaged number of a word that
// nobody asked for is not noticed, a missing record is. ctx is looked at
// after about every MiB.
func Read(ctx context.Context, r io.Reader, name string, opts Options) (*Vectors, error) {
	v, err := read(&meter{ctx: ctx, r: r, progress: opts.Progress}, name, opts)
	if err != nil {
		return nil, fmt.Errorf("wordvec: %s: %w", name, err)
	}
	return v, nil
}

func read(r io.Reader, name string, opts Options) (*Vectors, error) {
	in, done, err := unpack(r)
	if err != nil {
		return nil, err
	}
	defer done()
	format := opts.Format
	if format == Auto {
		if format, err = detect(in); err != nil {
			return nil, err
		}
	}
	v := &Vectors{
		info:   Info{Name: name, Format: format},
		index:  map[string]int{},
		wanted: wanted(opts),
	}
	switch format {
	case Word2VecBinary:
		err = v.readBinary(in, opts)
	case Word2VecText, GloVe:
		err = v.readText(in, opts)
	case FastTextBinary:
		err = v.readFastText(in, opts)
	default:
		err = fmt.Errorf("unknown format %v", format)
	}
	if err != nil {
		return nil, err
	}
	v.info.Kept = len(v.words)
	return v, nil
}

// wanted returns the spellings to keep, or nil for all.
func wanted(opts Options) map[string]struct{} {
	if opts.Names == nil && opts.Words == nil {
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

// keeps reports whether the word with these bytes is to be kept. It does not
// allocate, which counts with millions of unwanted words.
func (v *Vectors) keeps(word []byte) bool {
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

// unpack returns a buffered reader of the plain content of r, which is told by
// its first bytes. done frees what unpacking holds.
func unpack(r io.Reader) (in *bufio.Reader, done func(), err error) {
	in = bufio.NewReaderSize(r, bufferSize)
	head, err := in.Peek(6)
	if err != nil && err != io.EOF {
		return nil, nil, err
	}
	for _, other := range []struct{ magic, what string }{
		{"PK\x03\x04", "a zip archive: unpack it first (unzip -p FILE.zip | ... -)"},
		{"\xfd7zXZ\x00", "an xz file: unpack it first (xz -dc FILE.xz | ... -)"},
		{"BZh", "a bzip2 file: unpack it first (bzip2 -dc FILE.bz2 | ... -)"},
		{"\x93NUMPY", "a NumPy array, which has no words"},
		{"\x89HDF\r\n", "an HDF5 file: write its vectors out in word2vec format"},
		{"\x80\x02", pickle}, {"\x80\x03", pickle}, {"\x80\x04", pickle}, {"\x80\x05", pickle},
	} {
		if bytes.HasPrefix(head, []byte(other.magic)) {
			return nil, nil, errors.New("this is " + other.what)
		}
	}
	plain, by, err := packed.Open(in, maxWindow)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", by, err)
	}
	if by == "" {
		return in, func() {}, nil
	}
	return bufio.NewReaderSize(named{plain, by}, bufferSize), func() { plain.Close() }, nil
}

const pickle = "a Python pickle, as gensim's .model files are: save the vectors with save_word2vec_format"

// named puts the unpacker's name before its errors.
type named struct {
	r    io.Reader
	name string
}

func (u named) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%s: %w", u.name, err)
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

// skip discards n bytes.
func skip(in *bufio.Reader, n int64) error {
	const step = 1 << 30 // fits an int everywhere
	for n > 0 {
		did, err := in.Discard(int(min(n, step)))
		if err != nil {
			return err
		}
		n -= int64(did)
	}
	return nil
}

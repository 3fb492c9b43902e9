// Package remote brings objects of S3 and files of web servers to this machine, and
// results back. A command works on copies in a folder of its own; the rest of the program
// knows nothing of it.
//
// An object is fetched in pieces, some at a time, each asked for again where a connection
// breaks, an answer is too short or the server fails. All pieces are of one version of the
// object, or the fetch fails. What is sent is there whole or not at all.
package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// How an object is fetched.
const (
	piece    = 16 << 20 // bytes
	together = 4        // pieces at a time
	attempts = 6        // at a piece, with pauses that double
)

// firstPause is the pause after the first failed attempt; tests shorten it.
var firstPause = 200 * time.Millisecond

// object is one version of a remote file.
type object struct {
	url     string
	bytes   int64  // -1: not known
	version string // what tells this version from others; "" if the server has no such thing
	ranges  bool   // parts of it may be asked for
}

// store is a place of objects. Errors say what is wrong without the URL; those that no
// further attempt can mend are *final.
type store interface {
	stat(ctx context.Context, url string) (object, error)
	// read reads length bytes from a place on, all of an object without ranges.
	read(ctx context.Context, o object, from, length int64) (io.ReadCloser, error)
	// list returns what is in a folder, a URL that ends in a slash, and below it.
	list(ctx context.Context, folder string) ([]object, error)
	write(ctx context.Context, url, file string) error
}

// final is an error that another attempt would meet again.
type final struct{ error }

func (f final) Unwrap() error { return f.error }

// schemes are the beginnings of the URLs that are understood.
var schemes = []string{"s3://", "https://", "http://"}

// IsURL tells whether a file name is a URL of an object.
func IsURL(name string) bool {
	return slices.ContainsFunc(schemes, func(scheme string) bool { return strings.HasPrefix(name, scheme) })
}

// Stage is a folder on this machine with copies of objects, and with results to be sent.
type Stage struct {
	folder  string
	copies  map[string]string // URL to path
	results []string          // URLs, in the order in which they are sent
	stores  map[string]store  // by the scheme

	// Progress, unless nil, is told how many bytes of an object are here, of how many, -1
	// where that is not known; one call at a time.
	Progress func(url string, done, all int64)
}

// NewStage makes a folder for copies among the temporary files. Close removes it.
func NewStage() (*Stage, error) {
	folder, err := os.MkdirTemp("", "treeloss-remote-")
	return &Stage{folder: folder, copies: map[string]string{}, stores: map[string]store{}}, err
}

// Close removes the copies.
func (s *Stage) Close() error { return os.RemoveAll(s.folder) }

// store returns the store of a URL.
func (s *Stage) store(url string) (store, error) {
	scheme, rest, _ := strings.Cut(url, "://")
	if host, _, _ := strings.Cut(rest, "/"); host == "" {
		return nil, final{errors.New("a URL needs a host or a bucket, such as s3://bucket/folder/file.csv")}
	}
	if s.stores[scheme] != nil {
		return s.stores[scheme], nil
	}
	var made store = web{}
	if scheme == "s3" {
		var err error
		if made, err = newS3(os.Getenv); err != nil {
			return nil, err
		}
	}
	s.stores[scheme] = made
	return made, nil
}

// path returns where the copy of a URL lies.
func (s *Stage) path(url string) string {
	if s.copies[url] == "" {
		plain, _, _ := strings.Cut(strings.Replace(url, "://", "/", 1), "?")
		// Clean cannot leave the folder, as it begins with a slash.
		s.copies[url] = filepath.Join(s.folder, filepath.FromSlash(path.Clean("/"+strings.ReplaceAll(plain, ":", "_"))))
	}
	return s.copies[url]
}

// Fetch copies an object to this machine, once, and returns its path; of a URL that ends
// in a slash all objects below it that are wanted, nil for all, and the path of the folder.
// It takes room on the disk of temporary files.
func (s *Stage) Fetch(ctx context.Context, url string, wanted func(name string) bool) (string, error) {
	there := s.copies[url] != ""
	to := s.path(url)
	if there {
		return to, nil
	}
	from, err := s.store(url)
	if err != nil {
		return "", about(url, err)
	}
	var objects []object
	if strings.HasSuffix(url, "/") {
		err = again(ctx, func() error {
			objects, err = from.list(ctx, url)
			return err
		})
		if err == nil {
			err = os.MkdirAll(to, 0o700)
		}
	} else {
		var one object
		err = again(ctx, func() error {
			one, err = from.stat(ctx, url)
			return err
		})
		objects = []object{one}
	}
	if err != nil {
		return "", about(url, err)
	}
	for _, o := range objects {
		if name := strings.TrimPrefix(o.url, url); name != "" && wanted != nil && !wanted(name) {
			continue
		}
		if err := s.fetch(ctx, from, o, s.path(o.url)); err != nil {
			return "", about(o.url, err)
		}
	}
	return to, nil
}

// about says of which URL an error is.
func about(url string, err error) error { return fmt.Errorf("%s: %w", url, err) }

// fetch copies an object to a file.
func (s *Stage) fetch(ctx context.Context, from store, o object, to string) (err error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	var mutex sync.Mutex
	var done int64
	get := func(ctx context.Context, at, length int64) error {
		if err := again(ctx, func() error { return copyPiece(ctx, from, o, at, length, out) }); err != nil {
			return err
		}
		mutex.Lock()
		defer mutex.Unlock()
		done += max(length, 0)
		if s.Progress != nil {
			s.Progress(o.url, done, o.bytes)
		}
		return nil
	}
	if !o.ranges || o.bytes <= piece {
		return get(ctx, 0, o.bytes)
	}
	pieces, ctx := errgroup.WithContext(ctx)
	pieces.SetLimit(together)
	for at := int64(0); at < o.bytes; at += piece {
		pieces.Go(func() error { return get(ctx, at, min(piece, o.bytes-at)) })
	}
	return pieces.Wait()
}

// copyPiece reads length bytes from a place on and writes them to the same place; -1: to
// the end.
func copyPiece(ctx context.Context, from store, o object, at, length int64, to io.WriterAt) error {
	in, err := from.read(ctx, o, at, length)
	if err != nil {
		return err
	}
	defer in.Close()
	n, err := io.Copy(io.NewOffsetWriter(to, at), in)
	if err == nil && length >= 0 && n != length {
		err = fmt.Errorf("the answer has %d bytes in place of %d", n, length)
	}
	return err
}

// again tries until work succeeds, fails for good, or has failed too often.
func again(ctx context.Context, work func() error) error {
	pause := firstPause
	for attempt := 1; ; attempt++ {
		err := work()
		var forGood final
		switch {
		case err == nil || errors.As(err, &forGood) || errors.Is(err, fs.ErrInvalid):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case attempt == attempts:
			return fmt.Errorf("%w (tried %d times)", err, attempts)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		pause *= 2
	}
}

// Result returns the path of a file or, for a URL that ends in a slash, a folder that is
// to be written here and sent by Send.
func (s *Stage) Result(url string) (string, error) {
	to, err := s.store(url)
	if err == nil {
		if _, reads := to.(web); reads {
			err = errors.New("results go to files or to s3://; a web server is read only")
		}
	}
	if err != nil {
		return "", about(url, err)
	}
	if !slices.Contains(s.results, url) {
		s.results = append(s.results, url)
	}
	local := s.path(url)
	if strings.HasSuffix(url, "/") {
		return local, os.MkdirAll(local, 0o700)
	}
	return local, os.MkdirAll(filepath.Dir(local), 0o700)
}

// Send sends the results that were written, the files of a folder in the order of their
// names.
func (s *Stage) Send(ctx context.Context) error {
	for _, url := range s.results {
		to, err := s.store(url)
		if err != nil {
			return about(url, err)
		}
		local := s.path(url)
		err = filepath.WalkDir(local, func(file string, entry fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) && file == local {
				return nil // nothing was written
			}
			if err != nil || entry.IsDir() {
				return err
			}
			target := url
			if file != local {
				name, err := filepath.Rel(local, file)
				if err != nil {
					return err
				}
				target = strings.TrimSuffix(url, "/") + "/" + filepath.ToSlash(name)
			}
			if err := again(ctx, func() error { return to.write(ctx, target, file) }); err != nil {
				return about(target, err)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Named replaces the paths of copies in a text by the URLs that they are of.
func (s *Stage) Named(text string) string {
	if !strings.Contains(text, s.folder) {
		return text
	}
	urls := make([]string, 0, len(s.copies))
	for url := range s.copies {
		urls = append(urls, url)
	}
	slices.SortFunc(urls, func(a, b string) int { return len(s.copies[b]) - len(s.copies[a]) }) // the files of a folder before it
	for _, url := range urls {
		text = strings.ReplaceAll(text, s.copies[url], strings.TrimSuffix(url, "/"))
	}
	return text
}

// NameIn returns a writer to out that writes Named texts.
func (s *Stage) NameIn(out io.Writer) io.Writer { return namingWriter{out, s} }

type namingWriter struct {
	io.Writer
	stage *Stage
}

func (w namingWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.Writer, w.stage.Named(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

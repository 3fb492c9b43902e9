package serve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/explain"
)

// model is a name under which one version of a model after the other is served.
type model struct {
	Model
	current atomic.Pointer[version]

	mutex sync.Mutex // of reloading
	seen  fileState  // of the file when it was last opened, or could not be
}

// fileState tells whether a file was replaced, without reading it: a file of the same size
// and time is the same. The zero value is that of no file.
type fileState struct {
	size int64
	time time.Time
}

func stateOf(path string) (fileState, error) {
	info, err := os.Stat(path)
	if err != nil {
		return fileState{}, err
	}
	return fileState{info.Size(), info.ModTime()}, nil
}

// acquire returns the current version, to be released; nil once the Server is closed.
// Between loading the pointer and counting oneself a reload may have closed the version:
// then the pointer is another one, and the second try finds that.
func (m *model) acquire() *version {
	for {
		v := m.current.Load()
		if v.acquire() {
			return v
		}
		if m.current.Load() == v {
			return nil
		}
	}
}

// version is an opened model:
//
//	open --> current (users 1 + requests) --reload--> old (requests) --last release--> closed
//
// It counts who uses it: each request from when it has chosen
// its model until it is answered, and the model whose current version it is. The last
// one to release it closes it, so that memory that is mapped and a backend stay for as
// long as a request may look at them, and no request waits for a reload.
type version struct {
	name       string // of the model
	id         string // the first digits of the file's SHA-256
	about      classify.About
	classifier classify.Classifier
	queue      *queue

	users atomic.Int64 // and 1 while it is current; 0: closed, and never more again

	explainer *explain.Explainer // nil: not asked for yet
	explains  chan struct{}      // room for the one who explains; a mutex that a context can end

	exploring sync.Mutex
	explored  *prepared // nil: not asked for yet
}

// open opens the file of a model and starts what classifies for it: as many goroutines as
// the model has Runners, which is one for a network. It takes as long as reading the
// file twice, once for the digest; a network is compiled here, and not for its first
// request.
func (s *Server) open(m Model) (*version, error) {
	id, err := digest(m.Path)
	if err != nil {
		return nil, err
	}
	c, err := s.opts.Open(m.Path)
	if err != nil {
		return nil, err
	}
	if m.Balance != nil {
		balanced, err := classify.Rebalance(c, m.Balance)
		if err != nil {
			c.Close()
			return nil, fmt.Errorf("%s: %w", m.Path, err)
		}
		c = balanced
	}
	runners, err := c.Runners(s.opts.Threads)
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("%s: %w", m.Path, err)
	}
	v := &version{name: m.Name, id: id, about: c.About(), classifier: c, explains: make(chan struct{}, 1)}
	if err := v.warmUp(runners[0]); err != nil {
		c.Close()
		return nil, fmt.Errorf("%s: %w", m.Path, err)
	}
	v.users.Store(1)
	v.queue = newQueue(v.about, runners, s.opts.Limits.Queue, s.metrics.batches.WithLabelValues(m.Name))
	return v, nil
}

// warmUp has a network compiled, which is done for its first example and takes seconds, and
// finds out whether there is a backend. The example is an empty text or one grey pixel.
func (v *version) warmUp(run classify.Runner) error {
	x := dataset.Example{Weight: 1}
	switch v.about.Kind {
	case classify.LinearModel:
		return nil
	case classify.PictureNetwork:
		var file strings.Builder
		if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
			return err
		}
		x.Text = file.String()
	}
	_, err := run(context.Background(), []dataset.Example{x}, func(int, []float32) error { return nil })
	return err
}

// digest returns the first 12 digits of the SHA-256 of a file: the same model has the same
// version on every machine, and a client can tell by it which model answered. 48 bits: two
// of a million versions are the same with a chance of 0.2 %.
func digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil))[:12], nil
}

// acquire keeps the version open until release. It tells whether it was open. Not a plain
// Add: that would bring a version back whose last user is closing it.
func (v *version) acquire() bool {
	for {
		n := v.users.Load()
		if n == 0 {
			return false
		}
		if v.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// release closes the version, in the background, if nobody uses it any more: a request
// that was given up may still wait in the queue.
func (v *version) release() {
	if v.users.Add(-1) == 0 {
		go func() {
			v.queue.close()
			v.classifier.Close()
		}()
	}
}

// Reload opens all models anew whose files were replaced, or, with force, all. A model
// that cannot be opened stays as it is; the error says why.
func (s *Server) Reload(force bool) error {
	var failed error
	for _, m := range s.models {
		if err := s.reload(m, force); err != nil && failed == nil {
			failed = err
		}
	}
	return failed
}

// reload is Reload for one model. The old version answers until the new one can. A file
// that could not be opened, such as one that is half copied, is tried again when its size
// or time has changed, not before: else each look would fill the log.
func (s *Server) reload(m *model, force bool) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	state, err := stateOf(m.Path)
	if err == nil && state == m.seen && !force {
		return nil
	}
	if err != nil && !force && m.seen == (fileState{}) {
		return nil // told already
	}
	m.seen = state
	var next *version
	if err == nil {
		next, err = s.open(m.Model)
	}
	if err != nil && m.current.Load() == nil {
		return err
	}
	if err != nil {
		s.metrics.reloads.WithLabelValues(m.Name, "failed").Inc()
		s.opts.Log.Error("model not reloaded, the old one stays", "model", m.Name, "error", err.Error())
		return err
	}
	old := m.current.Swap(next)
	s.metrics.reloads.WithLabelValues(m.Name, "done").Inc()
	if old != nil {
		s.metrics.info.DeleteLabelValues(m.Name, old.id)
		old.release()
		s.opts.Log.Info("model reloaded", "model", m.Name, "version", next.id, "before", old.id)
	}
	s.metrics.info.WithLabelValues(m.Name, next.id).Set(1)
	return nil
}

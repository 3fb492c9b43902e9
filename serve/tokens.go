package serve

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
)

// tokens are those of a file, which is read again when it changes. What makes it
// unreadable or empty leaves the old ones.
//
// Only their SHA-256 is kept: all have one length, so that comparing them takes one time,
// and a dump of memory has no token. They are random, not passwords, and need no slow hash.
type tokens struct {
	path string
	log  *slog.Logger

	mutex  sync.Mutex
	seen   fileState
	looked time.Time // when the file was last looked at
	sums   [][sha256.Size]byte
}

// lookEvery is how long a file of tokens is not looked at again.
const lookEvery = time.Second

// readTokens reads a file of tokens, one a line.
func readTokens(path string, log *slog.Logger) (*tokens, error) {
	t := &tokens{path: path, log: log}
	return t, t.read()
}

// read reads the file anew; the mutex is held. Its state is kept first, so that an error is
// told once for each version of the file.
func (t *tokens) read() error {
	state, err := stateOf(t.path)
	if err != nil {
		return err
	}
	t.seen = state
	data, err := os.ReadFile(t.path)
	if err != nil {
		return err
	}
	var sums [][sha256.Size]byte
	for line := range bytes.Lines(data) {
		if token := bytes.TrimSpace(line); len(token) > 0 {
			sums = append(sums, sha256.Sum256(token))
		}
	}
	if len(sums) == 0 {
		return fmt.Errorf("%s: no token in it; write one a line", t.path)
	}
	t.sums = sums
	return nil
}

// allow tells whether the header of a request has one of the tokens, "Bearer TOKEN" (RFC
// 6750, section 2.1). How long it takes says nothing about them.
func (t *tokens) allow(header string) bool {
	t.mutex.Lock()
	if now := time.Now(); now.Sub(t.looked) > lookEvery {
		t.looked = now
		if state, err := stateOf(t.path); err == nil && state != t.seen {
			if err := t.read(); err != nil {
				t.log.Error("tokens not read again, the old ones stay", "error", err.Error())
			}
		}
	}
	sums := t.sums
	t.mutex.Unlock()

	scheme, token, _ := strings.Cut(header, " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	found := 0
	for i := range sums {
		found |= subtle.ConstantTimeCompare(sum[:], sums[i][:])
	}
	return found == 1 && strings.EqualFold(scheme, "Bearer")
}

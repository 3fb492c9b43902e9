package serve

import (
	"cmp"
	linked "container/list"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/treeloss/treeloss/internal/option"
)

// RunOptions sets up Serve. The zero value serves plain HTTP.
type RunOptions struct {
	Cert, Key   string          // files of a TLS certificate and its key, read again on reload; "": plain HTTP
	Connections int             // open at a time, above which the one that has been idle longest is closed; 0: 2048
	Reload      <-chan struct{} // opens all models anew; nil: never
	Watch       time.Duration   // how often to look for models whose file was replaced; 0: never
	Drain       time.Duration   // how long requests may still run when it stops; 0: 30 s
}

// ServeUntilSignal is Serve that also reloads all models when the process gets SIGHUP, the
// custom of daemons. Of several signals during a reload one counts. o.Reload is replaced.
func (s *Server) ServeUntilSignal(ctx context.Context, l net.Listener, o RunOptions) error {
	hangUps := make(chan os.Signal, 1)
	signal.Notify(hangUps, syscall.SIGHUP)
	defer signal.Stop(hangUps)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	reload := make(chan struct{})
	o.Reload = reload
	go func() {
		for {
			select {
			case <-hangUps:
				select {
				case reload <- struct{}{}:
				case <-ctx.Done():
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return s.Serve(ctx, l, o)
}

// Serve answers requests on l until ctx is done, and then those that have begun. Slow
// clients are cut off: a header must come within 5 s, a request within Limits.Timeout, and
// what a client does not read of an answer is dropped after that time again. It closes l,
// and not the Server. An end by ctx is no error, unless requests had to be cut off because
// they were still running after o.Drain; options out of range are an *option.Error.
func (s *Server) Serve(ctx context.Context, l net.Listener, o RunOptions) error {
	err := cmp.Or(option.Check("Connections", o.Connections, o.Connections >= 0, "a number, 0 for 2048"),
		option.Check("Watch", o.Watch, o.Watch >= 0, "a time such as 2s, 0 for never"),
		option.Check("Drain", o.Drain, o.Drain >= 0, "a time such as 30s"))
	if err != nil {
		return err
	}
	idle := &idleConnections{limit: cmp.Or(o.Connections, 2048)}
	limit := s.opts.Limits.Timeout
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: min(5*time.Second, limit),
		ReadTimeout:       limit,
		WriteTimeout:      2 * limit,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ConnState:         idle.state,
		// What net/http logs are mostly failed TLS handshakes, of which anybody can cause many.
		ErrorLog: slog.NewLogLogger(s.opts.Log.Handler(), slog.LevelDebug),
	}
	var files *certificate
	if o.Cert != "" || o.Key != "" {
		files = &certificate{cert: o.Cert, key: o.Key}
		if err := files.read(); err != nil {
			return err
		}
		server.TLSConfig = &tls.Config{GetCertificate: files.get, MinVersion: tls.VersionTLS12}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var reloads sync.WaitGroup
	reloads.Go(func() { s.reloads(ctx, o, files) })
	failed := make(chan error, 1)
	go func() {
		if files != nil {
			failed <- server.ServeTLS(l, "", "")
			return
		}
		failed <- server.Serve(l)
	}()
	select {
	case err = <-failed:
	case <-ctx.Done():
		s.leaving.Store(true)
		last, done := context.WithTimeout(context.Background(), cmp.Or(o.Drain, 30*time.Second))
		defer done()
		if err = server.Shutdown(last); err != nil {
			server.Close()
		}
	}
	cancel()
	reloads.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// reloads opens models anew until ctx is done.
func (s *Server) reloads(ctx context.Context, o RunOptions, files *certificate) {
	var tick <-chan time.Time
	if o.Watch > 0 {
		t := time.NewTicker(o.Watch)
		defer t.Stop()
		tick = t.C
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
			_ = s.Reload(false) // logged
		case <-o.Reload:
			_ = s.Reload(true)
			if files == nil {
				continue
			}
			if err := files.read(); err != nil {
				s.opts.Log.Error("certificate not reloaded, the old one stays", "error", err.Error())
			}
		}
	}
}

// certificate is that of TLS files. A renewed one is read by a reload, and connections that
// are open keep the one they began with.
type certificate struct {
	cert, key string
	mutex     sync.Mutex
	pair      *tls.Certificate
}

func (c *certificate) read() error {
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.pair = &pair
	return nil
}

func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.pair, nil
}

// idleConnections closes the connection that has been idle longest when there are too
// many: so nobody locks others out by holding connections open, and each takes memory.
//
// A netutil.LimitListener would make new clients wait until an old one leaves.
type idleConnections struct {
	limit int
	mutex sync.Mutex
	open  int
	idle  linked.List                  // of net.Conn, in the order in which they became idle
	at    map[net.Conn]*linked.Element // of idle
}

// state is a ConnState of http.Server, in O(1). A new connection counts as idle until its
// first header has come.
func (c *idleConnections) state(conn net.Conn, state http.ConnState) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.at == nil {
		c.at = make(map[net.Conn]*linked.Element)
	}
	c.remove(conn)
	switch state {
	case http.StateNew:
		c.open++
		c.at[conn] = c.idle.PushBack(conn)
	case http.StateIdle:
		c.at[conn] = c.idle.PushBack(conn)
	case http.StateClosed, http.StateHijacked:
		c.open--
	}
	if state == http.StateNew && c.open > c.limit {
		// Of many that are busy, and soon too slow, there may be twice as many.
		if oldest := c.idle.Front().Value.(net.Conn); oldest != conn || c.open > 2*c.limit {
			c.remove(oldest)
			oldest.Close()
		}
	}
}

// remove takes a connection out of the idle ones, if it is one.
func (c *idleConnections) remove(conn net.Conn) {
	if e := c.at[conn]; e != nil {
		c.idle.Remove(e)
		delete(c.at, conn)
	}
}

package main

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/deep/anymodel"
	"github.com/treeloss/treeloss/serve"
)

// serveFlags are the flags of treeloss serve.
type serveFlags struct {
	models  []string
	balance []string
	address string
	body    sizeFlag
	backend string
	log     string
	serve.Options
	run serve.RunOptions
}

// Forms of the access log.
const (
	logText = "text"
	logJSON = "json"
	logOff  = "off"
)

func newServe(a *app) *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:   "serve --model [NAME=]MODEL [--addr HOST:PORT]",
		Short: "Answer over HTTP with trained models",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return f.serve(c, a) },
	}
	flags := c.Flags()
	flags.StringArrayVar(&f.models, "model", nil, "model file that treeloss train wrote, or NAME=FILE; several may be given")
	flags.StringArrayVar(&f.balance, "class-balance", nil, "how frequent classes are, as for predict; [NAME=]FILE or [NAME=]uniform, of a model or of all")
	flags.StringVar(&f.address, "addr", "127.0.0.1:8080", "host and port to listen on; :8080 for all hosts, port 0 for any that is free")
	flags.DurationVar(&f.run.Watch, "watch", 0, "look so often for models whose file was replaced, such as 2s (default never)")
	flags.StringVar(&f.Tokens, "token-file", "", "bearer tokens, one a line, of which a request must have one; health and the page are free")
	flags.StringVar(&f.run.Cert, "tls-cert", "", "TLS certificate with its chain, as PEM; goes with --tls-key")
	flags.StringVar(&f.run.Key, "tls-key", "", "private key of the TLS certificate, as PEM; goes with --tls-cert")
	flags.Var(&f.body, "max-body", "longest body of a request, unpacked, such as 1M (default 4M)")
	flags.IntVar(&f.Limits.MaxItems, "max-items", 1024, "most examples of a request; more are refused with 413")
	flags.IntVar(&f.Limits.Queue, "queue", 8192, "most examples that wait for a model; more are refused with 429")
	flags.DurationVar(&f.Limits.Timeout, "timeout", 10*time.Second, "longest time of a request; what takes longer is refused with 408 or 503")
	flags.IntVar(&f.run.Connections, "connections", 2048, "connections to keep; above that the one that is idle longest is closed")
	flags.DurationVar(&f.run.Drain, "drain", 30*time.Second, "time that requests have to end when the server is told to stop")
	flags.IntVar(&f.Threads, "threads", 0, threadsHelp)
	addBackend(c, &f.backend)
	addWord(c, &f.log, "log", "form of the access log: text, json or off", logText, logJSON, logOff)
	return c
}

// serve opens the models and answers until it is told to stop.
func (f *serveFlags) serve(c *cobra.Command, a *app) error {
	if len(f.models) == 0 {
		return usagef("no model: name the file that treeloss train wrote with --model")
	}
	if (f.run.Cert == "") != (f.run.Key == "") {
		return usagef("--tls-cert and --tls-key go together: give both")
	}
	for _, given := range f.models {
		name, path, named := strings.Cut(given, "=")
		if !named {
			name, path = modelName(given), given
		}
		f.Models = append(f.Models, serve.Model{Name: name, Path: path})
	}
	for _, given := range f.balance {
		if err := f.rebalance(given); err != nil {
			return err
		}
	}
	networks := 0
	f.Open = func(path string) (classify.Classifier, error) {
		m, err := anymodel.Open(path, anymodel.Options{Backend: f.backend, Log: a.logf})
		if err == nil && m.About().Kind != classify.LinearModel {
			networks++
		}
		return m, err
	}
	f.Log, f.Program, f.Limits.MaxBody = f.logger(a), program(), f.body.bytes
	s, err := serve.New(f.Options)
	if err != nil {
		return err
	}
	defer s.Close()
	if c.Flags().Changed("backend") && networks == 0 {
		return usagef("--backend has no effect without a network")
	}
	for _, m := range f.Models {
		a.logf("%s: %s", m.Name, m.Path)
	}
	return listen(c.Context(), a, s, f.address, f.run)
}

// rebalance gives one model, or all, the class frequencies of a --class-balance.
func (f *serveFlags) rebalance(given string) error {
	name, how, one := strings.Cut(given, "=")
	if !one {
		how = given
	}
	weights, err := corpus.ReadBalance(how)
	if err != nil {
		return err
	}
	found := false
	for i := range f.Models {
		if m := &f.Models[i]; !one || m.Name == name {
			m.Balance, found = weights, true
		}
	}
	if !found {
		return usagef("--class-balance %s: no model is called %s", given, name)
	}
	return nil
}

// listen answers on an address until it is told to stop, and reloads on SIGHUP.
func listen(ctx context.Context, a *app, s *serve.Server, address string, o serve.RunOptions) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return usagef("--addr %s: %v; name a host of this machine and a port that is free", address, cmp.Or(cause(err), err))
	}
	scheme := "http"
	if o.Cert != "" {
		scheme = "https"
	}
	a.logf("serving on %s://%s", scheme, l.Addr())
	return s.ServeUntilSignal(ctx, l, o)
}

// modelName is how a model is called unless told otherwise: its file without endings.
func modelName(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	return name
}

// logger returns the access log.
func (f *serveFlags) logger(a *app) *slog.Logger {
	switch {
	case a.quiet || f.log == logOff:
		return nil
	case f.log == logJSON:
		return slog.New(slog.NewJSONHandler(a.log, nil))
	}
	return slog.New(slog.NewTextHandler(a.log, nil))
}

// cause returns what the system said about an address, without the call that failed.
func cause(err error) error {
	for {
		next, ok := err.(interface{ Unwrap() error })
		if !ok {
			return err
		}
		err = next.Unwrap()
	}
}

package main

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/deep/anymodel"
	"github.com/treeloss/treeloss/internal/explorer"
	"github.com/treeloss/treeloss/serve"
)

// exploreFlags are the flags of treeloss explore.
type exploreFlags struct {
	modelFlags
	data                   dataFlags
	baseline, address, out string
}

// newExplore returns treeloss explore.
//
//	reads    --model of any kind, --data once, and once more for --baseline
//	does     explorer.Explorer, in package serve or as files
//	writes   the folder --out
//	exits    as evaluate; when it serves, on Ctrl-C
func newExplore(a *app) *cobra.Command {
	var f exploreFlags
	c := &cobra.Command{
		Use:   "explore --model MODEL [--data FILE] [--out DIR | --addr HOST:PORT]",
		Short: "Look at a model in a browser: its tree, its confusions, a text",
		Args:  addTo(&f.data.data),
		RunE:  func(c *cobra.Command, _ []string) error { return f.run(c.Context(), a) },
	}
	f.modelFlags.add(c)
	f.data.addColumns(c)
	flags := c.Flags()
	flags.StringVar(&f.baseline, "baseline", "", "model to compare with on --data, for the gain of each class: one with --sharing none")
	flags.StringVar(&f.address, "addr", "127.0.0.1:8080", "host and port to listen on; :8080 for all hosts, port 0 for any that is free")
	flags.StringVar(&f.out, "out", "", "folder to write the page into as files, DIR/index.html, instead of serving it")
	flags.StringVar(&f.data.classNames, "class-names", "", classNamesHelp)
	return c
}

func (f *exploreFlags) run(ctx context.Context, a *app) error {
	defer f.data.skipped.in(a)()
	if f.out != "" && f.flags.Changed("addr") {
		return usagef("--out writes files and --addr serves the page; give one of them")
	}
	if len(f.data.data) == 0 && f.baseline != "" {
		return usagef("--baseline needs examples to be compared on: name them with --data")
	}
	if f.out != "" {
		if err := cmp.Or(spareIn("--out", f.out, sources("--data", f.data.data...)), checkReport("--out", f.out)); err != nil {
			return err
		}
	}
	m, err := f.open(a)
	if err != nil {
		return err
	}
	defer m.Close()
	e, err := explorer.New(m, modelName(f.model))
	if err != nil {
		return err
	}
	if err := f.measure(ctx, a, m, e); err != nil {
		return err
	}
	if f.out != "" {
		if err := e.Save(ctx, f.out); err != nil {
			return err
		}
		a.logf("page: %s", filepath.Join(f.out, "index.html"))
		return nil
	}
	s, err := serve.New(serve.Options{Models: []serve.Model{{Name: "model", Path: f.model}}, Explorer: e, Threads: f.threads, Program: program(),
		Open: func(string) (classify.Classifier, error) { return m, nil }})
	if err != nil {
		return err
	}
	defer s.Close()
	return listen(ctx, a, s, f.address, serve.RunOptions{})
}

// measure runs the models over the examples.
func (f *exploreFlags) measure(ctx context.Context, a *app, m classify.Classifier, e *explorer.Explorer) error {
	if len(f.data.data) == 0 {
		return nil
	}
	x, err := f.data.open(a, m, f.threads, false)
	if err != nil {
		return err
	}
	defer x.Close()
	if err := e.Measure(ctx, m, x, f.data.data); err != nil || f.baseline == "" {
		return err
	}
	b, err := anymodel.Open(f.baseline, anymodel.Options{Backend: f.backend, Beam: f.beam, Log: a.logf})
	if err != nil {
		return err
	}
	defer b.Close()
	return e.Compare(ctx, b, func() (classify.Examples, error) { return f.data.open(a, b, f.threads, false) }, f.baseline)
}

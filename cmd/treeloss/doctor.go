package main

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/doctor"
)

// doctorFlags are the flags of treeloss doctor.
type doctorFlags struct {
	data    dataFlags
	files   classFileFlags
	options doctor.Options

	unlabeled []string
}

// newDoctor returns treeloss doctor.
//
//	reads    --data and the files about the classes; writes nothing
//	does     doctor.Examine
//	prints   its report as text, or as one document with --json
//	exits    1 for files; 2 for flags. Advice against sharing is no failure
func newDoctor(a *app) *cobra.Command {
	var f doctorFlags
	c := &cobra.Command{
		Use:   "doctor --data FILE",
		Short: "Will sharing between classes help here, and by which source?",
		Args:  addTo(&f.data.data),
		RunE:  func(c *cobra.Command, _ []string) error { return f.run(c.Context(), a) },
	}
	f.data.add(c)
	flags := c.Flags()
	f.files.add(c)
	addFrom(c, &f.options.From, "what distances between classes come from")
	flags.Float64Var(&f.options.Base, "base", 2, "base of the cover tree for the norms: 2, as in the paper, or the --base that you train with")
	addText(c, &f.options.Train, "train", "train to measure: on, however long it takes; off, for a quick look; auto, if it takes seconds", "auto", "on", "off")
	flags.Lookup("train").NoOptDefVal = "on"
	flags.StringArrayVar(&f.unlabeled, "unlabeled", nil, "examples without labels: are they like the labelled ones? May be repeated")
	flags.Uint64Var(&f.options.Seed, "seed", 1, "the only source of randomness: of held-out rows and samples")
	flags.IntVar(&f.options.Threads, "threads", 0, threadsHelp)
	a.jsonFlag(c)
	return c
}

func (f *doctorFlags) run(ctx context.Context, a *app) error {
	opts := f.options
	if err := cmp.Or(f.files.check(opts.From, f.data.data), opts.Check()); err != nil {
		return err
	}
	defer f.data.keepMemory()()
	data, rows, records, err := f.read(ctx, a)
	if err != nil {
		return f.data.inFile(err)
	}
	bar := a.bar()
	opts.Progress = bar.Train
	report, err := doctor.Examine(ctx, data, rows, records, opts)
	bar.Clear()
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(report)
	}
	return report.WriteText(a.out)
}

// read reads the examples, into a corpus and into the doctor's records, and what
// is known about their classes. It returns the rows of classes that were kept.
func (f *doctorFlags) read(ctx context.Context, a *app) (*corpus.Data, []int, *doctor.Records, error) {
	if len(f.data.data) == 0 {
		return nil, nil, nil, usagef("no data: name a file of examples with --data")
	}
	if err := f.data.check(); err != nil {
		return nil, nil, nil, err
	}
	defer f.data.skipped.in(a)()
	r, err := a.openExamples(f.data.data, f.data.Options)
	if err != nil {
		return nil, nil, nil, err
	}
	defer r.Close()
	examples, records, err := doctor.Read(r, f.data.memory.bytes)
	if err != nil {
		return nil, nil, nil, err
	}
	a.logf("%s", r.Describe())
	if err := f.data.readUnlabeled(a, examples, f.unlabeled, f.options.Seed); err != nil {
		return nil, nil, nil, err
	}
	data, rows, err := f.files.data(ctx, a, examples, dataset.Range(0, records.Rows()))
	return data, rows, records, err
}

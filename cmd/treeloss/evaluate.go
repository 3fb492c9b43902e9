package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/evaluate"
	"github.com/treeloss/treeloss/internal/atomicfile"
	"github.com/treeloss/treeloss/internal/input"
	"github.com/treeloss/treeloss/internal/report"
	"github.com/treeloss/treeloss/internal/scorecard"
	"github.com/treeloss/treeloss/internal/shard"
)

// evaluateFlags are the flags of treeloss evaluate.
type evaluateFlags struct {
	modelFlags
	data       dataFlags
	decision   decisionFlags
	options    evaluate.Options
	oos        string
	perClass   bool
	rows       rowFlags
	confusions string
	report     string
	shard      shardFlags
	shared     shared
}

// newEvaluate returns treeloss evaluate.
//
//	reads    --model of any kind, --data and --oos a block of rows at a time, --taxonomy
//	does     evaluate.Evaluation: each answer is counted and forgotten
//	writes   --out and --confusions, whole, when all examples are counted
//	prints   the metrics, the worst classes and the confusions, or one document with --json
//	exits    1 if model and examples do not go together, or with --unknown-labels error at
//	         a label that was never trained; 2 for flags
func newEvaluate(a *app) *cobra.Command {
	var f evaluateFlags
	c := &cobra.Command{
		Use:   "evaluate --model MODEL --data FILE",
		Short: "Measure a model on labelled examples",
		Args:  addTo(&f.data.data),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.decision.check(c); err != nil {
				return err
			}
			return f.shard.run(a, c.Name(), f.model, f.data.data, func(a *app, s shared) error {
				f.data.Shard, f.shared = s.part, s
				return f.run(c.Context(), a)
			})
		},
	}
	f.data.addColumns(c)
	f.decision.add(c)
	flags := c.Flags()
	flags.StringVar(&f.data.LabelSeparator, "label-separator", "", labelSeparatorHelp+" (default as in training)")
	f.modelFlags.add(c)
	f.addBalance(c)
	addWord(c, &f.options.UnknownLabels, "unknown-labels", "labels that were never trained: wrong counts them as wrong, skip leaves them out, or error", evaluate.Wrong, evaluate.Stop, evaluate.Skip)
	flags.StringVar(&f.oos, "oos", "", "out-of-scope examples: a file of texts, or of rows with labels of other classes")
	flags.BoolVar(&f.perClass, "per-class", false, "print all classes, not only the worst ones")
	f.rows.add(c, &f.data)
	f.shard.add(c, &f.rows.out)
	flags.StringVar(&f.confusions, "confusions", "", "file to write, .csv: the confusion matrix, classes in the order of the tree")
	reportFlag(c, &f.report)
	flags.StringVar(&f.data.classNames, "class-names", "", classNamesHelp)
	a.jsonFlag(c)
	return c
}

func (f *evaluateFlags) run(ctx context.Context, a *app) error {
	defer f.data.skipped.in(a)()
	if len(f.data.data) == 0 {
		return usagef("no data: name a file of labelled examples with --data")
	}
	if f.oos == "-" && isStream(f.data.data) {
		return usagef("--data and --oos cannot both be the standard input; name a file for one of them")
	}
	if f.shared.any() {
		if f.rows.out = ""; f.report != "" || f.data.ID != "" {
			return usagef("parts of --shard count examples and keep no rows: leave out --report and --id, or give --id to treeloss predict")
		}
	}
	rule := f.decision.rule
	if err := cmp.Or(decide.Rule{Confidence: rule.Confidence}.Check(), decide.Rule{Reject: rule.Reject}.Check(), f.options.UnknownLabels.Check()); err != nil {
		return err
	}
	m, err := f.open(a)
	if err != nil {
		return err
	}
	defer m.Close()
	if m.About().Multilabel != nil {
		return f.runMultilabel(ctx, a, m)
	}
	if f.options.Tree, err = f.decision.tree(m.About(), f.model); err != nil {
		return err
	}
	if err := f.decision.promise(a, m.About(), f.model); err != nil {
		return err
	}
	f.options.Rule = f.decision.rule
	card, err := f.card(m.About())
	if err != nil {
		return err
	}
	rows, err := f.rows.create(&f.data, f.report != "", f.oos, f.decision.taxonomy)
	if err != nil {
		return err
	}
	defer rows.discard()
	if rows != nil || card != nil {
		f.options.Rows = func(r evaluate.Row) { rows.write(r); card.add(r) }
	}
	if f.confusions != "" {
		if f.confusions == f.rows.out {
			return usagef("--confusions and --out name the same file, %s; name two", f.rows.out)
		}
		// A file that cannot be written is found out before the work, not behind it.
		probe, err := createTable("confusions", f.confusions, append(slices.Clone(f.data.data), f.oos, f.decision.taxonomy), ".csv")
		if err != nil {
			return err
		}
		probe.Discard()
	}
	e, err := evaluate.New(m, f.options)
	if err != nil {
		return err
	}
	start := time.Now()
	f.decision.hint(a, m.About())
	err = f.count(ctx, a, m, e, func() error {
		if f.oos == "" {
			return nil
		}
		if err := f.outOfScope(ctx, a, m, e); err != nil {
			return fmt.Errorf("--oos: %w", err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	r, err := e.Result()
	if errors.Is(err, evaluate.ErrScope) {
		return fmt.Errorf("--oos %s: %w", f.oos, err)
	}
	if err != nil {
		return err
	}
	r.Model, r.Seconds = f.model, time.Since(start).Seconds()
	if r.OutOfScope != nil {
		r.OutOfScope.File = f.oos
	}
	f.warn(a, r)
	if r.Report.Examples == 0 && f.options.UnknownLabels == evaluate.Skip {
		return fmt.Errorf("%s: none of the %d examples has a label of %s; is it the right model, and --label the right column?", f.data.first(), r.Skipped, f.model)
	}
	if a.json {
		if err := a.printJSON(r); err != nil {
			return err
		}
	} else {
		scorecard.Print(a.out, r, f.perClass)
	}
	// What can be written is, whatever else fails.
	err = rows.commit(a)
	if f.confusions != "" {
		failed := atomicfile.Write(f.confusions, e.WriteConfusions)
		if failed == nil {
			a.logf("confusions: %s", f.confusions)
		}
		err = cmp.Or(err, failed)
	}
	return cmp.Or(err, card.save(a, e, r))
}

// counting is an evaluation of one label an example or of several.
type counting interface {
	Count(context.Context, classify.Examples) error
	Merge([]byte) error
}

// partCounts is a part of an evaluation.
type partCounts struct {
	Skipped []dataset.Place `json:"skipped,omitempty"` // by --skip-bad
	Counts  any             `json:"counts"`
}

// count runs a model over the examples and then what is to be done beside, or takes what
// the parts have counted. A part writes its counts to a.out, and ends with shard.ErrPart.
func (f *evaluateFlags) count(ctx context.Context, a *app, m classify.Classifier, e counting, beside func() error) error {
	if f.shared.parts != nil {
		return f.merge(e)
	}
	x, err := f.data.open(a, m, f.threads, false)
	if err != nil {
		return err
	}
	defer x.Close()
	if err = e.Count(ctx, x); err == nil {
		err = beside()
	}
	if err != nil || !f.shared.any() {
		return err
	}
	return cmp.Or(encode(a.out, partCounts{f.data.skipped.places(), e}), shard.ErrPart)
}

// merge takes what the parts have counted.
func (f *evaluateFlags) merge(e counting) error {
	for _, path := range f.shared.parts.Files {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var counts json.RawMessage
		part := partCounts{Counts: &counts}
		if err = json.Unmarshal(text, &part); err == nil {
			err = e.Merge(counts)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		f.data.skipped.take(part.Skipped)
	}
	return nil
}

// card is a page to be written; nil: none.
type card struct {
	scorecard.Card
	folder string
}

// card returns the page that --report asks for, and refuses a folder that it cannot be written to.
func (f *evaluateFlags) card(about classify.About) (*card, error) {
	if f.report == "" {
		return nil, nil
	}
	files := slices.Concat(sources("--data", f.data.data...), sources("--labels", f.data.Labels), sources("--oos", f.oos), sources("--taxonomy", f.decision.taxonomy), sources("--model", f.model))
	if err := cmp.Or(spareIn("--report", f.report, files), checkReport("--report", f.report)); err != nil {
		return nil, err
	}
	if f.options.Tree != nil || about.Tree != nil {
		f.options.Confidences = scorecard.Confidences()
	}
	return &card{scorecard.Card{About: about, Data: f.data.data, Mistakes: new(scorecard.Mistakes), Facts: []report.Fact{{Name: "Program", Value: program()}}}, f.report}, nil
}

// add keeps the row of a mistake.
func (c *card) add(r evaluate.Row) {
	if c != nil {
		c.Mistakes.Add(r)
	}
}

// save writes the page.
func (c *card) save(a *app, e *evaluate.Evaluation, r *evaluate.Result) error {
	if c == nil {
		return nil
	}
	c.Evaluation, c.Result = e, r
	page, err := c.Page()
	if err != nil {
		return err
	}
	return savePage(a, page, c.folder)
}

// outOfScope counts examples of no class. Their columns are those of the other
// examples; a label may be missing.
func (f *evaluateFlags) outOfScope(ctx context.Context, a *app, m classify.Classifier, e *evaluate.Evaluation) error {
	like := f.data
	like.data, like.Labels, like.ID = []string{f.oos}, "", ""
	x, err := like.open(a, m, f.threads, true)
	if err != nil {
		return err
	}
	defer x.Close()
	return e.CountOutOfScope(ctx, x)
}

// shownUnknown is how many labels a warning names.
const shownUnknown = 5

// warn tells of labels that were never trained.
func (f *evaluateFlags) warn(a *app, r *evaluate.Result) {
	if len(r.Unknown) == 0 {
		return
	}
	var some []string
	for _, u := range r.Unknown[:min(len(r.Unknown), shownUnknown)] {
		some = append(some, fmt.Sprintf("%q (%d, first at %s)", u.Label, u.Examples, u.First))
	}
	fate := "they count as wrong"
	if f.options.UnknownLabels == evaluate.Skip {
		fate = "they are left out"
	}
	a.logf("warning: %d of %d examples have a label that was never trained, %s: %s", r.Report.Unknown, r.Report.Examples+r.Skipped, fate, input.Some(some, shownUnknown, len(r.Unknown)))
}

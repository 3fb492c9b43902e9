package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/internal/option"
	"github.com/treeloss/treeloss/internal/scorecard"
	"github.com/treeloss/treeloss/multilabel"
	"github.com/treeloss/treeloss/softmax"
	"github.com/treeloss/treeloss/tune"
)

// trainFlags are the flags of treeloss train.
type trainFlags struct {
	trainingFlags
	valid       []string
	validLabels string
	model       string
	initModel   string
	resume      bool
	calibrate   onOff
	mode        string // auto, flat or tree
	thresholds  multilabel.Thresholds
	network     networkFlags
	shard       shardFlags
	shared      shared

	calibration string         // what came of calibrate, in words
	flags       *pflag.FlagSet // all of them, for the training record
}

// newTrain returns treeloss train.
//
//	reads    --data, --valid, --class-weight, the files about the classes, --init-model;
//	         with --resume MODEL.checkpoint, or MODEL.training of a network
//	does     plan.Train: the choice on held-out rows, the fit on all rows, the calibration
//	writes   MODEL, whole or not at all; each epoch of SGD and AdamW MODEL.checkpoint, which
//	         goes when training ends; a network the folder MODEL.training
//	prints   the candidates and what was chosen, or the training record with --json
//	exits    1 for what is wrong with a file, and a training that diverges; 2 for flags that
//	         contradict each other, before anything is read
func newTrain(a *app) *cobra.Command {
	var f trainFlags
	c := &cobra.Command{
		Use:   "train --data FILE --model MODEL",
		Short: "Train a classifier on a file of examples",
		Args:  addTo(&f.data.data),
		RunE: func(c *cobra.Command, _ []string) error {
			net := f.network.fit.Network
			if err := checkTraining(c.Flags(), f.trainer.name, net); err != nil {
				return err
			}
			if c.Flags().Changed("valid-labels") && len(f.valid) == 0 {
				return usagef("--valid-labels goes with --valid")
			}
			return f.shard.run(a, commandTrain, "", f.data.data, func(a *app, s shared) error {
				switch f.shared = s; {
				case s.any() && (f.mode != modeTree || net != ""):
					return usagef("--shard divides the leaves of --mode tree; give that, too, or train without --shard")
				case net != "":
					return f.runNetwork(c.Context(), a)
				}
				return f.run(c.Context(), a)
			})
		},
	}
	f.addPlan(c)
	f.add(c)
	f.network.add(c)
	flags := c.Flags()
	flags.StringVar(&f.model, "model", "", "file to write the model to; an old model is replaced when training has ended")
	f.addValid(c)
	f.addMode(c)
	f.shard.add(c, nil)
	flags.StringVar(&f.initModel, "init-model", "", "model to start from: of the same task, or for resnet50 weights of torchvision or timm")
	f.calibrate = true
	flags.VarPF(&f.calibrate, "calibrate", "", "on or off: calibrate the probabilities on held-out rows").NoOptDefVal = "on"
	flags.BoolVar(&f.resume, "resume", false, "sgd, adamw, mode tree: go on from MODEL.checkpoint after an interrupted run")
	a.jsonFlag(c)
	f.flags = flags
	f.addMultilabel()
	return c
}

// trained is what train prints.
type trained struct {
	Model    string           `json:"model"`
	Examples int              `json:"examples"`
	Classes  int              `json:"classes"`
	Features int              `json:"features"`
	Seconds  float64          `json:"seconds"`
	Training softmax.Training `json:"training"`
}

func (f *trainFlags) run(ctx context.Context, a *app) error {
	f.data.scratch = f.shared.folder
	if f.shared.part.Count == 0 {
		if err := checkTarget(f.model); err != nil {
			return err
		}
		f.data.scratch = filepath.Dir(f.model)
	}
	opts, err := f.options()
	if err != nil {
		return err
	}
	if err := cmp.Or(f.plan.Check(), f.needsValid()); err != nil {
		return err
	}
	defer f.data.keepMemory()()
	start := time.Now()
	if opts.Init, err = f.init(); err != nil {
		return err
	}
	if f.data.Several() {
		return f.runMultilabel(ctx, a, start)
	}
	data, err := f.read(ctx, a, f.measured())
	if f.hasSeveral(a, err) {
		return f.runMultilabel(ctx, a, start)
	}
	if err != nil {
		return err
	}
	defer data.examples.Close()
	if f.flags.Changed("thresholds") {
		a.logf("--thresholds has no effect with one class an example")
	}
	if e := data.Table.Encoder(); e != nil {
		f.data.encoderPrint = e.Fingerprint()
	}
	about := softmax.Training{Program: program(), Data: data.fingerprint, Options: f.given()}
	if err := f.files.record(about.Options, data.Found); err != nil {
		return err
	}
	opts.Valid = data.measure
	n := len(data.rows)
	if data.Stream != nil {
		n = data.Stream.Rows()
		a.logf("the examples do not fit the memory: they are trained on as a stream from a file beside the model, with the features of a random sample of %d", len(data.rows))
	}
	a.logf("%d examples of %d classes", n, len(data.Classes.Labels))
	tree, why, err := f.takesTree(data.Data, data.rows)
	if err != nil {
		return err
	}
	if tree {
		return f.runTree(ctx, a, data, why, about, start)
	}
	a.logf("%s", data.Need(len(data.rows)))
	if err := f.checkpoints(a, &opts, data.examples.Fingerprint()); err != nil {
		return err
	}
	bar := a.bar()
	bar.Examples = n
	opts.Progress = bar.Train
	model, result, err := f.plan.Train(ctx, data.Data, data.rows, opts, about)
	bar.Clear()
	if err != nil {
		return f.interrupted(ctx, fmt.Errorf("training on %s: %w", f.data.first(), err), opts)
	}
	err = f.finish(ctx, model, data.Data, data.rows, result, opts)
	bar.Clear()
	if err != nil {
		return f.interrupted(ctx, fmt.Errorf("training on %s: %w", f.data.first(), err), opts)
	}
	if err := model.Save(f.model); err != nil {
		return err
	}
	f.removeCheckpoint(a, opts)
	return f.print(a, model, result, time.Since(start))
}

// addValid adds the flags of the examples to choose by.
func (f *trainFlags) addValid(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.valid, "valid", nil, "examples to choose by, if you keep a set for that, instead of held-out rows of the training data")
	c.Flags().StringVar(&f.validLabels, "valid-labels", "", "labels of the rows of --valid, if that is an .npy file, which holds none")
}

// measured are the examples to choose by.
func (f *trainFlags) measured() measured {
	return measured{flag: "--valid", rows: "rows of --valid", paths: f.valid, labels: f.validLabels}
}

// needsValid refuses a patience without examples to measure on.
func (f *trainFlags) needsValid() error {
	if len(f.valid) == 0 && f.trainer.sgd.Patience > 0 {
		return option.Refuse("%s needs examples to measure on, name them with %s", "Patience", "Valid")
	}
	return nil
}

// init reads the model to start from.
func (f *trainFlags) init() (*softmax.Model, error) {
	if f.initModel == "" {
		return nil, nil
	}
	return loadModel(f.initModel)
}

// given lists what was asked for beyond the defaults, for the model file. Of
// files it says only that they were given: a path is no part of a model.
func (f *trainFlags) given() map[string]string {
	o := make(map[string]string)
	f.flags.VisitAll(func(flag *pflag.Flag) {
		if !flag.Changed || flag.Value.String() == flag.DefValue {
			return
		}
		switch flag.Name {
		case "model", "multilabel", "data", "labels", "valid-labels", "format", "threads", "memory", "seed", "resume", "json", "quiet", "backend", "tensorboard", "shard", "out":
		case "taxonomy", "label-vectors", "distances", "weights-model", "valid", "init-model", "class-names", "unlabeled":
			o[flag.Name] = "given"
		case "encoder":
			o[flag.Name] = f.data.encoderPrint
		case "class-weight":
			o[flag.Name] = corpus.Balanced
			if f.classWeight != corpus.Balanced {
				o[flag.Name] = "given"
			}
		default:
			o[flag.Name] = flag.Value.String()
		}
	})
	return o
}

func (f *trainFlags) print(a *app, m *softmax.Model, r *tune.Result, took time.Duration) error {
	if a.json {
		if m.Training.Calibration == nil && f.calibration != "" {
			a.logf("%s", f.calibration)
		}
		return a.printJSON(trained{Model: f.model, Examples: m.Training.Examples, Classes: len(m.Labels),
			Features: m.Features.Dim(), Seconds: took.Seconds(), Training: m.Training})
	}
	scorecard.PrintCandidates(a.out, r, namesInFlags)
	if f.calibration != "" {
		fmt.Fprintln(a.out, f.calibration)
	}
	if n := m.Training.MinRows; n > 1 {
		fmt.Fprintf(a.out, "n-grams in fewer than %d examples are left out: all of them times %d classes would be too many weights\n", n, len(m.Labels))
	}
	fmt.Fprintf(a.out, "%s: %d classes, %d features, trained on %d examples in %.1f s\n",
		f.model, len(m.Labels), m.Features.Dim(), m.Training.Examples, took.Seconds())
	return nil
}

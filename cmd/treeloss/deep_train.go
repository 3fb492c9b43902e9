package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/treeloss/treeloss/deep/backend"
	"github.com/treeloss/treeloss/deep/bert"
	"github.com/treeloss/treeloss/deep/images"
	"github.com/treeloss/treeloss/deep/network"
	"github.com/treeloss/treeloss/deep/train"
	"github.com/treeloss/treeloss/knowledge"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/sharing"
	"github.com/treeloss/treeloss/tune"
)

// trainingOf returns the folder in which the training of a network keeps its
// checkpoint and log.
func trainingOf(model string) string { return model + ".training" }

// networkRun is the training of a network.
type networkRun struct {
	flags   *trainFlags
	data    *images.Pictures
	valid   *images.Pictures // nil: none
	classes knowledge.Classes
	spec    knowledge.Spec // what sharing is made of
	sharing sharing.Sharing
	tree    *labeltree.Tree // nil: none
	task    train.Task
	scale   images.Scale

	examples      int
	hasCheckpoint bool // of a training that was broken off
}

// lookForCheckpoint looks for what --resume is to go on from: a training that was
// broken off in the first epoch has none.
func (r *networkRun) lookForCheckpoint(a *app) {
	path := filepath.Join(trainingOf(r.flags.model), "checkpoint.safetensors")
	_, err := os.Stat(path)
	r.hasCheckpoint = !errors.Is(err, os.ErrNotExist)
	if r.flags.resume && !r.hasCheckpoint {
		a.logf("there is no %s: training starts at the beginning", path)
	}
}

// networkTrained is what train --network prints.
type networkTrained struct {
	Model      string       `json:"model"`
	Network    string       `json:"network"`
	Backend    string       `json:"backend"`
	Examples   int          `json:"examples"`
	Classes    int          `json:"classes"`
	Sharing    string       `json:"sharing"`
	Loss       string       `json:"loss"`
	Epochs     int          `json:"epochs"`
	BestEpoch  int          `json:"best_epoch"`
	Valid      *train.Valid `json:"valid"` // of the best epoch; null without --valid
	Steps      int          `json:"steps"` // of this run
	Seconds    float64      `json:"seconds"`
	TrainLoss  float64      `json:"train_loss"` // of the last epoch
	Parameters int          `json:"parameters"` // of the folded network
}

func (f *trainFlags) runNetwork(ctx context.Context, a *app) error {
	if err := checkTarget(f.model); err != nil {
		return err
	}
	if err := f.deep.checkEvents(); err != nil {
		return err
	}
	if len(f.data.data) == 0 {
		return usagef("no data: name a CIFAR-100 folder or file, or a folder of pictures, with --data")
	}
	plan, err := f.classes.plan(f.data.data)
	if err != nil {
		return err
	}
	r := &networkRun{flags: f}
	if err := r.read(ctx, a); err != nil {
		return err
	}
	spec, err := r.share(plan)
	if err != nil {
		return err
	}
	set, valid, err := r.sets()
	if err != nil {
		return err
	}
	r.lookForCheckpoint(a)
	opts := r.options(spec)
	if f.initModel != "" {
		if opts.Start, err = network.Pretrained(f.deep.network, f.initModel); err != nil {
			return err
		}
	}
	return r.train(ctx, a, spec, set, valid, opts, func(t *train.Trainer) (savable, error) { return r.model(t) })
}

// checkEvents refuses a folder for event files that is none, before data are read.
func (f *deepFlags) checkEvents() error {
	if info, err := os.Stat(f.tensorBoard); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is no folder; name one to write event files to with --tensorboard", f.tensorBoard)
	}
	return nil
}

// savable is a trained model of any kind.
type savable interface {
	Save(path string) error
	Parameters() int
}

// train trains the task, saves what model makes of it, and prints how it went.
func (r *networkRun) train(ctx context.Context, a *app, spec string, set, valid train.Data, opts train.Options, model func(*train.Trainer) (savable, error)) error {
	f := r.flags
	b, err := backend.Open(f.deep.backend, func(line string) { a.logf("warning: %s", line) })
	if err != nil {
		return err
	}
	defer b.Finalize()
	if _, onTexts := f.deep.bert(); onTexts && bert.Freezes(b) {
		a.logf("note: on %s the embedding tables of words, positions and token types stay frozen, as their gradients are wrong there; --backend go and xla train them", b.Name())
	}
	bar := &networkProgress{bar: &progress{app: a}, valid: valid != nil}
	opts.Progress = bar.report
	t, err := train.New(b, r.task, set, valid, opts)
	if errors.Is(err, train.ErrCheckpoint) {
		return fmt.Errorf("%s holds an earlier training of this model; go on with it by --resume, or remove that folder to start anew", opts.Folder)
	}
	if err != nil {
		return err
	}
	defer t.Close()
	a.logf("%s on %s: %d examples of %d classes, sharing %s, loss %s", f.deep.network, b.Name(), set.Len(), len(r.classes.Labels), spec, f.classes.loss)
	result, err := t.Run(ctx)
	bar.bar.done()
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return fmt.Errorf("interrupted; go on after the last whole epoch with the same command and --resume")
		}
		return err
	}
	m, err := model(t)
	if err != nil {
		return err
	}
	if err := m.Save(f.model); err != nil {
		return err
	}
	return r.print(a, b.Name(), spec, result, m.Parameters())
}

// readPictures reads pictures as the flags say.
func (f *trainFlags) readPictures(ctx context.Context, a *app, paths []string, labels string) (*images.Pictures, error) {
	p, err := images.Open(paths, images.OpenOptions{Labels: labels, ClassNames: f.deep.classNames, Side: f.deep.side, Log: a.logf})
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"side", "damaged"} {
		if !p.InFolder() && f.flags.Changed(name) {
			return nil, usagef("--%s is for folders of pictures, and %s is CIFAR-100", name, paths[0])
		}
	}
	if f.deep.damaged != damagedSkip {
		return p, nil
	}
	damaged, err := p.Whole(ctx)
	for _, err := range damaged[:min(len(damaged), shownDamaged)] {
		a.logf("left out: %v", err)
	}
	if more := len(damaged) - shownDamaged; more > 0 {
		a.logf("left out: %d more that cannot be read", more)
	}
	return p, err
}

// shownDamaged is how many damaged pictures the log names.
const shownDamaged = 10

// read reads pictures and what is known about their classes.
func (r *networkRun) read(ctx context.Context, a *app) error {
	f := r.flags
	data, err := f.readPictures(ctx, a, f.data.data, f.data.labels)
	if err != nil {
		return err
	}
	classes, found, err := f.classes.known.known(a).Classes(ctx, data.Classes())
	if err != nil {
		return f.classes.known.explain(err)
	}
	f.classes.known.tell(a, found)
	if len(classes.Labels) < 2 {
		return fmt.Errorf("%s: only one class; give pictures of at least two", f.data.data[0])
	}
	r.classes = classes
	var others int
	if r.data, others = data.Keep(classes.Labels); others > 0 {
		a.logf("skipped, no vector: %d classes with %d of %d pictures", len(data.Classes())-len(classes.Labels), others, data.Len())
	}
	if len(f.valid) > 0 {
		valid, err := f.readPictures(ctx, a, f.valid, f.validLabels)
		if err != nil {
			return err
		}
		if r.valid, others = valid.Keep(classes.Labels); others > 0 {
			a.logf("left out: %d of %d pictures of --valid, whose classes are not trained", others, valid.Len())
		}
		if r.valid.Len() == 0 {
			return fmt.Errorf("%s: no picture of a class of the training data; is it the right file for --valid?", f.valid[0])
		}
	} else if f.classes.trainer.patience > 0 {
		return usagef("--patience needs pictures to measure on, name them with --valid")
	}
	r.examples = r.data.Len()
	r.scale = r.data.Scale()
	return nil
}

// share makes the sharing and the task, and returns the sharing in words.
func (r *networkRun) share(plan tune.Plan) (string, error) {
	f := r.flags
	spec, err := r.build(plan)
	if err != nil {
		return "", err
	}
	if f.classes.loss == tune.HierarchicalSoftmax {
		if spec != string(knowledge.None) {
			return "", usagef("--loss hierarchical-softmax is an output of its own: it goes with --sharing none")
		}
		kind := knowledge.VTree
		if r.classes.Taxonomy != nil {
			kind = knowledge.Taxonomy
		}
		if r.tree, err = knowledge.BuildTree(kind, r.classes, plan.Knowledge); err != nil {
			return "", err
		}
		r.task, err = network.Hierarchical(f.deep.network, r.tree)
		return spec, err
	}
	l, err := r.loss(plan)
	if err != nil {
		return "", err
	}
	r.task, err = network.Shared(f.deep.network, r.sharing, l)
	return spec, err
}

// build makes the sharing and the tree, and returns the sharing in words. auto
// means the taxonomy if there is one, else a V-tree of the label vectors if there
// are any, else none.
func (r *networkRun) build(plan tune.Plan) (string, error) {
	f := r.flags
	spec := plan.Sharing
	if spec == tune.AutoName {
		switch {
		case f.classes.loss != tune.CrossEntropy:
			spec = string(knowledge.None)
		case r.classes.Taxonomy != nil:
			spec = string(knowledge.Taxonomy)
		case r.classes.Vectors != nil:
			spec = string(knowledge.VTree)
		default:
			spec = string(knowledge.None)
		}
	}
	var err error
	if r.spec, err = knowledge.ParseSpec(spec); err != nil {
		return "", usageError{err}
	}
	r.sharing, r.tree, err = knowledge.Build(r.spec, r.classes, plan.Knowledge)
	if r.tree == nil {
		r.tree = r.classes.Taxonomy
	}
	return spec, err
}

// loss makes the loss of the scores, with the constants of softmax models. The tree
// of hxe is that of the model, too, as it is of softmax models.
func (r *networkRun) loss(plan tune.Plan) (loss.Loss, error) {
	k := len(r.classes.Labels)
	switch plan.Loss {
	case tune.SimLoss:
		similarity, err := tune.Similarities(r.classes)
		if err != nil {
			return nil, fmt.Errorf("loss %s: %w", plan.Loss, err)
		}
		return loss.NewSimLoss(k, similarity, simLossBound)
	case tune.SoftLabels:
		from := plan.Knowledge.From
		if from == "" && r.classes.Taxonomy != nil {
			from = knowledge.Taxonomy
		}
		space, err := knowledge.Metric(from, r.classes)
		if err != nil {
			return nil, fmt.Errorf("loss %s: %w", plan.Loss, err)
		}
		return loss.NewSoftLabels(space, softLabelsBeta)
	case tune.HXE:
		l, tree, err := tune.Method{Sharing: r.spec, Alpha: plan.Alpha, Knowledge: plan.Knowledge}.HXE(r.classes)
		if err != nil {
			return nil, err
		}
		r.tree = tree
		return l, nil
	case tune.CrossEntropy:
		return loss.CrossEntropy{Smoothing: plan.Smoothing}, nil
	}
	return nil, usagef("--loss %s is no loss of the scores of a network", plan.Loss)
}

// Constants of the losses: the lower bound of similarities that share credit
// (Kobs et al. 2020), and how fast soft labels fall with the distance (between the
// 4 and 30 of Bertinetto et al. 2020).
const (
	simLossBound   = 0.5
	softLabelsBeta = 15
)

func (r *networkRun) sets() (set, valid train.Data, err error) {
	set, err = r.data.Data(r.scale, images.Options{Augment: images.Augment(r.flags.deep.augment), Seed: r.flags.classes.seed})
	if err != nil || r.valid == nil {
		return set, nil, err
	}
	valid, err = r.valid.Data(r.scale, images.Options{Augment: images.None})
	return set, valid, err
}

func (r *networkRun) options(spec string) train.Options {
	f, t := r.flags, r.flags.classes.trainer
	o := train.Options{
		Rate:     train.Schedule{Base: t.rate, Milestones: f.deep.milestones, WarmUp: f.deep.warmUp},
		Momentum: t.momentum, Decay: t.decay, Nesterov: t.nesterov, Patience: t.patience,
		Seed: f.classes.seed, Folder: trainingOf(f.model), TensorBoard: f.deep.tensorBoard,
	}
	if f.flags.Changed("momentum") && t.momentum == 0 {
		o.Momentum = -1 // none, where 0 means the default
	}
	if f.flags.Changed("epochs") {
		o.Epochs = t.epochs
	}
	if f.flags.Changed("batch") {
		o.Batch = t.batch
	}
	if o.Rate.Base == 0 && (o.Rate.Milestones != nil || o.Rate.WarmUp > 0) {
		o.Rate.Base = 0.1
	}
	if f.deep.network == network.ResNet50 {
		asOnImageNet(&o)
	}
	o.Resume = f.resume && r.hasCheckpoint
	var given []string
	for name, value := range f.options() {
		given = append(given, name+"="+value)
	}
	slices.Sort(given)
	o.About = fmt.Sprintf("%s on %d examples of %d classes, sharing %s, %s", f.deep.network, r.examples, len(r.classes.Labels), spec, strings.Join(given, " "))
	return o
}

// asOnImageNet puts in for what was not given how ResNets are trained on ImageNet
// (He et al. 2016 and torchvision): 90 epochs of 256 examples a step, a tenth of the
// rate after a third and two thirds.
func asOnImageNet(o *train.Options) {
	o.Epochs, o.Batch = cmp.Or(o.Epochs, 90), cmp.Or(o.Batch, 256)
	if o.Rate.Base == 0 {
		o.Rate.Base, o.Rate.Milestones = 0.1, nil
		if o.Epochs > 2 {
			o.Rate.Milestones = []float64{float64(o.Epochs) / 3, float64(o.Epochs) * 2 / 3}
		}
	}
}

func (r *networkRun) model(t *train.Trainer) (*network.Model, error) {
	f := r.flags
	about := network.About{Classes: r.classes.Labels, Height: r.data.Side(), Width: r.data.Side(), Scale: r.scale, Training: f.options()}
	about.Training["program"] = program()
	var m *network.Model
	var err error
	if f.classes.loss == tune.HierarchicalSoftmax {
		m, err = network.WithTree(f.deep.network, about, t.Store(), r.tree)
	} else {
		m, err = network.Fold(f.deep.network, about, t.Store(), r.sharing, r.tree)
	}
	if err != nil {
		return nil, err
	}
	m.Vectors = r.classes.Vectors
	return m, nil
}

func (r *networkRun) print(a *app, backend, spec string, result train.Result, parameters int) error {
	out := networkTrained{Model: r.flags.model, Network: r.flags.deep.network, Backend: backend, Examples: r.examples,
		Classes: len(r.classes.Labels), Sharing: spec, Loss: r.flags.classes.loss, Epochs: result.Epochs, BestEpoch: result.BestEpoch,
		Valid: result.Best, Steps: result.Steps, Seconds: result.Seconds, TrainLoss: result.Loss, Parameters: parameters}
	if a.json {
		return a.printJSON(out)
	}
	fmt.Fprintf(a.out, "%s: %s, %d parameters, %d epochs, training loss %.3f\n", out.Model, out.Network, out.Parameters, out.Epochs, out.TrainLoss)
	if v := out.Valid; v != nil {
		fmt.Fprintf(a.out, "accuracy on --valid %s, best epoch: %d (chosen on these examples: report accuracy on others)\n", points(v.Accuracy), out.BestEpoch)
	}
	return nil
}

// networkProgress draws the bar, and a line an epoch where there is none.
type networkProgress struct {
	bar   *progress
	valid bool // each epoch ends with an evaluation
}

func (p *networkProgress) report(s train.Progress) {
	a := p.bar.app
	if a.quiet {
		return
	}
	if s.Valid != nil || s.Step == s.Steps && !p.valid {
		p.bar.done()
		a.logf("%s", epochLine(s))
		return
	}
	now := time.Now()
	if !a.onTerminal() || now.Sub(p.bar.drawn) < barInterval {
		return
	}
	p.bar.drawn = now
	p.bar.draw(stepLine(s))
}

// epochLine tells of an epoch that is done.
func epochLine(s train.Progress) string {
	line := fmt.Sprintf("epoch %d of %d  loss %.4f  accuracy %s  %.0f examples/s", s.Epoch, s.Epochs, s.Loss, points(s.Accuracy), s.PerSecond)
	if s.Valid != nil {
		line += fmt.Sprintf("  valid: loss %.4f  accuracy %s", s.Valid.Loss, points(s.Valid.Accuracy))
	}
	if s.Epoch < s.Epochs {
		line += fmt.Sprintf("  %v left", s.Left.Round(time.Second))
	}
	return line
}

// stepLine tells of an epoch that is being trained.
func stepLine(s train.Progress) string {
	return fmt.Sprintf("epoch %d of %d  step %d of %d  loss %.4f  %.0f examples/s  %v left", s.Epoch, s.Epochs, s.Step, s.Steps, s.Loss, s.PerSecond, s.Left.Round(time.Second))
}

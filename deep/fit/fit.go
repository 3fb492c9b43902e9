// Package fit trains a network on files: pictures by a ResNet, texts by a BERT, with
// any sharing between the classes and any loss:
//
//	files, classes, plan --Run--> model file of package network, Result
package fit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gomlx/gomlx/ml/model"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/deep/backend"
	"github.com/treeloss/treeloss/deep/bert"
	"github.com/treeloss/treeloss/deep/images"
	"github.com/treeloss/treeloss/deep/network"
	"github.com/treeloss/treeloss/deep/train"
	"github.com/treeloss/treeloss/internal/option"
	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/sharing"
	"github.com/treeloss/treeloss/tune"
)

// BERT begins an Options.Network that is a folder of Hugging Face.
const BERT = "bert:"

// Options says what is trained on what.
type Options struct {
	Network string // one of network.Names, or BERT and a folder
	Model   string // file to write to
	Backend string // see package backend; "" is the fastest there is

	Data, Valid []string          // files of examples; Valid may be empty
	Columns     dataset.Options   // of texts; the Labels of pictures
	ValidLabels string            // of pictures: the Labels of Valid
	Stdin       io.Reader         // of texts: what "-" reads
	Training    map[string]string // how it is trained, for the model file
	Program     string            // name and version, for the model file

	// Classes returns what is known about classes with these names; those that it
	// leaves out are not trained.
	Classes func(labels []string) (classinfo.Info, error)
	// Plan says what the classes share and the loss. Its Auto is the taxonomy if
	// there is one, else a V-tree of the label vectors if there are any, else none;
	// none with another loss than cross entropy.
	Plan tune.Plan

	// Of pictures.
	ClassNames  string         // see images.OpenOptions
	Side        int            // to which pictures of a folder are brought; 0 means 224
	SkipDamaged bool           // leave out pictures that cannot be read; else the first is an error
	Augment     images.Augment // "" is Fresh
	Weights     string         // file to start from: see network.Pretrained; "": random draws

	Tokens int // of texts: see bert.Encoder.Texts

	// Train has the rest. What is 0 is the default: that of train.Options for
	// resnet20, of He et al. (2016) for resnet50: 90 epochs, batches of 256, a tenth of
	// the rate after each third; for a BERT 3 epochs, batches of 32, AdamW with a
	// rate of 2e-5 that grows over the first tenth, decay 0.01 (Devlin et al. 2019).
	Train    train.Options
	NoWarmUp bool // of a BERT; else a Train.Rate.WarmUp of 0 is the default

	Log func(format string, args ...any) // told what a person should know; nil: nobody
}

// Check returns an *option.Error for an option that is out of range.
func (o Options) Check() error {
	side := network.Stride(o.Network)
	return cmp.Or(
		option.Check("Backend", o.Backend, o.Backend == "" || slices.Contains(backend.Names(), o.Backend), "one of "+strings.Join(backend.Names(), ", ")),
		option.Check("Augment", o.Augment, slices.Contains([]images.Augment{"", images.Fresh, images.Frozen, images.None}, o.Augment), "fresh, frozen or none"),
		option.Check("Side", o.Side, o.Side >= 0 && o.Side%side == 0, fmt.Sprintf("a multiple of %d for %s", side, o.Network)),
		o.Train.Check())
}

// Result tells how a training went.
type Result struct {
	Model      string       `json:"model"`
	Network    string       `json:"network"`
	Backend    string       `json:"backend"`
	Examples   int          `json:"examples"`
	Classes    int          `json:"classes"`
	Sharing    string       `json:"sharing"`
	Loss       string       `json:"loss"`
	Epochs     int          `json:"epochs"`
	BestEpoch  int          `json:"best_epoch"`
	Valid      *train.Valid `json:"valid"` // of the best epoch; null without Options.Valid
	Steps      int          `json:"steps"` // of this run
	Seconds    float64      `json:"seconds"`
	TrainLoss  float64      `json:"train_loss"` // of the last epoch
	Parameters int          `json:"parameters"` // of the folded network
}

// examples are labelled pictures or texts.
type examples interface {
	Classes() []string // names, in the order of the labels
	Len() int
	// keep returns the examples of some classes, and how many others there were.
	keep(classes []string) (kept examples, others int)
	// data makes batches for a network, those for training first.
	data(training bool) (train.Data, error)
}

// run is a training on its way.
type run struct {
	o       Options
	classes classinfo.Info
	spec    string // what classes share, in words
	head    network.Head
	loss    loss.Loss

	// What pictures and texts have of their own. about is filled in on the way: the size
	// and scale of pictures, or the tokens of a text, are those of the training data.
	what    string // "picture" or "text"
	open    func(ctx context.Context, paths []string, labels string) (examples, error)
	network network.Network
	about   network.About
	start   func(*model.Store) error // nil: random draws

	set, valid train.Data // valid is nil without examples for it
}

// Run reads the examples, trains, and writes the model. Nothing is written, but for the
// folders of checkpoints and event files, before all epochs are done. A cancelled ctx ends it
// after a step with an error that wraps context.Canceled; what Train.Folder holds is
// gone on from with Train.Resume.
func Run(ctx context.Context, o Options) (*Result, error) {
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	if info, err := os.Stat(o.Train.TensorBoard); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s is no folder; name one to write event files to with Options.TensorBoard", o.Train.TensorBoard)
	}
	r := &run{o: o}
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	task, err := r.network.Task(r.head, r.loss)
	if err != nil {
		return nil, err
	}
	r.setDefaults()
	b, err := backend.Open(o.Backend, func(line string) { o.Log("warning: %s", line) })
	if err != nil {
		return nil, err
	}
	defer b.Finalize()
	if r.network.Encoder != nil && bert.Freezes(b) {
		o.Log("note: on %s the embedding tables of words, positions and token types stay frozen, as their gradients are wrong there; the backends go and xla train them", b.Name())
	}
	t, err := train.New(b, task, r.set, r.valid, r.o.Train)
	if errors.Is(err, train.ErrCheckpoint) {
		return nil, fmt.Errorf("%s holds an earlier training of this model; go on with it by Options.Resume, or remove that folder to start anew", o.Train.Folder)
	}
	if err != nil {
		return nil, err
	}
	defer t.Close()
	lossName := cmp.Or(o.Plan.Loss, tune.CrossEntropy)
	o.Log("%s on %s: %d examples of %d classes, sharing %s, loss %s", o.Network, b.Name(), r.set.Len(), len(r.classes.Labels), r.spec, lossName)
	done, err := t.Run(ctx)
	if err != nil {
		return nil, err
	}
	m, err := r.network.Finish(r.head, r.about, t.Store())
	if err != nil {
		return nil, err
	}
	m.Vectors = r.classes.Vectors
	if err := m.Save(o.Model); err != nil {
		return nil, err
	}
	return &Result{Model: o.Model, Network: o.Network, Backend: b.Name(), Examples: r.set.Len(), Classes: len(r.classes.Labels), Sharing: r.spec, Loss: string(lossName),
		Epochs: done.Epochs, BestEpoch: done.BestEpoch, Valid: done.Best, Steps: done.Steps, Seconds: done.Seconds, TrainLoss: done.Loss, Parameters: m.Parameters()}, nil
}

// read opens the network and the examples, and leaves those of the classes that are
// trained.
func (r *run) read(ctx context.Context) error {
	folder, onTexts := strings.CutPrefix(r.o.Network, BERT)
	setUp := r.setUpPictures
	if onTexts {
		setUp = func() error { return r.setUpBERT(folder) }
	}
	if err := setUp(); err != nil {
		return err
	}
	all, err := r.open(ctx, r.o.Data, r.o.Columns.Labels)
	if err != nil {
		return err
	}
	names := all.Classes()
	if err := r.prepare(names); err != nil {
		return err
	}
	kept, others := all.keep(r.classes.Labels)
	if others > 0 {
		r.o.Log("skipped, no vector: %d classes with %d of %d %ss", len(names)-len(r.classes.Labels), others, all.Len(), r.what)
	}
	if r.set, err = kept.data(true); err != nil {
		return err
	}
	return r.readValid(ctx)
}

// readValid reads the examples to measure on, if there are any.
func (r *run) readValid(ctx context.Context) error {
	if len(r.o.Valid) == 0 {
		if r.o.Train.Patience > 0 {
			return option.Refuse("%s needs "+r.what+"s to measure on, name them with %s", "Patience", "Valid")
		}
		return nil
	}
	all, err := r.open(ctx, r.o.Valid, r.o.ValidLabels)
	if err != nil {
		return err
	}
	kept, others := all.keep(r.classes.Labels)
	if others > 0 {
		r.o.Log("left out: %d of %d %ss to measure on, whose classes are not trained", others, all.Len(), r.what)
	}
	if kept.Len() == 0 {
		return fmt.Errorf("%s: no %s of a class of the training data; is it the right file for Options.Valid?", r.o.Valid[0], r.what)
	}
	r.valid, err = kept.data(false)
	return err
}

// prepare asks what is known about the classes, and makes head and loss of it. One class
// alone is an error that wraps tune.ErrOneClass.
func (r *run) prepare(labels []string) (err error) {
	if r.classes, err = r.o.Classes(labels); err != nil {
		return err
	}
	if len(r.classes.Labels) < 2 {
		return fmt.Errorf("%s: %w; give examples of at least two", r.o.Data[0], corpus.ErrOneClass)
	}
	plan := r.o.Plan
	// A network is too slow to try several sharings: what is known decides.
	spec := plan.Sharing
	if spec == nil {
		spec = classinfo.Spec{classinfo.None}
		switch crossEntropy := plan.Loss == "" || plan.Loss == tune.CrossEntropy; {
		case crossEntropy && r.classes.Taxonomy != nil:
			spec = classinfo.Spec{classinfo.Taxonomy}
		case crossEntropy && r.classes.Vectors != nil:
			spec = classinfo.Spec{classinfo.VTree}
		}
	}
	r.spec = spec.String()
	if plan.Loss == tune.SquaredHinge || plan.Loss == tune.CrossEntropyHinge {
		return fmt.Errorf("loss %s trains linear models only; leave it out for a network, or give %s, %s, %s or %s", plan.Loss, tune.CrossEntropy, tune.SimLoss, tune.SoftLabels, tune.HXE)
	}
	method := tune.Method{Sharing: spec, Loss: plan.Loss, Smoothing: plan.Smoothing, Alpha: plan.Alpha, ClassInfo: plan.ClassInfo}
	output, tree, err := method.Output(r.classes)
	if err != nil {
		return err
	}
	r.loss, r.head = output.Loss, network.Head{Sharing: output.Sharing, Tree: cmp.Or(tree, r.classes.Taxonomy)}
	if r.head.Sharing == nil && plan.Loss != tune.HierarchicalSoftmax {
		r.head.Sharing = sharing.None{K: len(r.classes.Labels)}
	}
	r.about = network.About{Classes: r.classes.Labels, Training: map[string]string{"program": r.o.Program}}
	maps.Copy(r.about.Training, r.o.Training)
	if r.network.Encoder != nil {
		r.about.Training["network"] = network.BERT // a path is no part of a model
	}
	return nil
}

// setDefaults puts in for what was not given what the network is best trained with,
// and says what is trained: a checkpoint of another training is refused.
func (r *run) setDefaults() {
	o := &r.o.Train
	if r.network.Encoder != nil {
		bertDefaults(o, r.o.NoWarmUp)
	} else if r.o.Network == network.ResNet50 {
		imageNetDefaults(o)
	}
	if o.Rate.Base == 0 && (o.Rate.Milestones != nil || o.Rate.WarmUp > 0) {
		o.Rate.Base = 0.1
	}
	var given []string
	for name, value := range r.o.Training {
		given = append(given, name+"="+value)
	}
	slices.Sort(given)
	o.About = fmt.Sprintf("%s on %d examples of %d classes, sharing %s, %s", r.o.Network, r.set.Len(), len(r.classes.Labels), r.spec, strings.Join(given, " "))
	o.Start = r.start
	if path := filepath.Join(o.Folder, "checkpoint.safetensors"); o.Resume {
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) { // stopped in the first epoch
			o.Resume = false
			r.o.Log("there is no %s: training starts at the beginning", path)
		}
	}
}

// bertDefaults are those of Devlin et al. (2019) and the authors.
func bertDefaults(o *train.Options, noWarmUp bool) {
	o.Epochs, o.Batch, o.Rate.Base = cmp.Or(o.Epochs, 3), cmp.Or(o.Batch, 32), cmp.Or(o.Rate.Base, 2e-5)
	if o.Rate.WarmUp == 0 && !noWarmUp {
		o.Rate.WarmUp = 0.1 * float64(o.Epochs)
	}
	o.Optimizer = train.AdamW{Rate: o.Rate.Base, Decay: max(cmp.Or(o.Decay, 0.01), 0), Clip: 1}
}

// imageNetDefaults are how ResNets are trained on ImageNet (He et al. 2016 and
// torchvision): 90 epochs of 256 examples a step, a tenth of the rate after a third
// and two thirds.
func imageNetDefaults(o *train.Options) {
	o.Epochs, o.Batch = cmp.Or(o.Epochs, 90), cmp.Or(o.Batch, 256)
	if o.Rate.Base == 0 && o.Rate.Milestones == nil && o.Rate.WarmUp == 0 {
		o.Rate.Base = 0.1
		if o.Epochs > 2 {
			o.Rate.Milestones = []float64{float64(o.Epochs) / 3, float64(o.Epochs) * 2 / 3}
		}
	}
}

// Package anymodel opens a model file, whatever train wrote to it:
//
//	linear model, tree of softmaxes, network on pictures, BERT --Open--> classify.Classifier
//	linear model --Linear--> softmax.Model
package anymodel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/deep/backend"
	"github.com/treeloss/treeloss/deep/images"
	"github.com/treeloss/treeloss/deep/network"
	"github.com/treeloss/treeloss/deep/train"
	"github.com/treeloss/treeloss/extreme"
	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/softmax"
)

// Options sets up Open. The zero value is the default.
type Options struct {
	Backend string // of networks, as package backend names them; "" is the fastest there is
	Beam    int    // of a tree of softmaxes, see package extreme; 0 means as training chose
	// Log is told what a person should know: a backend that cannot be opened,
	// files that are left out; nil: nobody.
	Log func(format string, args ...any)
}

// Open opens the model of a file. A network opens its backend when it is first used.
// What is not a model, or a damaged one, is an error that names the file.
func Open(path string, o Options) (classify.Classifier, error) {
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	if network.IsFile(path) {
		m, err := network.Load(path)
		if err != nil {
			return nil, err
		}
		return &deep{model: m, options: o}, nil
	}
	if extreme.IsFile(path) {
		m, err := extreme.Load(path)
		if err != nil {
			return nil, err
		}
		return extreme.Classifier(m, o.Beam), nil
	}
	m, err := Linear(path)
	if err != nil {
		return nil, err
	}
	return classify.Linear(m), nil
}

// Linear reads a linear model. What CheckLinear refuses is an error that says so.
func Linear(path string) (*softmax.Model, error) {
	if err := CheckLinear(path); err != nil {
		return nil, err
	}
	m, err := softmax.Load(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such model file; check the path, or write one with treeloss train", path)
	}
	return m, err
}

// IsFile tells, from the head of a file, whether it is a model of any kind, whole or
// damaged.
func IsFile(path string) bool {
	return softmax.IsFile(path) || network.IsFile(path) || extreme.IsFile(path)
}

// CheckLinear refuses a network, a tree of softmaxes, a folder, and a file whose first bytes cannot be
// those of a model, so that a CSV does not end as a header of 10^18 bytes. A missing
// file is left to the reader.
func CheckLinear(path string) error {
	if network.IsFile(path) {
		return fmt.Errorf("%s is a network, and here a linear model is wanted: write the network's features with treeloss embed and train on these", path)
	}
	if extreme.IsFile(path) {
		return fmt.Errorf("%s is a tree of softmaxes (train --mode tree), and here a flat model is wanted: train with Options.Mode flat", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	switch info, err := f.Stat(); {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a folder; want a model, a file that treeloss train wrote", path)
	case err != nil || !info.Mode().IsRegular():
		return nil
	}
	var head [9]byte
	if n, _ := io.ReadFull(f, head[:]); !Starts(head[:n]) {
		return fmt.Errorf("%s is no model; want a file that treeloss train wrote", path)
	}
	return nil
}

// Starts tells whether a content may be that of a model: a length below 2^56 in 8
// bytes, the last of them 0, and the brace of a header.
func Starts(content []byte) bool { return len(content) >= 9 && content[7] == 0 && content[8] == '{' }

// batch is how many examples a network looks at together: enough to keep a processor
// busy, few enough to have the first answers soon.
const batch = 100

// deep is a network as a classify.Classifier.
type deep struct {
	model   *network.Model
	options Options

	backend   backend.Backend // nil until used
	evaluator *train.Evaluator
}

// About says what a network knows of its classes. Networks are not calibrated.
func (d *deep) About() classify.About {
	m := d.model
	about := classify.About{Kind: classify.PictureNetwork, Labels: m.Classes, Tree: m.Tree, Vectors: m.Vectors, Temperature: 1}
	if m.Encoder != nil {
		about.Kind, about.Like = classify.LanguageNetwork, d.like()
	}
	return about
}

// Close frees the compiled network and then the backend that it is on.
func (d *deep) Close() error {
	if d.evaluator != nil {
		d.evaluator.Close()
	}
	if d.backend != nil {
		d.backend.Finalize()
	}
	return nil
}

// Open opens texts for a BERT, else pictures.
func (d *deep) Open(in classify.Input) (classify.Examples, error) {
	if d.model.Encoder == nil {
		return d.album(in)
	}
	reader, err := classify.OpenLike(d.like(), in)
	if err != nil {
		return nil, err
	}
	return &classify.Records{Reader: reader, Block: batch, Threads: 1, Run: d.texts}, nil
}

// like says how the texts of the training were read.
func (d *deep) like() classify.Like {
	return classify.Like{Kind: dataset.Text, Training: d.model.Training}
}

// Runners returns one. The Text of a picture is the bytes of its file.
func (d *deep) Runners(int) ([]classify.Runner, error) {
	run := d.texts
	if d.model.Encoder == nil {
		run = d.pictures
	}
	return []classify.Runner{func(ctx context.Context, block []dataset.Example, visit func(at int, p []float32) error) (int, error) {
		return run(ctx, block, func(_, at int, p []float32) error { return visit(at, p) })
	}}, nil
}

// pictures runs the bytes of JPEG and PNG files through a network.
func (d *deep) pictures(ctx context.Context, block []dataset.Example, visit func(worker, at int, p []float32) error) (done int, err error) {
	if len(block) == 0 {
		return 0, nil
	}
	set, broken := images.Decode(contents(block), d.model.Width, d.model.Scale)
	if set == nil || set.Len() == 0 {
		return 0, broken
	}
	done, err = d.visit(ctx, set, visit)
	return done, cmp.Or(err, broken)
}

// contents returns the texts of examples.
func contents(block []dataset.Example) []string {
	list := make([]string, len(block))
	for i, x := range block {
		list[i] = x.Text
	}
	return list
}

// visit calls visit with the probabilities of each example of data.
func (d *deep) visit(ctx context.Context, data train.Data, visit func(worker, at int, p []float32) error) (done int, err error) {
	err = d.each(ctx, data, func(i int, p []float32) error {
		err := visit(0, i, p)
		if err == nil {
			done++
		}
		return err
	})
	return done, err
}

// each calls use with the probabilities of each example of data, in order.
func (d *deep) each(ctx context.Context, data train.Data, use func(i int, p []float32) error) (err error) {
	if d.backend == nil {
		if d.backend, err = backend.Open(d.options.Backend, func(line string) { d.options.Log("warning: %s", line) }); err != nil {
			return err
		}
	}
	if d.evaluator == nil {
		if d.evaluator, err = d.model.Evaluator(d.backend, batch); err != nil {
			return err
		}
	}
	// In float64, so that the probabilities of many classes sum to 1.
	p, wide := make([]float32, len(d.model.Classes)), make([]float64, len(d.model.Classes))
	return d.evaluator.Each(ctx, data, func(i int, logits []float32) error {
		for c, v := range logits {
			wide[c] = float64(v)
		}
		kernel.Softmax(wide, wide)
		for c, v := range wide {
			p[c] = float32(v)
		}
		return use(i, p)
	})
}

// texts runs a block of texts through a BERT, as classify.Records wants it.
func (d *deep) texts(ctx context.Context, block []dataset.Example, visit func(worker, at int, p []float32) error) (done int, err error) {
	if len(block) == 0 {
		return 0, nil
	}
	set, err := d.model.Texts(contents(block))
	if err != nil {
		return 0, err
	}
	return d.visit(ctx, set, visit)
}

// album are pictures on their way through a network.
type album struct {
	*images.Pictures
	network *deep
	data    train.Data
	name    string
}

// album opens pictures, brought to the size of those that the network was trained on.
func (d *deep) album(in classify.Input) (classify.Examples, error) {
	if in.Stream() {
		return nil, errors.New("a network reads pictures from a file, not from the standard input; name a picture, a folder of them, or a CIFAR-100 file")
	}
	p, err := images.Open(in.Paths, images.OpenOptions{Labels: in.Options.Labels, ClassNames: in.ClassNames, Side: d.model.Width,
		Unlabelled: in.Options.Unlabelled, Log: d.options.Log})
	if err != nil {
		return nil, err
	}
	data, err := d.model.Images(p)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.Paths[0], err)
	}
	return &album{p, d, data, in.Paths[0]}, nil
}

// What a network looks at is one set of pictures, in blocks of a batch, on one
// goroutine: the backend spreads the work itself.
func (a *album) Describe() string { return fmt.Sprintf("%s: %d pictures", a.name, a.Len()) }
func (a *album) Workers() int     { return 1 }
func (a *album) BlockSize() int   { return batch }
func (a *album) Close() error     { return nil }

// Each classifies all pictures. After an error done still gets those before it.
func (a *album) Each(ctx context.Context, visit classify.Visit, done func(block []dataset.Example) error) error {
	var block []dataset.Example
	err := a.network.each(ctx, a.data, func(i int, p []float32) error {
		x := dataset.Example{Label: a.Class(i), Weight: 1, Place: a.Place(i)}
		if err := visit(0, len(block), x, p); err != nil {
			return err
		}
		if block = append(block, x); len(block) < batch {
			return nil
		}
		err := done(block)
		block = block[:0]
		return err
	})
	return cmp.Or(done(block), err)
}

package fit

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/gomlx/gomlx/ml/model"

	"github.com/treeloss/treeloss/deep/images"
	"github.com/treeloss/treeloss/deep/network"
	"github.com/treeloss/treeloss/internal/option"
	"github.com/treeloss/treeloss/tune"
)

// shownDamaged is how many damaged pictures the log names.
const shownDamaged = 10

// open reads pictures as the options say.
func (r *run) open(ctx context.Context, paths []string, labels string) (*images.Pictures, error) {
	o := r.o
	p, err := images.Open(paths, images.OpenOptions{Labels: labels, ClassNames: o.ClassNames, Side: o.Side, Log: o.Log})
	if err != nil {
		return nil, err
	}
	if !p.InFolder() && (o.Side != 0 || o.SkipDamaged) {
		name := "Side"
		if o.SkipDamaged {
			name = "Damaged"
		}
		return nil, option.Refuse("%s is for folders of pictures, and "+strings.ReplaceAll(paths[0], "%", "%%")+" is CIFAR-100", name)
	}
	if !o.SkipDamaged {
		return p, nil
	}
	damaged, err := p.Whole(ctx)
	for _, err := range damaged[:min(len(damaged), shownDamaged)] {
		o.Log("left out: %v", err)
	}
	if more := len(damaged) - shownDamaged; more > 0 {
		o.Log("left out: %d more that cannot be read", more)
	}
	return p, err
}

// pictures prepares the training of a network on pictures.
func (r *run) pictures(ctx context.Context) error {
	o := r.o
	all, err := r.open(ctx, o.Data, o.Columns.Labels)
	if err != nil {
		return err
	}
	if err := r.prepare(all.Classes()); err != nil {
		return err
	}
	data, others := all.Keep(r.classes.Labels)
	if others > 0 {
		o.Log("skipped, no vector: %d classes with %d of %d pictures", len(all.Classes())-len(r.classes.Labels), others, all.Len())
	}
	scale := data.Scale()
	if r.set, err = data.Data(scale, images.Options{Augment: cmp.Or(o.Augment, images.Fresh), Seed: o.Train.Seed}); err != nil {
		return err
	}
	if len(o.Valid) > 0 {
		all, err := r.open(ctx, o.Valid, o.ValidLabels)
		if err != nil {
			return err
		}
		valid, others := all.Keep(r.classes.Labels)
		if others > 0 {
			o.Log("left out: %d of %d pictures to measure on, whose classes are not trained", others, all.Len())
		}
		if valid.Len() == 0 {
			return fmt.Errorf("%s: no picture of a class of the training data; is it the right file for Options.Valid?", o.Valid[0])
		}
		if r.valid, err = valid.Data(scale, images.Options{Augment: images.None}); err != nil {
			return err
		}
	} else if err := r.needsValid("pictures"); err != nil {
		return err
	}
	if o.Weights != "" {
		if r.start, err = network.Pretrained(o.Network, o.Weights); err != nil {
			return err
		}
	}
	about := network.About{Classes: r.classes.Labels, Height: data.Side(), Width: data.Side(), Scale: scale, Training: r.record()}
	if o.Plan.Loss == tune.HierarchicalSoftmax {
		r.task, err = network.Hierarchical(o.Network, r.tree)
		r.fold = func(store *model.Store) (trained, error) {
			return r.withVectors(network.WithTree(o.Network, about, store, r.tree))
		}
		return err
	}
	r.task, err = network.Shared(o.Network, r.sharing, r.loss)
	r.fold = func(store *model.Store) (trained, error) {
		return r.withVectors(network.Fold(o.Network, about, store, r.sharing, r.tree))
	}
	return err
}

// withVectors adds what is known about the classes.
func (r *run) withVectors(m *network.Model, err error) (trained, error) {
	if err != nil {
		return nil, err
	}
	m.Vectors = r.classes.Vectors
	return m, nil
}

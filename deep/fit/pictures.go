package fit

import (
	"cmp"
	"context"
	"strings"

	"github.com/treeloss/treeloss/deep/images"
	"github.com/treeloss/treeloss/deep/network"
	"github.com/treeloss/treeloss/deep/train"
	"github.com/treeloss/treeloss/internal/option"
)

// shownDamaged is how many damaged pictures the log names.
const shownDamaged = 10

// pictures are the examples of a network on pictures.
type pictures struct {
	*images.Pictures
	run *run
}

// keep returns the pictures of some classes, labelled by their places in that list.
func (p pictures) keep(classes []string) (examples, int) {
	kept, others := p.Keep(classes)
	return pictures{kept, p.run}, others
}

// data makes batches; those of training say the size and the scale of all.
func (p pictures) data(training bool) (train.Data, error) {
	r := p.run
	if !training {
		return p.Data(r.about.Scale, images.Options{Augment: images.None})
	}
	r.about.Height, r.about.Width, r.about.Scale = p.Side(), p.Side(), p.Scale()
	return p.Data(r.about.Scale, images.Options{Augment: cmp.Or(r.o.Augment, images.Fresh), Seed: r.o.Train.Seed})
}

// openPictures reads pictures as the options say.
func (r *run) openPictures(ctx context.Context, paths []string, labels string) (examples, error) {
	o := r.o
	p, err := images.Open(paths, images.OpenOptions{Labels: labels, ClassNames: o.ClassNames, Side: o.Side, Log: o.Log})
	if err != nil {
		return nil, err
	}
	if !p.InFolder() && (o.Side != 0 || o.SkipDamaged) {
		// The name of a file is no format.
		name := "Side"
		if o.SkipDamaged {
			name = "Damaged"
		}
		return nil, option.Refuse("%s is for folders of pictures, and "+strings.ReplaceAll(paths[0], "%", "%%")+" is CIFAR-100", name)
	}
	if o.SkipDamaged {
		damaged, err := p.Whole(ctx)
		if err != nil {
			return nil, err
		}
		for _, err := range damaged[:min(len(damaged), shownDamaged)] {
			o.Log("left out: %v", err)
		}
		if more := len(damaged) - shownDamaged; more > 0 {
			o.Log("left out: %d more that cannot be read", more)
		}
	}
	return pictures{p, r}, nil
}

// setUpPictures chooses a network on pictures, and the weights that it starts from.
func (r *run) setUpPictures() (err error) {
	r.what, r.open = "picture", r.openPictures
	r.network.Name = r.o.Network
	if r.o.Weights != "" {
		r.start, err = network.Pretrained(r.o.Network, r.o.Weights)
	}
	return err
}

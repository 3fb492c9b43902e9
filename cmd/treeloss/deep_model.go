package main

import (
	"fmt"

	"github.com/treeloss/treeloss/deep/images"
	"github.com/treeloss/treeloss/deep/network"
	"github.com/treeloss/treeloss/deep/train"
)

// deepBatch is how many pictures a trained network looks at together.
const deepBatch = 100

// picturesFor reads pictures for a trained network; what it returns beside them
// is how many were left out for want of their class in the model. With labels
// false the classes of the pictures do not matter.
func picturesFor(a *app, m *network.Model, paths []string, classNames, labelFile string, labels bool) (*pictures, train.Data, int, error) {
	p, err := readPictures(a, paths, classNames, labelFile, m.Width)
	if err != nil {
		return nil, nil, 0, err
	}
	others := 0
	if labels {
		all := p.len()
		if p, others = p.keep(m.Classes); others == all {
			return nil, nil, 0, fmt.Errorf("%s: none of the %d pictures is of a class of the model; --class-names says how these are called", paths[0], all)
		}
	}
	set, err := p.forModel(m, paths[0])
	return p, set, others, err
}

// forModel makes batches of pictures as the model wants them.
func (p *pictures) forModel(m *network.Model, path string) (train.Data, error) {
	if p.side != m.Width {
		return nil, fmt.Errorf("%s: pictures of side %d, the network wants %d", path, p.side, m.Width)
	}
	return p.set(m.Scale, images.Options{Augment: images.None})
}

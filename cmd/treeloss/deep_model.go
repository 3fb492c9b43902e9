package main

import (
	"fmt"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/deep/images"
	"github.com/treeloss/treeloss/deep/network"
)

// deepBatch is how many pictures a trained network looks at together.
const deepBatch = 100

// picturesFor reads pictures for a trained network; what it returns beside them
// is how many were left out for want of their class in the model. With labels
// false the classes of the pictures do not matter.
func picturesFor(m *network.Model, paths []string, classNames string, labels bool) (*dataset.Images, *images.Set, int, error) {
	s, err := readPictures(paths, classNames)
	if err != nil {
		return nil, nil, 0, err
	}
	if s.Height != m.Height || s.Width != m.Width {
		return nil, nil, 0, fmt.Errorf("%s: pictures of %d x %d, the network wants %d x %d", paths[0], s.Height, s.Width, m.Height, m.Width)
	}
	others := 0
	if labels {
		all := s.Len()
		if s, others = s.Keep(m.Classes); others == all {
			return nil, nil, 0, fmt.Errorf("%s: none of the %d pictures is of a class of the model; --class-names says how these are called", paths[0], all)
		}
	}
	set, err := images.New(s, m.Scale, images.Options{Augment: images.None})
	return s, set, others, err
}

package dataset

import "slices"

// Images is a set of labelled pictures of one size, held in memory as bytes: 3 Height Width
// of each.
type Images struct {
	Height, Width int
	Pixels        []byte   // picture by picture, row by row, red, green and blue of each pixel
	Label         []int32  // of each picture, a place in Classes
	Classes       []string // names by label
}

// Len returns the number of pictures.
func (s *Images) Len() int { return len(s.Label) }

// Picture returns the pixels of one picture; they alias those of the set.
func (s *Images) Picture(i int) []byte {
	n := s.Height * s.Width * 3
	return s.Pixels[i*n : (i+1)*n : (i+1)*n]
}

// Keep returns the pictures of some classes, labelled by their places in that
// list, and how many others there were. Nothing is copied where every picture
// stays.
func (s *Images) Keep(classes []string) (kept *Images, others int) {
	kept = &Images{Height: s.Height, Width: s.Width, Classes: classes}
	place := places(s.Classes, classes)
	var stay []int
	for i, l := range s.Label {
		if c := place[l]; c >= 0 {
			stay, kept.Label = append(stay, i), append(kept.Label, c)
		}
	}
	if others = s.Len() - kept.Len(); others == 0 {
		kept.Pixels = s.Pixels
		return kept, 0
	}
	for _, i := range stay {
		kept.Pixels = append(kept.Pixels, s.Picture(i)...)
	}
	return kept, others
}

// places returns the place of each name in a list, -1 for one that is not in it.
func places(names, list []string) []int32 {
	place := make([]int32, len(names))
	for i, name := range names {
		place[i] = int32(slices.Index(list, name))
	}
	return place
}

package dataset

// Images is a set of labelled pictures of one size, held in memory as bytes.
type Images struct {
	Height, Width int
	Pixels        []byte   // picture by picture, row by row, red, green and blue of each pixel
	Label         []int32  // of each picture, a place in Classes
	Classes       []string // names by label
	Coarse        []int32  // groups of CIFAR-100, a place in Groups; nil without
	Groups        []string // names of the groups; nil without
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
	place := make(map[string]int32, len(classes))
	for i, name := range classes {
		place[name] = int32(i)
	}
	kept = &Images{Height: s.Height, Width: s.Width, Classes: classes, Groups: s.Groups}
	all := true
	for _, l := range s.Label {
		if _, ok := place[s.Classes[l]]; !ok {
			all = false
			others++
		}
	}
	if all {
		kept.Pixels, kept.Coarse = s.Pixels, s.Coarse
	}
	for i, l := range s.Label {
		c, ok := place[s.Classes[l]]
		if !ok {
			continue
		}
		kept.Label = append(kept.Label, c)
		if !all {
			kept.Pixels = append(kept.Pixels, s.Picture(i)...)
			if s.Coarse != nil {
				kept.Coarse = append(kept.Coarse, s.Coarse[i])
			}
		}
	}
	return kept, others
}

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

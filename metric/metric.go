package metric

// Space is a finite set of points, numbered from 0, with a distance. Distances
// are finite, not negative, symmetric, 0 from a point to itself, and meet the
// triangle inequality; their unit does not matter to any of our packages.
type Space interface {
	// Len returns the number of points.
	Len() int
	// Distance returns the distance of points i and j. It may panic if one of
	// them is outside 0..Len()-1: that is a bug in the caller.
	Distance(i, j int) float64
}

// Func makes a Space of k points from any distance function. Nothing is
// checked: use Check for a function that is not known to be right.
func Func(k int, distance func(i, j int) float64) Space {
	return function{k: k, distance: distance}
}

// function is a Space of a distance function.
type function struct {
	k        int
	distance func(i, j int) float64
}

func (f function) Len() int                  { return f.k }
func (f function) Distance(i, j int) float64 { return f.distance(i, j) }

// MaxDistance returns the largest distance between two points, 0 for fewer
// than two. It takes k(k-1)/2 distances.
func MaxDistance(s Space) float64 {
	var most float64
	for i := range s.Len() {
		for j := i + 1; j < s.Len(); j++ {
			most = max(most, s.Distance(i, j))
		}
	}
	return most
}

// Condensed returns the place of the pair i != j, in either order, in a list of
// all pairs of k points row by row: (0,1), (0,2), ..., (1,2), ....
func Condensed(k, i, j int) int {
	if i > j {
		i, j = j, i
	}
	return i*(2*k-i-1)/2 + j - i - 1
}

// table is a Space that looks distances up in the upper triangle.
type table struct {
	k     int
	upper []float64
}

func (t *table) Len() int { return t.k }

// Distance looks a pair up in either order.
func (t *table) Distance(i, j int) float64 {
	if i == j {
		return 0
	}
	return t.upper[Condensed(t.k, i, j)]
}

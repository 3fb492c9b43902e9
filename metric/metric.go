package metric

import "fmt"

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

// Pairwise returns all distances of pairs i < j row by row: (0,1), (0,2), ...,
// (1,2), ...; Condensed finds a pair's place. It takes k(k-1)/2 distances and
// 8 bytes for each: 1.6 GB at k = 20,000. They stay float64, because whoever
// averages them (average linkage) must still see a tie as a tie.
func Pairwise(s Space) []float64 {
	k := s.Len()
	out := make([]float64, 0, k*max(k-1, 0)/2)
	for i := range k {
		for j := i + 1; j < k; j++ {
			out = append(out, s.Distance(i, j))
		}
	}
	return out
}

// Condensed returns the place of the pair i != j, in either order, in what
// Pairwise returns for k points.
func Condensed(k, i, j int) int {
	if i > j {
		i, j = j, i
	}
	return i*(2*k-i-1)/2 + j - i - 1
}

// FromMatrix returns a Space with the given distances; row i, column j is the
// distance of i and j. The rows are copied, k(k-1)/2 numbers of 8 bytes.
//
// It refuses, with a *PairError, a number that is NaN, infinite or negative, a
// diagonal that is not 0, and two sides that differ by more than 1e-9 of the
// larger; a smaller difference is settled in favour of the upper one. It
// refuses a matrix that is not square. It does not look at the triangle
// inequality, which costs k^3: see CheckTriangle.
func FromMatrix(rows [][]float64) (Space, error) {
	k := len(rows)
	for i, row := range rows {
		if len(row) != k {
			return nil, fmt.Errorf("metric: row %d has %d columns, want %d as there are %d rows", i, len(row), k, k)
		}
	}
	given := Func(k, func(i, j int) float64 { return rows[i][j] })
	if err := Check(given); err != nil {
		return nil, err
	}
	return &table{k: k, upper: Pairwise(given)}, nil
}

// table is a Space that looks distances up in the upper triangle.
type table struct {
	k     int
	upper []float64
}

func (t *table) Len() int { return t.k }

func (t *table) Distance(i, j int) float64 {
	if i == j {
		return 0
	}
	return t.upper[Condensed(t.k, i, j)]
}

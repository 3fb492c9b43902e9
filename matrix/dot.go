package matrix

import "math"

// Dot returns the inner product of rows a and b, in float64.
func Dot(m Matrix, a, b int) float64 {
	var sum float64
	switch m := m.(type) {
	case *Dense:
		y := m.Row(b)
		for j, v := range m.Row(a) {
			sum += float64(v) * float64(y[j])
		}
	case *Sparse:
		ai, av := m.Row(a)
		bi, bv := m.Row(b)
		for i, j := 0, 0; i < len(ai) && j < len(bi); {
			switch {
			case ai[i] < bi[j]:
				i++
			case ai[i] > bi[j]:
				j++
			default:
				sum += float64(av[i]) * float64(bv[j])
				i, j = i+1, j+1
			}
		}
	}
	return sum
}

// Cosine returns the cosine of rows a and b, 0 if one of them is all zeros.
func Cosine(m Matrix, a, b int) float64 {
	norms := m.SquaredNorm(a) * m.SquaredNorm(b)
	if norms == 0 {
		return 0
	}
	return min(1, max(-1, Dot(m, a, b)/math.Sqrt(norms)))
}

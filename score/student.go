package score

import "math"

// manyFreedoms is where the expansion around the normal distribution takes
// over from the exact sum: it is good to 1e-10 there.
const manyFreedoms = 1000

// studentQuantile returns t with P(T <= t) = p for Student's distribution,
// 1/2 <= p < 1. The degrees of freedom are at least 1.
func studentQuantile(p float64, freedom int) float64 {
	normal := math.Sqrt2 * math.Erfinv(2*p-1)
	if freedom > manyFreedoms {
		return nearNormal(normal, float64(freedom))
	}
	// The quantile lies above the normal one; the central probability rises
	// with t, so halving the interval finds it to the last bit.
	central := 2*p - 1
	low, high := normal, max(2*normal, 1)
	for studentCentral(high, freedom) < central {
		high *= 2
	}
	for range 200 {
		middle := low + (high-low)/2
		if middle == low || middle == high {
			break
		}
		if studentCentral(middle, freedom) < central {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// nearNormal is the expansion of Student's quantile in powers of 1/freedom
// around the normal quantile z (Abramowitz and Stegun 1964, 26.7.5).
func nearNormal(z, freedom float64) float64 {
	z2 := z * z
	g1 := z * (z2 + 1) / 4
	g2 := z * ((5*z2+16)*z2 + 3) / 96
	g3 := z * (((3*z2+19)*z2+17)*z2 - 15) / 384
	return z + (g1+(g2+g3/freedom)/freedom)/freedom
}

// studentCentral returns P(|T| <= t), t >= 0, by the finite sums for whole
// degrees of freedom (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4), with
// tan(angle) = t / sqrt(freedom). It takes O(freedom).
func studentCentral(t float64, freedom int) float64 {
	if math.IsInf(t, 1) {
		return 1
	}
	root := math.Sqrt(float64(freedom))
	sine, cosine := t/math.Hypot(root, t), root/math.Hypot(root, t)
	odd := freedom % 2
	// The terms are cos^2i times 1·3·…/(2·4·…), or 2·4·…/(3·5·…) for odd.
	sum, term := 0.0, 1.0
	for i := odd; i < freedom-1; i += 2 {
		sum += term
		term *= cosine * cosine * float64(i+1) / float64(i+2)
	}
	if odd == 0 {
		return sine * sum
	}
	return (math.Atan(t/root) + sine*cosine*sum) * 2 / math.Pi
}

package score

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// confidence is the level of every interval in this package.
const confidence = 0.95

// Interval is a mean with its standard error and its 95 % interval. From one
// number alone there is no error to be had: SE, Low and High are then NaN, and
// null in JSON.
type Interval struct {
	Mean float64
	SE   float64 // standard error of the mean: standard deviation / sqrt(n)
	Low  float64 // Mean - t SE, with Student's t of n-1 degrees of freedom
	High float64 // Mean + t SE
}

// MeanInterval returns the mean of x, such as the score of each split, with
// its error. An empty x and a NaN or infinity in it are errors. It takes O(n).
func MeanInterval(x []float64) (Interval, error) {
	if len(x) == 0 {
		return Interval{}, fmt.Errorf("score: mean of no numbers, want at least one")
	}
	sum := 0.0
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return Interval{}, fmt.Errorf("score: number %d of %d is %v, want a finite one", i, len(x), v)
		}
		sum += v
	}
	mean, squares := sum/float64(len(x)), 0.0
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	return newInterval(mean, squares, len(x)), nil
}

// AccuracyInterval returns the accuracy of one method over its test rows, with
// the error that the choice of these rows leaves. No rows are an error.
func AccuracyInterval(correct []bool) (Interval, error) {
	if len(correct) == 0 {
		return Interval{}, fmt.Errorf("score: accuracy over no rows, want at least one; is Options.KeepRows set?")
	}
	n := float64(len(correct))
	mean := float64(count(correct)) / n
	return newInterval(mean, n*mean*(1-mean), len(correct)), nil
}

// RateInterval returns the rate of hits among n examples with the interval of Wilson
// (1927), which stays within 0 to 1 and is not empty where all or none are hits. Its Low
// and High are not as far from Mean. No examples, and hits outside 0 to n, are errors.
func RateInterval(hits, n int) (Interval, error) {
	if n < 1 || hits < 0 || hits > n {
		return Interval{}, fmt.Errorf("score: rate of %d hits among %d examples, want 0 to as many as there are, of at least one", hits, n)
	}
	mean, count := float64(hits)/float64(n), float64(n)
	z := distuv.UnitNormal.Quantile((1 + confidence) / 2)
	middle := (mean + z*z/(2*count)) / (1 + z*z/count)
	reach := z / (1 + z*z/count) * math.Sqrt(mean*(1-mean)/count+z*z/(4*count*count))
	return Interval{Mean: mean, SE: math.Sqrt(mean * (1 - mean) / count), Low: max(0, min(mean, middle-reach)), High: min(1, max(mean, middle+reach))}, nil
}

// NormalInterval returns the interval of a number whose standard error is known, 1.96
// standard errors to each side.
func NormalInterval(mean, se float64) Interval {
	reach := distuv.UnitNormal.Quantile((1+confidence)/2) * se
	return Interval{Mean: mean, SE: se, Low: mean - reach, High: mean + reach}
}

// newInterval returns the interval of n numbers with this mean whose squared
// distances from it sum to squares.
func newInterval(mean, squares float64, n int) Interval {
	if n < 2 {
		return Interval{Mean: mean, SE: math.NaN(), Low: math.NaN(), High: math.NaN()}
	}
	se := math.Sqrt(max(squares, 0) / float64(n-1) / float64(n))
	reach := student(n-1).Quantile((1+confidence)/2) * se
	return Interval{Mean: mean, SE: se, Low: mean - reach, High: mean + reach}
}

// count returns how many are true.
func count(x []bool) int {
	n := 0
	for _, v := range x {
		if v {
			n++
		}
	}
	return n
}

// student returns Student's distribution.
func student(df int) distuv.StudentsT { return distuv.StudentsT{Sigma: 1, Nu: float64(df)} }

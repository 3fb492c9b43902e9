package score

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Over says what an error was computed over.
type Over string

// The two sources of a standard error. Over rows, it covers the choice of test
// rows but not of training rows; over splits, it covers whatever differs
// between the splits: if they share one test set, not the choice of that.
const (
	OverRows   Over = "rows"
	OverSplits Over = "splits"
)

// Difference is the accuracy of one method minus that of another on the same
// splits.
type Difference struct {
	Interval   Interval `json:"interval"`    // the difference and its error
	Over       Over     `json:"over"`        // what the error is over; rows if there is one split
	Splits     int      `json:"splits"`      // how many there are
	Rows       int      `json:"rows"`        // test rows of all splits together
	OnlyFirst  int      `json:"only_first"`  // rows that only the first method got right
	OnlySecond int      `json:"only_second"` // rows that only the second method got right
	PValue     float64  `json:"p_value"`     // see PairedRows and PairedSplits
}

// PairedRows compares two methods on the same n test rows: first[i] and
// second[i] say whether they got row i right. With d = first - second the
// error is sd(d)/sqrt(n).
//
// PValue is McNemar's exact one: the chance that rows on which the two
// disagree, if each were a fair coin, split as unevenly or more.
//
// No rows and different lengths are errors. It takes O(n).
func PairedRows(first, second []bool) (Difference, error) {
	if len(first) == 0 || len(first) != len(second) {
		return Difference{}, fmt.Errorf("score: paired difference over %d and %d rows, want the same rows and at least one; is Options.KeepRows set?",
			len(first), len(second))
	}
	d := Difference{Over: OverRows, Splits: 1, Rows: len(first)}
	for i := range first {
		switch {
		case first[i] && !second[i]:
			d.OnlyFirst++
		case second[i] && !first[i]:
			d.OnlySecond++
		}
	}
	n, sum := float64(d.Rows), float64(d.OnlyFirst-d.OnlySecond)
	d.Interval = newInterval(sum/n, float64(d.OnlyFirst+d.OnlySecond)-sum*sum/n, d.Rows)
	d.PValue = fairCoin(d.OnlyFirst, d.OnlySecond)
	return d, nil
}

// PairedSplits compares two methods over s splits: first[i][j] and
// second[i][j] say whether they got test row j of split i right. The mean is
// that of the splits' differences, each of equal weight, and the error is
// sd/sqrt(s) of these differences. With one split there is no such sd: the result is that of
// PairedRows, and Over says so.
//
// PValue is that of the paired t-test over splits: the chance of a mean at
// least so far from 0 if the true one were 0.
//
// No splits, another number of them, or of rows in one of them, are errors.
func PairedSplits(first, second [][]bool) (Difference, error) {
	if len(first) == 0 || len(first) != len(second) {
		return Difference{}, fmt.Errorf("score: paired difference over %d and %d splits, want the same splits and at least one", len(first), len(second))
	}
	total := Difference{Over: OverSplits, Splits: len(first)}
	means := make([]float64, len(first))
	for i := range first {
		d, err := PairedRows(first[i], second[i])
		if err != nil {
			return Difference{}, fmt.Errorf("split %d of %d: %w", i+1, len(first), err)
		}
		if len(first) == 1 {
			return d, nil
		}
		means[i] = d.Interval.Mean
		total.Rows += d.Rows
		total.OnlyFirst += d.OnlyFirst
		total.OnlySecond += d.OnlySecond
	}
	interval, err := MeanInterval(means)
	if err != nil {
		return Difference{}, err
	}
	total.Interval = interval
	total.PValue = studentPValue(interval, len(means)-1)
	return total, nil
}

// fairCoin returns the chance that a fair coin thrown a+b times falls at least
// as unevenly as a to b: 2 P(X <= min(a, b)), at most 1.
func fairCoin(a, b int) float64 {
	return min(2*distuv.Binomial{N: float64(a + b), P: 0.5}.CDF(float64(min(a, b))), 1)
}

// studentPValue returns the two-sided p-value of a mean against 0.
func studentPValue(v Interval, df int) float64 {
	if v.Mean == 0 {
		return 1
	}
	return 2 * student(df).Survival(math.Abs(v.Mean)/v.SE) // 0 for an SE of 0
}

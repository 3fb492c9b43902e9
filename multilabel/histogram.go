package multilabel

import (
	"math"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
)

// Margins are counted in bins: fine enough for a threshold, and few enough that millions of
// decisions, an example and a class each, need no sorting.
const (
	binsPerUnit = 256
	mostMargin  = 16 // margins beyond count as this
	bins        = 2 * mostMargin * binsPerUnit
)

// histogram counts decisions by their margin: those that are right to answer, and the others.
type histogram struct {
	positive, negative []int
}

// binOf returns the bin of a margin.
func binOf(margin float32) int {
	b := int(math.Floor(float64(margin+mostMargin) * binsPerUnit))
	return max(0, min(b, bins-1))
}

// lowest returns the least margin of a bin, middle the one in its middle.
func lowest(bin int) float64 { return float64(bin)/binsPerUnit - mostMargin }
func middle(bin int) float64 { return (float64(bin)+0.5)/binsPerUnit - mostMargin }

const (
	countGrain = 256 // least number of rows that a goroutine counts at a time
	mostParts  = 64  // histograms at most, of 128 KB each, before they are summed
)

// count makes the histogram of the margins (n x k) of examples with these labels.
func count(margins []float32, labels *matrix.Sparse, threads int) histogram {
	k, n := labels.Columns, labels.Rows()
	grain := max(countGrain, (n+mostParts-1)/mostParts)
	parts := make([]histogram, (n+grain-1)/grain)
	kernel.Parallel(threads, n, grain, func(block, lo, hi int) {
		h := histogram{make([]int, bins), make([]int, bins)}
		for i := lo; i < hi; i++ {
			for _, m := range margins[i*k : (i+1)*k] {
				h.negative[binOf(m)]++
			}
			index, _ := labels.Row(i)
			for _, c := range index {
				b := binOf(margins[i*k+int(c)])
				h.negative[b]--
				h.positive[b]++
			}
		}
		parts[block] = h
	})
	sum := histogram{make([]int, bins), make([]int, bins)}
	for _, h := range parts {
		for b := range bins {
			sum.positive[b] += h.positive[b]
			sum.negative[b] += h.negative[b]
		}
	}
	return sum
}

// totals returns the number of decisions of both kinds.
func (h histogram) totals() (positive, negative int) {
	for b := range bins {
		positive += h.positive[b]
		negative += h.negative[b]
	}
	return positive, negative
}

// bestF1 returns the margin from which to answer for the largest micro F1,
//
//	2 hits / (answers + labels),
//
// and that F1: half way between the last decision that is answered and the first that is not.
// Without a label it is +Inf, and 0.
func (h histogram) bestF1() (margin, f1 float64) {
	labels, _ := h.totals()
	margin = math.Inf(1)
	hits, answers, last := 0, 0, 0
	for b := bins - 1; b >= 0; b-- {
		hits += h.positive[b]
		answers += h.positive[b] + h.negative[b]
		if f := 2 * float64(hits) / float64(answers+labels); hits > 0 && f > f1 {
			last, f1 = b, f
		}
	}
	if f1 > 0 {
		next := last - 1
		for next >= 0 && h.positive[next]+h.negative[next] == 0 {
			next--
		}
		margin = (lowest(last) + lowest(next+1)) / 2
	}
	return margin, f1
}

// platt fits the probability 1/(1 + exp(-a m - b)) of a decision of margin m by Newton's
// method with step halving, with the targets (n+ + 1)/(n+ + 2) and 1/(n- + 2) in place of 1
// and 0 (Platt 2000; Lin, Lin and Weng 2007). Decisions of a bin count as at its middle.
func (h histogram) platt() (a, b float64) {
	positive, negative := h.totals()
	high, low := (float64(positive)+1)/(float64(positive)+2), 1/(float64(negative)+2)
	// The loss in nats, its gradient and its Hessian.
	evaluate := func(a, b float64) (loss, ga, gb, haa, hab, hbb float64) {
		for bin := range bins {
			n := float64(h.positive[bin] + h.negative[bin])
			if n == 0 {
				continue
			}
			m := middle(bin)
			target := (float64(h.positive[bin])*high + float64(h.negative[bin])*low) / n
			s := a*m + b
			p := 1 / (1 + math.Exp(-s))
			// ln(1 + exp(s)) - target s, without overflow.
			loss += n * (max(s, 0) + math.Log1p(math.Exp(-math.Abs(s))) - target*s)
			ga, gb = ga+n*(p-target)*m, gb+n*(p-target)
			w := n * p * (1 - p)
			haa, hab, hbb = haa+w*m*m, hab+w*m, hbb+w
		}
		return
	}
	a, b = 1, math.Log((float64(positive)+1)/(float64(negative)+1))
	loss, ga, gb, haa, hab, hbb := evaluate(a, b)
	for range 100 {
		const ridge = 1e-9
		det := (haa+ridge)*(hbb+ridge) - hab*hab
		da, db := -((hbb+ridge)*ga-hab*gb)/det, -((haa+ridge)*gb-hab*ga)/det
		step, moved := 1.0, false
		for range 30 {
			if l, x, y, xx, xy, yy := evaluate(a+step*da, b+step*db); l < loss {
				moved = loss-l > 1e-10*loss
				a, b, loss, ga, gb, haa, hab, hbb = a+step*da, b+step*db, l, x, y, xx, xy, yy
				break
			}
			step /= 2
		}
		if !moved {
			break
		}
	}
	return a, b
}

package dataset

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"github.com/treeloss/treeloss/internal/input"
)

// roundedShare is by how much a share written to two digits may be off, and
// mostRounded by how much their sum may be.
const (
	roundedShare = 0.005
	mostRounded  = 0.05
)

// takeMix reads a target that is a distribution, such as {"cat": 0.75, "dog":
// 0.25}, or counts of votes, such as {"cat": 3, "dog": 1}. Shares that are not
// all whole numbers sum to 1, but for rounding.
func (j *jsonl) takeMix(ex *Example) error {
	at := j.scan.i
	j.mix = j.mix[:0]
	var most, sum float64
	votes := true
	err := j.scan.object(func(key []byte) error {
		label := j.labels.get(bytes.TrimSpace(key))
		start := j.scan.i
		if label == "" {
			return j.refuse(j.label, "the name of a class is empty; fill it in or remove it")
		}
		if j.scan.holds() != number {
			return j.refuse(j.label, "%s as the value of %s, want a number", j.value(), input.Clip(label))
		}
		b := j.scan.token()
		v, err := parseNumber(b)
		if err != nil || v < 0 {
			j.scan.i = start
			return j.refuse(j.label, "a value of %s for %s, want a finite number, 0 or more", input.Clip(b), input.Clip(label))
		}
		most, sum = max(most, v), sum+v
		votes = votes && v == math.Trunc(v)
		j.mix = append(j.mix, Share{label, v})
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(j.mix, func(a, b Share) int { return cmp.Compare(a.Label, b.Label) })
	for i := 1; i < len(j.mix); i++ {
		if j.mix[i].Label == j.mix[i-1].Label {
			j.scan.i = at
			return j.refuse(j.label, "class %s has two values; keep one", input.Clip(j.mix[i].Label))
		}
	}
	if most == 0 {
		if len(j.mix) == 0 && j.opts.Unlabelled {
			return nil
		}
		j.scan.i = at
		return j.refuse(j.label, "no class has a value above 0, want a label or soft labels; fill it in or remove the line")
	}
	if off := math.Abs(sum - 1); !votes && off > min(roundedShare*float64(len(j.mix)), mostRounded)+1e-9 {
		j.scan.i = at
		return j.refuse(j.label, "the soft labels sum to %.4g, want 1, or whole numbers that count votes", sum)
	}
	ex.Mix, ex.Label = normalise(j.mix, most)
	return nil
}

// normalise scales the shares, of which the largest is most, to the sum 1,
// drops those that are 0, and returns the first label of the largest. It
// divides by the largest first, since the sum of finite numbers may not be one.
func normalise(mix []Share, most float64) ([]Share, string) {
	var sum, top float64
	for i := range mix {
		mix[i].Share /= most
		sum += mix[i].Share
	}
	label := ""
	kept := mix[:0]
	for _, s := range mix {
		if s.Share /= sum; s.Share == 0 || math.IsNaN(s.Share) {
			continue
		}
		if s.Share > top {
			top, label = s.Share, s.Label
		}
		kept = append(kept, s)
	}
	return kept, label
}

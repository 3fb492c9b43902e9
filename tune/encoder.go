package tune

import (
	"cmp"
	"context"
	"fmt"

	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/softmax"
)

// encoderScale is the length of the block of encoder features, the default spelled out.
func (m Method) encoderScale() float64 { return cmp.Or(m.EncoderScale, feature.DefaultEncoderScale) }

// Scales of a block of encoder features that are tried, beside blocks of n-grams of length
// 1, by steps of encoderStep from the default as long as they gain. One of double the
// length has, with the same prior, weights of a quarter of the penalty.
const (
	encoderStep                         = 2.0
	leastEncoderScale, mostEncoderScale = 0.125, 16
)

// takesEncoder tells whether the scale of encoder features can be chosen: of texts with an
// encoder, with a trainer whose fits take seconds.
func (h *heldOut) takesEncoder() bool {
	_, converges := h.opts.Trainer.(softmax.Converge)
	return h.d.Table.Encoder() != nil && (h.opts.Trainer == nil || converges) && h.opts.Init == nil
}

// withEncoder returns what is best on held-out rows of an attempt, with encoder features of
// the default scale, and its method with others, without n-grams and without the encoder,
// with everything that was tried; without is best unless another gains a standard error. Longer and shorter blocks are tried with the prior of the
// attempt; rough says that fits take long, and then so are the other two.
func (h *heldOut) withEncoder(ctx context.Context, first *attempt, rough bool) (best *attempt, tried []*attempt, why string, err error) {
	best = first
	take := func(attempts []*attempt, err error) (gained bool, _ error) {
		if err != nil {
			return false, err
		}
		tried = append(tried, attempts...)
		if a := bestOf(attempts); a.better(best) {
			best.duals, best = nil, a
			return true, nil
		}
		return false, nil
	}
	// withPrior tries the prior of the first attempt alone.
	withPrior := func(m Method) ([]*attempt, error) {
		if rough {
			return h.climb(ctx, m, []float64{first.prior}, nil)
		}
		return h.try(ctx, m, []float64{first.prior})
	}
	for _, step := range []float64{encoderStep, 1 / encoderStep} {
		m, moved := first.method, false
		for {
			m.EncoderScale = m.encoderScale() * step
			if m.EncoderScale < leastEncoderScale || m.EncoderScale > mostEncoderScale {
				break
			}
			gained, err := take(withPrior(m))
			if err != nil {
				return nil, nil, "", err
			}
			if !gained {
				break
			}
			moved = true
		}
		if moved { // then the other direction loses
			break
		}
	}
	alone, none := first.method, first.method
	alone.EncoderAlone, alone.EncoderScale = true, feature.DefaultEncoderScale
	none.EncoderScale = -1
	var without *attempt // best of those without the encoder
	for _, m := range []Method{alone, none} {
		all := h.attempts
		if rough {
			all = func(_ context.Context, m Method) ([]*attempt, error) { return withPrior(m) }
		}
		attempts, err := all(ctx, m)
		if _, err := take(attempts, err); err != nil {
			return nil, nil, "", err
		}
		without = bestOf(attempts)
	}
	// The best of many scales is better by chance: an encoder has to gain a standard error.
	gain, err := gainOver(best, without)
	if err != nil {
		return nil, nil, "", err
	}
	if gain.Difference < gain.DifferenceSE {
		best.duals, best = nil, without
	}
	switch m := best.method; {
	case m.EncoderAlone:
		why = "the encoder alone is best"
	case m.EncoderScale < 0:
		why = fmt.Sprintf("the encoder is not used: it gains %+.1f ± %.1f points", 100*gain.Difference, 100*gain.DifferenceSE)
	default:
		why = fmt.Sprintf("encoder features of length %g", m.encoderScale())
	}
	return best, tried, why, nil
}

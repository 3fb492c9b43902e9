package tune

import (
	"context"
	"fmt"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
)

// fourierFeatures returns how many random Fourier features there are: as many as rows,
// within 128 and 1024. On all of letter (16 columns) 512 were less accurate than 1024
// by half a point to one; more features than rows span no more than the rows do.
func fourierFeatures(d *corpus.Data) int { return min(max(d.Table.Rows(), 128), 1024) }

// maxFourierProducts bounds rows x features x classes, the multiplications of a pass
// over the examples: beyond it the choice takes minutes.
const maxFourierProducts = 6e8

// takesFourier tells whether Fourier features can be tried: on numeric columns, with
// the trainer and the prior left open, where fits take seconds.
func (h *heldOut) takesFourier() bool {
	if h.d.Table.Kind() != dataset.Numbers || h.opts.Trainer != nil || h.opts.Init != nil || h.opts.Priors != nil {
		return false
	}
	rows := 0
	for _, p := range h.parts {
		rows += len(p.train)
	}
	return float64(rows)*float64(fourierFeatures(h.d))*float64(len(h.d.Classes.Labels)) <= maxFourierProducts
}

// withFourier returns what is better on held-out rows, an attempt or its method with
// Fourier features, with everything that was tried: these are taken if they gain a
// standard error.
func (h *heldOut) withFourier(ctx context.Context, plain *attempt) (best *attempt, tried []*attempt, why string, err error) {
	m := plain.method
	m.Fourier = fourierFeatures(h.d)
	if tried, err = h.attempts(ctx, m); err != nil {
		return nil, nil, "", err
	}
	best = bestOf(tried)
	gain, err := gainOver(best, plain)
	if err != nil {
		return nil, nil, "", err
	}
	why = fmt.Sprintf("Fourier features %+.1f ± %.1f points", 100*gain.Difference, 100*gain.DifferenceSE)
	if gain.Difference < gain.DifferenceSE || gain.Difference <= 0 {
		return plain, tried, why, nil
	}
	return best, tried, why, nil
}

package tune

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/internal/memory"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/softmax"
)

// How a result learns from unlabelled rows. Its probabilities for them, calibrated and
// brought to the class frequencies of the labelled rows, are soft labels of a small
// weight; it is trained again on both, twice, from the duals it ended at. The numbers were
// chosen on banking77, clinc150, stackoverflow and trec with 1, 5 and 10 examples a class
// (docs/unlabelled.md): of weights 0.03 to 1, powers 1 to 3, one to three rounds.
const (
	softWeight  = 0.2 // of an unlabelled row, times its largest probability
	sharpen     = 1.5 // power of its probabilities
	softRounds  = 2
	leastSame   = 0.7   // share of unchanged classes below which a round has led astray: of useful ones it was 0.82 or more
	sameEnough  = 0.99  // share of unchanged classes that ends the rounds
	leastShare  = 1e-3  // of a soft label; smaller ones are left out
	leastPrior  = 10.   // of the fits on soft labels: a stronger one was seen to follow them into few classes (clinc150, 1 a class, 3 instead of 10: -8 points; csldcp, 5 a class, 1: -29)
	mostPrior   = 1000. // of the fits on soft labels: a weaker one takes long and changes little
	assumedSure = 0.5   // mean largest probability where no row is held out to calibrate by: few examples train a classifier that is unsure of what it gets right

	// Unlike the sharpened labels of the plain case, those of a mixed collection are as they
	// are, and trained on once: a second round was seen to lose there.
	mixedBelow = 0.85

	// Guards. Of texts of the other set (banking77 and clinc150) the shift was above 0.9, of
	// 1:1 mixtures with texts out of scope Similar was 0.7 to 0.8.
	leastSimilar          = 0.5  // of the unlabelled rows
	leastSimilarUnchecked = 0.85 // where no row is held out
	fullBalance           = 0.35 // shift up to which predictions are brought to the labelled frequencies all the way
	mostShift             = 0.5  // shift from which the frequencies are others, or the rows are
)

const (
	// maxSoftScores bounds unlabelled rows x classes: 128 MB for each of four arrays.
	maxSoftScores = 32 << 20
	softBytes     = 16
	softShare     = 0.25 // of the memory budget
)

// learner is what the rounds of one result share.
type learner struct {
	d    *corpus.Data
	opts Options
	r    *Result
	a    *attempt // what r was trained as

	rows, soft  []int // labelled and unlabelled
	f           *corpus.Fitted
	o           softmax.Options
	k           int
	near        []float64 // of each unlabelled row: its weight for being like the labelled ones
	similar     float64   // their mean
	checked     bool      // whether held-out rows have calibrated the result
	temperature float64   // of the result
	sure        float64   // mean largest probability of the result at this temperature
	told        softmax.Unlabelled

	duals, hinge *softmax.Duals // where the last round ended, of cross entropy and squared hinge
}

// learn trains a result again with the unlabelled rows of the data. Where a guard speaks
// against that the result stays, and says why. f may be nil.
func (r *Result) learn(ctx context.Context, d *corpus.Data, rows []int, h *heldOut, a *attempt, opts Options) error {
	t := learner{d: d, opts: opts, r: r, a: a, k: len(d.Classes.Labels), rows: d.Labelled(rows)}
	t.told.Data = d.Unlabelled.Fingerprint
	r.Unlabelled = &t.told
	t.soft, _ = d.Apart(t.rows)
	t.told.Examples = len(t.soft)
	most := int(min(maxSoftScores, softShare*float64(memory.Budget(d.Memory))/softBytes)) / t.k
	t.soft = t.soft[:min(len(t.soft), max(most, 1))]
	if reason := t.refuse(); reason != "" {
		t.told.Reason = reason
		return nil
	}
	t.told.Transductive = t.transductive()
	if err := t.calibrate(ctx, h); err != nil {
		return err
	}
	x, err := r.Features.Matrix(d.Table, t.soft)
	if err != nil {
		return err
	}
	scores := classScores(r.Layer, x, opts.Threads)
	if t.sure = t.meanLargest(scores, t.temperature); !t.checked && t.sure < assumedSure {
		t.sure = assumedSure
		t.temperature = t.temperatureFor(scores, t.sure)
	}
	p := t.probabilities(scores, t.temperature)
	if err := t.prepare(); err != nil {
		return err
	}
	t.told.Reason = t.guard(p)
	if t.told.Reason != "" {
		return nil
	}
	return t.run(ctx, p)
}

// refuse says why the rows cannot be learned from, whatever they hold.
func (t *learner) refuse() string {
	switch t.opts.Trainer.(type) {
	case nil, softmax.Converge:
	default:
		return "only training to convergence learns from them; leave out Options.Trainer"
	}
	if t.r.Layer.Hierarchy != nil {
		return "a hierarchical softmax does not learn from them"
	}
	if len(t.soft) == 0 {
		return "each of them is a labelled example, too, or empty"
	}
	return ""
}

// transductive counts the unlabelled rows that are validation rows, too.
func (t *learner) transductive() int {
	if len(t.opts.Valid) == 0 {
		return 0
	}
	_, same := t.d.Apart(t.opts.Valid)
	return same
}

// calibrate sets the temperature of the result, by held-out rows where there are any.
func (t *learner) calibrate(ctx context.Context, h *heldOut) (err error) {
	t.temperature = 1
	if h == nil {
		if h = hold(t.d, t.rows, t.opts); h == nil {
			return nil
		}
	}
	a := t.a
	if a.scores == nil { // nothing was chosen, so nothing was measured
		attempts, err := h.try(ctx, a.method, []float64{a.prior})
		if err != nil {
			return err
		}
		a = attempts[0]
	}
	t.checked = true
	t.temperature, err = h.temperature(a)
	return err
}

// prepare fits features on labelled and unlabelled rows, and compares the two.
func (t *learner) prepare() (err error) {
	m := t.a.method
	if t.f, err = t.d.Fit(slices.Concat(t.rows, t.soft), m.inputs()); err != nil {
		return err
	}
	// Class means, if the method shares by them, are those of labelled rows.
	labelled := dataset.Range(0, len(t.rows))
	own := &corpus.Fitted{Features: t.f.Features}
	own.X, own.Class = t.f.X.Select(labelled), t.f.Class[:len(t.rows)]
	plain := m
	if m.Loss == CrossEntropyHinge {
		plain.Loss = ""
	}
	if t.o, _, err = options(t.d, own, plain, t.opts, m.String()+" with unlabelled examples"); err != nil {
		return err
	}
	t.o.Prior = min(max(t.a.prior, leastPrior), mostPrior)
	if m.Loss != SquaredHinge {
		t.o.Trainer = trainerFor(t.d, t.f.X, t.o)
		if _, converges := t.o.Trainer.(softmax.Converge); converges {
			_, sparse := t.f.X.(*matrix.Sparse)
			t.o.Trainer = softmax.Converge{Tolerance: choosingTolerance, Dual: sparse}
		}
	}
	t.near, t.similar = likeTo(t.f.X, len(t.rows), len(t.soft), t.opts.Threads)
	return nil
}

// Similar returns the share of the unlabelled rows of d that is as near to given labelled
// rows as these are to each other, and how many of them are none of these. Training uses
// none of them below 0.5, and below 0.85 where no row can be held out.
func Similar(d *corpus.Data, rows []int, threads int) (share float64, apart int, err error) {
	rows = d.Labelled(rows)
	soft, _ := d.Apart(rows)
	if len(soft) == 0 {
		return 0, 0, nil
	}
	f, err := d.Fit(slices.Concat(rows, soft), corpus.Inputs{Names: d.Named()})
	if err != nil {
		return 0, 0, err
	}
	_, share = likeTo(f.X, len(rows), len(soft), threads)
	return share, len(soft), nil
}

// likeTo returns a weight from 0 to 1 for each of the soft rows that follow the labelled
// ones of x, and are followed by the names of classes: less where labelled rows are rarely as far from each other (see nearness and
// likeness). It also returns their mean.
func likeTo(x matrix.Matrix, labelled, soft, threads int) (near []float64, mean float64) {
	near = likeness(nearness(x, labelled, soft, threads))
	for _, w := range near {
		mean += w / float64(soft)
	}
	return near, min(1, mean)
}

// frequencies are those of the classes in the labelled rows, none of them 0.
func (t *learner) frequencies() []float64 {
	out := make([]float64, t.k)
	total := float64(len(t.rows) + t.k)
	for c := range out {
		out[c] = 1 / total
	}
	for _, row := range t.rows {
		t.d.EachShare(row, func(class int, share float64) { out[class] += share / total })
	}
	return out
}

// guard looks at the unlabelled rows with the probabilities p of the result. It says why
// they are not to be used, "" if they are.
//
// The shift is χ²/n = Σ_c (u_c - π_c)²/π_c of the frequencies u of the most probable classes
// and those of the labelled rows, π: small where the two collections are alike, large where
// classes are as frequent as each other only among the labelled rows, and with texts of
// something else, which fall to few classes. The labelled rows cannot show which it is.
func (t *learner) guard(p []float32) string {
	expected, met := t.frequencies(), make([]float64, t.k)
	total := t.similar * float64(len(t.soft))
	for i, near := range t.near {
		met[softmax.Top(p[i*t.k:(i+1)*t.k])] += near / total
	}
	for c, e := range expected {
		t.told.Shift += (met[c] - e) * (met[c] - e) / e
	}
	t.told.Similar = t.similar
	least := leastSimilar
	if !t.checked {
		least = leastSimilarUnchecked
	}
	switch {
	case t.similar < least:
		return fmt.Sprintf("%.0f %% of them are like the labelled examples, at least %.0f %% must be; leave out texts of other subjects", 100*t.similar, 100*least)
	case t.told.Shift > mostShift:
		return "their classes are predicted far more unevenly than the labelled examples have them, or they are about something else; label examples that are drawn from them at random"
	}
	t.told.Balance = min(1, (mostShift-t.told.Shift)/(mostShift-fullBalance))
	return ""
}

// run trains the rounds and changes the result. p is its probabilities.
func (t *learner) run(ctx context.Context, p []float32) error {
	rounds := softRounds
	t.told.Sharpen, t.told.Used = sharpen, len(t.soft)
	if t.similar < mixedBelow {
		rounds, t.told.Sharpen = 1, 1
	}
	t.duals, t.hinge = &softmax.Duals{}, &softmax.Duals{}
	first := *t.r
	for t.told.Rounds < rounds && t.told.Same < sameEnough {
		before := t.tops(p)
		layer, record, own, err := t.round(ctx, p, nil)
		if err != nil {
			return err
		}
		same := 0
		for i, c := range t.tops(p) {
			if c == before[i] {
				same++
			}
		}
		if !t.checked { // no calibration follows
			scaleLayer(layer, float32(1/own), t.opts.Threads)
		}
		t.told.Rounds++
		t.told.Same = float64(same) / float64(len(before))
		t.r.Layer, t.r.Record, t.r.Features = layer, record, t.f.Features
		if t.told.Same < leastSame {
			*t.r = first
			t.told.Used, t.told.Reason = 0, fmt.Sprintf("a round changed the classes of %.0f %% of them", 100*(1-t.told.Same))
			return nil
		}
	}
	t.r.learner = t
	return nil
}

// round balances the probabilities p, trains on them and the labelled rows but those at the
// places out, and sets p to the probabilities of the new classifier, at the temperature own.
func (t *learner) round(ctx context.Context, p []float32, out []int) (layer *softmax.Layer, record softmax.Record, own float64, err error) {
	t.balance(p, t.frequencies())
	if layer, record, err = t.fit(ctx, p, out); err != nil {
		return nil, record, 0, err
	}
	copy(p, classScores(layer, t.f.X.Select(dataset.Range(len(t.rows), len(t.rows)+len(t.soft))), t.opts.Threads))
	// Sure of its own labels, the new classifier is as sure of the rows as the one that
	// held-out rows have calibrated: so one mean largest probability serves both.
	own = t.temperatureFor(p, t.sure)
	t.probabilities(p, own)
	return layer, record, own, nil
}

// enoughToCalibrate is the number of held-out rows that a result of rounds is calibrated on,
// where there are as many: each part takes the rounds again.
const enoughToCalibrate = 400

// heldOutScores returns what the result gives the rows of h when it is trained without
// their classes, the rounds included; their texts still count when n-grams are weighed, as
// all texts do. It takes a fit of the method and the rounds for each part, from where those
// of all rows ended. Parts that are not needed are taken off h.
func (t *learner) heldOutScores(ctx context.Context, h *heldOut) (*attempt, error) {
	place := make(map[int]int, len(t.rows))
	for n, row := range t.rows {
		place[row] = n
	}
	out := &attempt{method: t.a.method, prior: t.a.prior}
	rows := 0
	h.keepParts(1 + slices.IndexFunc(h.parts, func(p heldOutPart) bool {
		rows += len(p.test)
		return rows >= enoughToCalibrate
	}))
	for n := range h.parts {
		layer, inside, err := t.withoutPart(ctx, h, n, place)
		if err != nil {
			return nil, err
		}
		out.scores = append(out.scores, classScores(layer, t.f.X.Select(inside), t.opts.Threads)...)
	}
	return out, h.judge(out)
}

// withoutPart returns a layer trained without the classes of part n of h, and the places of
// the part.
func (t *learner) withoutPart(ctx context.Context, h *heldOut, n int, place map[int]int) (layer *softmax.Layer, inside []int, err error) {
	for _, row := range h.parts[n].test {
		inside = append(inside, place[row])
	}
	f, o, _, err := h.prepare(&h.parts[n], t.a.method, fmt.Sprintf("calibrating, part %d of %d", n+1, len(h.parts)))
	if err != nil {
		return nil, nil, err
	}
	o.Prior = t.a.prior
	b := t.a.blend
	if b != nil {
		b = &blend{crossEntropy: b.crossEntropy, hinge: b.hinge, crossEntropyScale: b.crossEntropyScale, hingeScale: b.hingeScale}
	}
	if layer, _, err = fitMethod(ctx, t.d, f, o, t.a.method, b); err != nil {
		return nil, nil, err
	}
	x, err := f.Features.Matrix(t.d.Table, t.soft)
	if err != nil {
		return nil, nil, err
	}
	part := *t
	at := dataset.Range(0, t.f.X.Rows())
	for _, i := range inside {
		at[i] = -1
	}
	part.duals, part.hinge = t.duals.For(at), t.hinge.For(at)
	p := t.probabilities(classScores(layer, x, t.opts.Threads), t.temperature)
	for range t.told.Rounds {
		if layer, _, _, err = part.round(ctx, p, inside); err != nil {
			return nil, nil, err
		}
	}
	return layer, inside, nil
}

// fit trains on soft labels of the probabilities p, to a power, and on the labelled rows but
// those at the places out.
func (t *learner) fit(ctx context.Context, p []float32, out []int) (*softmax.Layer, softmax.Record, error) {
	labels := &matrix.Sparse{Columns: t.k}
	weight := make([]float32, len(t.soft))
	share, index := make([]float32, 0, t.k), make([]int32, 0, t.k)
	sum := 0.0
	for i := range t.soft {
		row := p[i*t.k : (i+1)*t.k]
		top := slices.Max(row)
		weight[i] = softWeight * float32(t.near[i]) * top
		sum += float64(weight[i])
		index, share = index[:0], share[:0]
		total := float32(0)
		for c, q := range row {
			if s := float32(math.Pow(float64(q/top), t.told.Sharpen)); s >= float32(leastShare) {
				index, share = append(index, int32(c)), append(share, s)
				total += s
			}
		}
		kernel.Scale(1/total, share)
		labels.AppendRow(index, share)
	}
	t.told.Weight = sum / float64(len(t.soft))
	ex := t.d.Soften(t.f, len(t.rows), labels, weight)
	for _, i := range out {
		ex.Weight[i] = 0
	}
	m, b := t.a.method, t.a.blend
	hinge := func(prior float64) (*softmax.Layer, softmax.Record, error) {
		hard := ex // squared hinge takes no distributions: the most probable class, which has the weight already
		hard.Mix = nil
		return softmax.Fit(ctx, hard, t.k, softmax.Options{Trainer: softmax.SquaredHinge{}, Prior: prior, Seed: t.opts.Seed,
			Threads: t.opts.Threads, Progress: t.o.Progress, Duals: t.hinge})
	}
	if m.Loss == SquaredHinge {
		layer, record, err := hinge(t.a.prior)
		if err == nil {
			m.scale(layer, t.opts.Threads)
		}
		return layer, record, err
	}
	t.o.Duals = t.duals
	layer, record, err := softmax.Fit(ctx, ex, t.k, t.o)
	if err != nil || m.Loss != CrossEntropyHinge {
		return layer, record, err
	}
	b = cmp.Or(b, &blend{hinge: defaultHingePrior, crossEntropyScale: 0.5, hingeScale: 0.5})
	other, hingeRecord, err := hinge(b.hinge)
	if err != nil {
		return layer, record, err
	}
	combine(layer, float32(b.crossEntropyScale), other, float32(hingeScale*b.hingeScale), t.opts.Threads)
	record.Steps += hingeRecord.Steps
	record.Converged = record.Converged && hingeRecord.Converged
	return layer, record, nil
}

// tops returns the most probable class of each row.
func (t *learner) tops(p []float32) []int32 {
	out := make([]int32, len(t.soft))
	for i := range out {
		out[i] = int32(softmax.Top(p[i*t.k : (i+1)*t.k]))
	}
	return out
}

// balance brings the mean of the probabilities towards the expected frequencies: each is
// multiplied by (expected / mean) to the power Balance, and the rows are scaled to 1 again.
// One such step, not many till both hold, is enough.
func (t *learner) balance(p []float32, expected []float64) {
	factor := make([]float64, t.k)
	total := t.similar * float64(len(t.soft))
	for i, near := range t.near {
		for c, q := range p[i*t.k : (i+1)*t.k] {
			factor[c] += near / total * float64(q)
		}
	}
	for c, mean := range factor {
		factor[c] = math.Pow(expected[c]/max(mean, 1e-9), t.told.Balance)
	}
	kernel.Parallel(t.opts.Threads, len(t.soft), calibrationGrain, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			row := p[i*t.k : (i+1)*t.k]
			sum := float32(0)
			for c := range row {
				row[c] *= float32(factor[c])
				sum += row[c]
			}
			kernel.Scale(1/sum, row)
		}
	})
}

// probabilities turns scores (n x k) into probabilities at a temperature, in place.
func (t *learner) probabilities(scores []float32, temperature float64) []float32 {
	kernel.Parallel(t.opts.Threads, len(scores)/t.k, calibrationGrain, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			row := scores[i*t.k : (i+1)*t.k]
			kernel.Scale(float32(1/temperature), row)
			kernel.Softmax(row, row)
		}
	})
	return scores
}

// sureRows is the number of rows that a temperature is found on.
const sureRows = 2000

// meanLargest is the mean of the largest probabilities of some rows, evenly spaced, at a
// temperature.
func (t *learner) meanLargest(scores []float32, temperature float64) float64 {
	sum, n := 0.0, 0
	for i := 0; i < len(t.soft); i += max(1, len(t.soft)/sureRows) {
		row := scores[i*t.k : (i+1)*t.k]
		top, z := slices.Max(row), 0.0
		for _, s := range row {
			z += math.Exp(float64(s-top) / temperature)
		}
		sum += 1 / z
		n++
	}
	return sum / float64(n)
}

// temperatureFor returns the temperature at which the largest probability of scores has a
// mean, from 0.01 to 100. The mean largest probability falls with it, so halving finds it.
func (t *learner) temperatureFor(scores []float32, mean float64) float64 {
	low, high := 0.01, 100.0
	for range 24 {
		if middle := math.Sqrt(low * high); t.meanLargest(scores, middle) > mean {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Sqrt(low * high)
}

// scaleLayer multiplies the scores of a layer.
func scaleLayer(l *softmax.Layer, by float32, threads int) {
	kernel.Scale(by, l.Bias)
	kernel.Parallel(threads, len(l.Weight), combineGrain, func(_, lo, hi int) { kernel.Scale(by, l.Weight[lo:hi]) })
}

// maxReferences is the number of labelled rows that others are compared with.
const maxReferences = 2000

// nearness returns, for the first labelled rows of x and for the soft ones that follow,
// the largest similarity to a labelled row, itself aside, or to a name, which are the rows
// behind both: the cosine of sparse rows, minus
// the squared distance of dense ones. Of many labelled rows some, evenly spaced, are taken,
// and the answer is for these.
func nearness(x matrix.Matrix, labelled, soft, threads int) (in, out []float64) {
	step := (labelled + maxReferences - 1) / maxReferences
	var references []int
	for i := 0; i < labelled; i += step {
		references = append(references, i)
	}
	some := len(references)
	for i := labelled + soft; i < x.Rows(); i++ {
		references = append(references, i)
	}
	in, out = make([]float64, some), make([]float64, soft)
	like := similarTo(x, references)
	kernel.Parallel(threads, some+soft, calibrationGrain, func(_, lo, hi int) {
		similar := make([]float64, len(references))
		for n := lo; n < hi; n++ {
			if n < some {
				like(references[n], similar)
				similar[n] = math.Inf(-1)
				in[n] = slices.Max(similar)
				continue
			}
			like(labelled+n-some, similar)
			out[n-some] = slices.Max(similar)
		}
	})
	return in, out
}

// similarTo returns what sets to to the similarities of row i of x to some of its rows.
func similarTo(x matrix.Matrix, rows []int) func(i int, to []float64) {
	if dense, ok := x.(*matrix.Dense); ok {
		return func(i int, to []float64) {
			for n, row := range rows {
				to[n] = 0
				other := dense.Row(row)
				for j, v := range dense.Row(i) {
					to[n] -= float64(v-other[j]) * float64(v-other[j])
				}
			}
		}
	}
	sparse := x.(*matrix.Sparse)
	length := func(i int) float64 { return math.Sqrt(x.SquaredNorm(i)) + 1e-30 }
	lengths := make([]float64, len(rows))
	for n, row := range rows {
		lengths[n] = length(row)
	}
	columns := x.Select(rows).(*matrix.Sparse).Transpose() // of a feature, the rows that have it
	return func(i int, to []float64) {
		clear(to)
		index, value := sparse.Row(i)
		columns.AddRows(to, index, value)
		own := length(i)
		for n := range to {
			to[n] /= own * lengths[n]
		}
	}
}

// likeness returns a weight from 0 to 1 for each of some numbers, out: how much more
// frequent numbers of its size are among in than among out, 1 at most, and never less than
// that of a smaller number. The two are compared in bins with as many of in each.
func likeness(in, out []float64) []float64 {
	sorted := slices.Sorted(slices.Values(in))
	bins := min(10, max(1, len(in)/8))
	edges := make([]float64, bins-1)
	for b := range edges {
		edges[b] = sorted[(b+1)*len(sorted)/bins]
	}
	bin := func(x float64) int {
		b, equal := slices.BinarySearch(edges, x)
		for equal && b < len(edges) && edges[b] == x {
			b++
		}
		return b
	}
	inside, outside := make([]float64, bins), make([]float64, bins)
	for _, x := range in {
		inside[bin(x)] += 1 / float64(len(in))
	}
	for _, x := range out {
		outside[bin(x)] += 1 / float64(len(out))
	}
	weight := make([]float64, bins)
	for b := range weight {
		weight[b] = min(1, inside[b]/max(outside[b], 1e-9))
		if b > 0 {
			weight[b] = max(weight[b], weight[b-1])
		}
	}
	near := make([]float64, len(out))
	for i, x := range out {
		near[i] = weight[bin(x)]
	}
	return near
}

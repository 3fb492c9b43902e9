package kernel

import "math"

// Dense trains the weights W (k x d) and the bias b (k) of a softmax on dense
// rows with cross entropy, or another loss of the scores, in place: scores,
// softmax, product with K = A Aᵀ, gradient and update in one go, over batches of
// up to the length it was made for.
//
// Rows of W and of the velocity are padded to an odd number of cache lines; a
// product asks for those that the next one needs. The scores are kept class by
// class, so that the softmax and the K pass work on whole registers, an example
// a lane; W is read where it lies and only the batch is copied. No gradient is
// stored: a tile of it goes from the registers through the first cache into the
// step. A step costs 4*B*d*k operations and does not allocate. Its result does
// not depend on the number of threads.
type Dense struct {
	Classes, Features, Batch int

	Weight       Rect // k x d
	Velocity     Rect // behind the weights in memory
	Sum          Rect // of the weights after each step; nil X: not wanted
	Bias         []float32
	BiasVelocity []float32
	BiasSum      []float32

	kind      kind
	team      *Team
	tree      *Tree
	kernelOf  func(worker int, out, g []float32, cols int)
	loss      func(worker int, grad, scores []float32, row int) float64
	x, xt     []float32 // the batch, by features and by examples, in panels
	z         []float32 // the scores, and then the gradient in them, in panels
	biasParts []float32 // of each group of 16 columns, k numbers
	biasGrad  []float32
	gradient  []float32 // of one class, or of all where a row is one cache line
	losses    []float64
	workers   []denseWorker
	rows      [][]float32
	class     []int32
	share     []float32
	step      *factors
	biasStep  Step[float32]
	blocks    int
	fetches   fetchPlan
	zRows     int // of a panel of z
	panels    int
	group     int
	phases    [4]Phase
}

// denseWorker is the memory of one goroutine.
type denseWorker struct {
	top, factor []float32
	sum         []float64
	label       []float32
	spare       []float32 // k x panelCols, for a general K
	scores      []float32 // panelCols x k, for another loss
	grad        []float32 // k, for another loss
}

// oddLines returns a row length of at least n numbers that is an odd number of
// cache lines, so that the rows of a block do not share the places of a cache.
func oddLines(n int) int { return 16 * (ceil(n, 16) | 1) }

// newRect returns a matrix of zeros whose rows begin with a cache line.
func newRect(rows, cols int) Rect {
	stride := oddLines(cols)
	return Rect{X: make([]float32, rows*stride), Rows: rows, Cols: cols, Stride: stride}
}

// NewDense returns zero weights for k classes and d features. The gradient is
// multiplied by K of the tree, or by kernel, which sets out (k x cols) to K g
// and is called by one goroutine a worker; both nil: K = I.
func NewDense(team *Team, k, d, batch int, average bool, tree *Tree, kernel func(worker int, out, g []float32, cols int)) *Dense {
	return newDense(best, team, k, d, batch, average, tree, kernel)
}

// newDense is NewDense on a kind. Weights and velocities are one array, so that the lines of
// both can be asked for from one place.
func newDense(kd kind, team *Team, k, d, batch int, average bool, tree *Tree, kernel func(worker int, out, g []float32, cols int)) *Dense {
	nr := kd.panelCols()
	s := &Dense{Classes: k, Features: d, Batch: batch, kind: kd, team: team, tree: tree, kernelOf: kernel,
		Bias: make([]float32, k), BiasVelocity: make([]float32, k)}
	both := newRect(2*k, d)
	s.Weight, s.Velocity = both, both
	s.Weight.X, s.Velocity.X = both.X[:k*both.Stride], both.X[k*both.Stride:]
	s.Weight.Rows, s.Velocity.Rows = k, k
	if average {
		s.Sum, s.BiasSum = newRect(k, d), make([]float32, k)
	}
	s.zRows = k
	if tree != nil {
		s.zRows = tree.Rows()
	}
	wide := ceil(batch, nr) * nr
	s.x, s.xt = make([]float32, ceil(d, nr)*s.featurePanel()), make([]float32, wide*d)
	s.z = make([]float32, max(wide, fewExamples)*s.zRows)
	s.biasParts, s.biasGrad, s.losses = make([]float32, wide/min(nr, 16)*k), make([]float32, k), make([]float64, wide)
	s.blocks = ceil(k, kd.tileRows())
	s.group = max(1, min(3, s.blocks/(4*team.Threads())))
	s.workers = make([]denseWorker, team.Threads())
	for i := range s.workers {
		w := &s.workers[i]
		w.top, w.factor, w.label, w.sum = make([]float32, nr), make([]float32, nr), make([]float32, nr), make([]float64, nr)
		if kernel != nil {
			w.spare = make([]float32, k*nr)
		}
	}
	s.gradient = make([]float32, max(d, k*CacheLine))
	s.fetches = newFetchPlan(kd, ceil(d, max(1, ceil(d, innerBlock))), batch)
	s.phases = [...]Phase{{Work: s.readPanel}, {Work: s.scoreRows}, {Work: s.normalisePanel}, {Work: s.updateRows}}
	s.SetStep(Step[float32]{WW: 1, VV: 1}, Step[float32]{WW: 1, VV: 1})
	return s
}

// SetStep sets what a step does to weights and to biases.
func (s *Dense) SetStep(weight, bias Step[float32]) {
	s.step, s.biasStep = NewFactors(weight).spread, bias
}

// SetLoss puts another loss in the place of cross entropy: a function that
// returns the loss of the given row of a batch with these scores (k, the bias
// added) and sets grad (k) to its gradient in them. It is called by one goroutine
// a worker. The classes given to Step are then not read.
func (s *Dense) SetLoss(loss func(worker int, grad, scores []float32, row int) float64) {
	s.loss = loss
	for i := range s.workers {
		w := &s.workers[i]
		w.scores, w.grad = make([]float32, s.kind.panelCols()*s.Classes), make([]float32, s.Classes)
	}
}

// featurePanel is the distance of two panels of x: a line more than the
// panel's length, so that they do not share the places of a cache.
func (s *Dense) featurePanel() int {
	nr := s.kind.panelCols()
	return (ceil(s.Batch, nr)*nr + 1) * nr
}

// Step makes a step on the given rows, all of length d, with their classes.
// share is what the gradient of each row counts, 1/len(rows) for a mean. It
// returns the sum of the losses times share, in nats. More rows than the batch
// length, or a class that does not exist, panic.
func (s *Dense) Step(rows [][]float32, class []int32, share []float32) (loss float64) {
	n := len(rows)
	if n == 0 {
		return 0
	}
	s.rows, s.class, s.share = rows, class, share[:n]
	if s.loss == nil {
		s.class = class[:n]
	}
	_ = s.losses[n-1]
	if n <= fewExamples {
		loss = s.stepFew()
		s.rows, s.class, s.share = nil, nil, nil
		return loss
	}
	s.panels = ceil(n, s.kind.panelCols())
	s.fetches.plan(s)
	for i, tasks := range [...]int{s.panels, ceil(s.blocks, s.group), s.panels, ceil(s.blocks, s.group)} {
		s.phases[i].Tasks = tasks
	}
	team := s.team
	if n*s.Features*s.Classes < smallProduct {
		team = nil
	}
	team.RunPhases(s.phases[:])
	s.updateBias()
	for _, l := range s.losses[:n] {
		loss += l
	}
	s.rows, s.class, s.share = nil, nil, nil
	return loss
}

// readPanel copies the rows of a panel of examples into the panels of features
// and, transposed, into one of its own.
func (s *Dense) readPanel(_, panel int) {
	nr, d := s.kind.panelCols(), s.Features
	whole, rest := d/nr, d%nr
	lo, hi := panel*nr, min((panel+1)*nr, len(s.rows))
	to := s.xt[lo*d : (lo+nr)*d]
	for b, row := range s.rows[lo:hi] {
		row = row[:d]
		// What is read and what is written next has left the second cache since
		// the last step.
		if soon := lo + b + 2; soon < len(s.rows) {
			fetchRows32(s.rows[soon], 0, 1, ceil(d, CacheLine))
		}
		fetchRows32(to[b*d:], 0, 1, ceil(d, CacheLine))
		if to := s.x[(lo+b)*nr:]; whole > 0 {
			copyRows32(s.kind, to, s.featurePanel(), row, nr, whole, nr)
		}
		if rest > 0 {
			copyRows32(s.kind, s.x[whole*s.featurePanel()+(lo+b)*nr:], nr, row[whole*nr:], nr, 1, rest)
		}
	}
	for f := 0; f < d; f += nr {
		transposeRows(s.kind, to[f*nr:], nr, s.x[f/nr*s.featurePanel()+lo*nr:], nr, hi-lo, min(nr, d-f))
	}
	// A panel that is not full has zeros, so that its scores are numbers.
	for f := 0; hi < lo+nr && f < d; f++ {
		clear(to[f*nr+hi-lo : (f+1)*nr])
	}
}

// scoreRows sets some rows of the scores, all panels of them.
func (s *Dense) scoreRows(_, task int) {
	nr, d := s.kind.panelCols(), s.Features
	parts := ceil(d, innerBlock)
	for block := task * s.group; block < min((task+1)*s.group, s.blocks); block++ {
		i, iHi := cut(s.Classes, s.blocks, block)
		for part := range parts {
			lo, hi := cut(d, parts, part)
			for p := range s.panels {
				next := min(iHi+p*s.fetches.rowsAPanel, s.Classes-1)
				tile32(s.kind, byRows, iHi-i, hi-lo, s.Weight.X[i*s.Weight.Stride+lo:], s.Weight.Stride,
					s.xt[(p*d+lo)*nr:], nr, s.z[(p*s.zRows+i)*nr:], nr, nr, lo > 0,
					prefetch{s.Weight.X[next*s.Weight.Stride+lo:], s.fetches.weightRows})
			}
		}
	}
}

// normalisePanel turns the scores of a panel into the gradient.
func (s *Dense) normalisePanel(worker, p int) {
	nr, k := s.kind.panelCols(), s.Classes
	w := &s.workers[worker]
	z := s.z[p*s.zRows*nr : (p+1)*s.zRows*nr]
	lo, hi := p*nr, min((p+1)*nr, len(s.rows))
	columnsTop32(s.kind, z, s.Bias, k, w.top)
	clear(w.factor)
	if s.loss != nil {
		s.evaluatePanel(worker, z, lo, hi)
	} else {
		for j, c := range s.class[lo:hi] {
			w.label[j] = z[int(c)*nr+j]
		}
		columnsExp32(s.kind, z, k, w.top, w.sum)
		for j, c := range s.class[lo:hi] {
			// The gradient is (exp - sum at the class) / sum.
			share, sum := s.share[lo+j], w.sum[j]
			s.losses[lo+j] = float64(share) * (float64(w.top[j]) - float64(w.label[j]) + math.Log(sum))
			w.factor[j] = float32(float64(share) / sum)
			z[int(c)*nr+j] -= float32(sum)
		}
	}
	scaleColumns32(s.kind, z, k, w.factor, s.biasParts[ceil(nr, 16)*p*k:])
	switch {
	case s.tree != nil:
		kernelRows32(s.kind, s.tree, z)
	case s.kernelOf != nil:
		s.kernelOf(worker, w.spare, z[:k*nr], nr)
		copy(z, w.spare)
	}
}

// evaluatePanel turns the scores of the rows lo to hi-1 of the batch, which are
// those of a panel, into gradients of the loss.
func (s *Dense) evaluatePanel(worker int, z []float32, lo, hi int) {
	nr, k, w := s.kind.panelCols(), s.Classes, &s.workers[worker]
	transposeRows(s.kind, w.scores, k, z, nr, k, nr)
	for j := range hi - lo {
		scores, share := w.scores[j*k:(j+1)*k], s.share[lo+j]
		s.losses[lo+j] = float64(share) * s.loss(worker, w.grad, scores, lo+j)
		w.factor[j] = share
		copy(scores, w.grad)
	}
	transposeRows(s.kind, z, nr, w.scores, k, nr, k)
}

// updateRows makes the step on some rows of the weights.
func (s *Dense) updateRows(_, task int) {
	nr, d, stride, n := s.kind.panelCols(), s.Features, s.Weight.Stride, len(s.rows)
	for block := task * s.group; block < min((task+1)*s.group, s.blocks); block++ {
		lo, hi := cut(s.Classes, s.blocks, block)
		for f := 0; f < d; f += nr {
			at := lo*stride + f
			if len(s.fetches.tile) == 0 {
				fetchRows32(s.Weight.X[at:], stride, hi-lo, ceil(nr, CacheLine))
			}
			if s.fetches.velocityFirst {
				fetchRows32(s.Velocity.X[at:], stride, hi-lo, ceil(nr, CacheLine))
			}
			stepTile32(s.kind, hi-lo, n, s.z[lo*nr:], s.zRows*nr, s.x[f/nr*s.featurePanel():],
				s.Weight.X[at:], s.Velocity.X[at:], stride, min(nr, d-f), s.step, s.fetches.tile)
		}
		for c := lo; s.Sum.X != nil && c < hi; c++ {
			s.addToSum(c)
		}
	}
}

// addToSum adds the weights of a class to their sum.
func (s *Dense) addToSum(c int) {
	add32(s.kind, s.Weight.X[c*s.Weight.Stride:][:s.Features], s.Sum.X[c*s.Sum.Stride:][:s.Features])
}

// updateBias makes the step on the bias, whose gradient K does not touch.
func (s *Dense) updateBias() {
	k, groups := s.Classes, len(s.rows)
	groups = ceil(groups, min(16, s.kind.panelCols()))
	clear(s.biasGrad)
	for g := range groups {
		add32(s.kind, s.biasParts[g*k:(g+1)*k], s.biasGrad)
	}
	s.stepBias()
}

// stepBias makes the step of the bias with biasGrad.
func (s *Dense) stepBias() {
	b := s.biasStep
	fixed := b == Step[float32]{WW: 1} // a model without a bias
	for c := 0; c < s.Classes && !fixed; c++ {
		g := s.biasGrad[c]
		w, v := s.Bias[c], s.BiasVelocity[c]
		s.Bias[c], s.BiasVelocity[c] = b.WW*w+b.WV*v+b.WG*g, b.VW*w+b.VV*v+b.VG*g
	}
	if s.BiasSum != nil {
		add32(s.kind, s.Bias, s.BiasSum)
	}
}

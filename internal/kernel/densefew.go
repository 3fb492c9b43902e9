package kernel

// fewExamples is up to which batch length a step goes class by class: a panel
// of examples would be empty but for a few lanes.
const fewExamples = 2

// stepFew is Step for a few examples: dot products of whole rows of W, then one
// pass over W in which it learns from all of them.
func (s *Dense) stepFew() (loss float64) {
	k, d, stride := s.Classes, s.Features, s.Weight.Stride
	clear(s.biasGrad)
	for b, x := range s.rows {
		x = x[:d]
		z := s.z[b*s.zRows : (b+1)*s.zRows]
		for c := range k {
			z[c] = s.Bias[c] + dot32(s.kind, s.Weight.X[c*stride:c*stride+d], x)
		}
		share := s.share[b]
		if s.loss != nil {
			grad := s.workers[0].grad
			loss += float64(share) * s.loss(0, grad, z[:k], b)
			copy(z, grad)
		} else {
			y := int(s.class[b])
			label := float64(z[y])
			loss += float64(share) * (softmax32(s.kind, z[:k], z[:k]) - label)
			z[y]--
		}
		for c, g := range z[:k] {
			z[c] = g * share
			s.biasGrad[c] += z[c]
		}
		switch {
		case s.tree != nil:
			s.tree.multiplyOne(z)
		case s.kernelOf != nil:
			s.kernelOf(0, s.workers[0].spare, z[:k], 1)
			copy(z, s.workers[0].spare[:k])
		}
	}
	if len(s.rows) == 1 && stride == CacheLine {
		s.stepLines()
	} else {
		s.stepRows()
	}
	if s.Sum.X != nil { // rows lie as in W, and what is between them is 0
		add32(s.kind, s.Weight.X, s.Sum.X)
	}
	s.stepBias()
	return loss
}

// stepRows makes the step class by class, with the gradient in the scores in s.z.
func (s *Dense) stepRows() {
	d, stride := s.Features, s.Weight.Stride
	for c := range s.Classes {
		w, v := s.Weight.X[c*stride:c*stride+d], s.Velocity.X[c*stride:c*stride+d]
		if len(s.rows) == 1 {
			stepOuter32(s.kind, w, v, s.z[c], s.rows[0], s.step)
			continue
		}
		gradient := s.gradient[:d]
		clear(gradient)
		for b, x := range s.rows {
			axpy32(s.kind, s.z[b*s.zRows+c], x[:d], gradient)
		}
		stepRow32(s.kind, w, v, gradient, s.step)
	}
}

// stepLines is the step of one example where a row of W is one cache line. A call a
// class would cost more than its few numbers, so the outer product is laid out as W is.
func (s *Dense) stepLines() {
	x := s.rows[0][:s.Features]
	for c, g := range s.z[:s.Classes] {
		row := s.gradient[c*CacheLine:][:len(x)]
		for f, v := range x {
			row[f] = g * v
		}
	}
	stepRow32(s.kind, s.Weight.X, s.Velocity.X, s.gradient, s.step)
}

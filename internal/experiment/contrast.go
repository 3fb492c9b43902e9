package experiment

// Contrast is the paired difference of two methods at one place of a sweep.
type Contrast struct {
	Protocol   Protocol `json:"protocol"`
	Method     Method   `json:"method"`
	Minus      Method   `json:"minus"`
	X          float64  `json:"x"`
	Runs       int      `json:"runs"`
	Difference Interval `json:"difference"` // accuracy of Method minus that of Minus in the same run
}

// contrasts are the pairs that the paragraphs speak of, beside each method
// against cross entropy.
func contrasts() [][2]Method {
	return [][2]Method{{VTree, UTree}, {VTree, ScaledCrossEntropy}, {VTree, SimLoss}, {VTree, HierarchicalSoftmax}, {VTree, Linkage}}
}

// Tally counts on which side of 0 the differences over a sweep lie.
type Tally struct {
	Above, Below, Neither, Equal int // whole interval above or below 0; 0 within it; the same in every run
	Most, Least                  Interval
	MostX, LeastX                float64
}

// plus returns how many differences there are on each side of 0 in both.
func (t Tally) plus(u Tally) Tally {
	return Tally{Above: t.Above + u.Above, Below: t.Below + u.Below, Neither: t.Neither + u.Neither, Equal: t.Equal + u.Equal}
}

// Points returns how many differences were counted.
func (t Tally) Points() int { return t.Above + t.Below + t.Neither + t.Equal }

// add counts a difference at x by where its interval lies.
func (t *Tally) add(x float64, d Interval) {
	if t.Points() == 0 || d.Mean > t.Most.Mean {
		t.Most, t.MostX = d, x
	}
	if t.Points() == 0 || d.Mean < t.Least.Mean {
		t.Least, t.LeastX = d, x
	}
	switch {
	case d.Above(0):
		t.Above++
	case d.Below(0):
		t.Below++
	case d.Same():
		t.Equal++
	default:
		t.Neither++
	}
}

// Tally counts the differences of two methods under a protocol; a nil sweep has none.
func (s *SweepResult) Tally(protocol Protocol, averaged bool, method, minus Method) (t Tally) {
	if s == nil {
		return t
	}
	if minus == CrossEntropy {
		for _, row := range s.Rows {
			if row.Protocol == protocol && row.Averaged == averaged && row.Method == method {
				t.add(row.X, row.Difference)
			}
		}
		return t
	}
	for _, c := range s.Contrasts {
		if !averaged && c.Protocol == protocol && c.Method == method && c.Minus == minus {
			t.add(c.X, c.Difference)
		}
	}
	return t
}

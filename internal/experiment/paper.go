package experiment

// reading is a value read off a figure of the paper, by eye; accuracies are fractions.
type reading struct {
	sweep  string
	x      float64
	method Method
	value  float64
}

// readings are the paper's values that we have: of figure 2 at n = 100, d = 64,
// k = 10, sigma = 1, of figure 4 (its cross entropy does not depend on x) and of
// figure 5.
func readings() (out []reading) {
	for _, at := range []reading{{sweep: "data-regimes-n", x: 100}, {sweep: "data-regimes-d", x: 64}, {sweep: "data-regimes-k", x: 10}, {sweep: "data-regimes-sigma", x: 1}} {
		for _, m := range []struct {
			method Method
			value  float64
		}{{VTree, 0.45}, {CrossEntropy, 0.325}, {SimLoss, 0.325}, {HierarchicalSoftmax, 0.27}} {
			out = append(out, reading{at.sweep, at.x, m.method, m.value})
		}
	}
	return append(out,
		reading{"tree-shapes", 1.3, CrossEntropy, 0.028},
		reading{"tree-shapes", 1.3, VTree, 0.064},
		reading{"tree-shapes", 7, VTree, 0.035},
		reading{"metric-quality", 0, CrossEntropy, 0.092},
		reading{"metric-quality", 0, VTree, 0.183},
		reading{"metric-quality", 1, VTree, 0.098})
}

// readingsOf returns those of one sweep if its fixed values are the paper's.
func readingsOf(s *Sweep) (out []reading) {
	own, err := Sweeps(s.Experiment, Options{})
	if err != nil {
		return nil
	}
	for _, p := range own {
		if p.Name != s.Name || p.Fixed != s.Fixed {
			continue
		}
		for _, r := range readings() {
			if r.sweep == s.Name {
				out = append(out, r)
			}
		}
	}
	return out
}

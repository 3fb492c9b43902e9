package experiment

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"github.com/treeloss/treeloss/score"
)

// Results are the outcome of Run. Rates and differences are fractions 0..1.
type Results struct {
	Options Options       `json:"-"`
	Sweeps  []SweepResult `json:"sweeps"`
	Norms   *NormsResult  `json:"norms,omitempty"`
}

// SweepResult is the outcome of one sweep.
type SweepResult struct {
	Sweep     Sweep      `json:"-"`
	Name      string     `json:"name"`
	Rows      []Row      `json:"rows"`
	Contrasts []Contrast `json:"contrasts"`
	Trees     []Tree     `json:"trees,omitempty"`
}

// Row is how one method did at one place of a sweep.
type Row struct {
	Protocol   Protocol `json:"protocol"`
	Averaged   bool     `json:"averaged"` // the mean of the weights over the pass was tested, not the last
	Method     Method   `json:"method"`
	X          float64  `json:"x"`
	Runs       int      `json:"runs"`
	Accuracy   Interval `json:"accuracy"`
	Difference Interval `json:"difference"`       // this accuracy minus that of cross entropy in the same run
	Chosen     float64  `json:"chosen,omitempty"` // geometric mean of the rates or priors that were best; 0: none
}

// Tree is the mean form of the cover trees at one place of a sweep.
type Tree struct {
	X             float64  `json:"x"`
	Height        Interval `json:"height"`
	FanOut        Interval `json:"fan_out"`
	Pseudoclasses Interval `json:"pseudoclasses"`
	Star          float64  `json:"star"`           // share of the runs in which the tree is a star
	StarAtTwo     float64  `json:"star_at_base_2"` // the same for a tree of base 2
	Lambda        Interval `json:"lambda"`         // distortion of the metric
}

// Interval is a mean over runs with its 95 % confidence interval (Student's t).
// The bounds are NaN, null in JSON, for a single run.
type Interval struct{ score.Interval }

// Above tells whether the whole interval is above x; an unknown one is not.
func (i Interval) Above(x float64) bool { return i.Low > x }

// Below tells whether the whole interval is below x; an unknown one is not.
func (i Interval) Below(x float64) bool { return i.High < x }

// Same tells whether all runs are 0.
func (i Interval) Same() bool { return i.Low == 0 && i.High == 0 }

// Unknown tells whether there are no bounds, as after a single run.
func (i Interval) Unknown() bool { return math.IsNaN(i.Low) }

// interval returns the mean of x and its interval; without x, or with an infinity
// among it, none is known.
func interval(x []float64) Interval {
	i, err := score.MeanInterval(x)
	if err != nil {
		i = score.Interval{Mean: math.NaN(), SE: math.NaN(), Low: math.NaN(), High: math.NaN()}
	}
	return Interval{i}
}

// results reads all cells of the sweeps.
func (r *runner) results() *Results {
	out := &Results{Options: r.opts}
	for _, s := range r.sweeps {
		if s.Experiment == Norms {
			out.Norms = r.norms(s)
			continue
		}
		out.Sweeps = append(out.Sweeps, r.sweep(s))
	}
	return out
}

// values returns the numbers called name at place x, one a run in the order of the runs; nil
// if there are none. Methods that do not depend on x are found among the shared.
func (r *runner) values(s *Sweep, x float64, protocol Protocol, name string) (out []float64) {
	for run := range r.opts.runs(protocol) {
		for _, at := range []float64{x, math.NaN()} {
			cell, _ := r.store.get(cellName(s, at, run, protocol))
			if v, ok := cell[name]; ok {
				out = append(out, v)
				break
			}
		}
	}
	return out
}

// differences returns what the first method is more accurate by than the second, one
// number a run, nil unless there are as many of both.
func (r *runner) differences(s *Sweep, x float64, protocol Protocol, method, minus string) []float64 {
	a, b := r.values(s, x, protocol, method), r.values(s, x, protocol, minus)
	if len(a) != len(b) {
		return nil
	}
	for i := range a {
		a[i] -= b[i]
	}
	return a
}

// sweep reads the cells of a sweep. Everything in its rows is paired: a difference is taken in
// each run, where both methods had the same draws, before the mean over runs.
func (r *runner) sweep(s *Sweep) SweepResult {
	out := SweepResult{Sweep: *s, Name: s.Name}
	for _, protocol := range r.opts.Protocols {
		for _, suffix := range suffixes {
			for _, method := range allMethods {
				for _, p := range s.Points {
					name := string(method) + suffix
					own := r.values(s, p.X, protocol, name)
					if len(own) == 0 {
						continue
					}
					out.Rows = append(out.Rows, Row{Protocol: protocol, Averaged: suffix != "", Method: method, X: p.X, Runs: len(own), Accuracy: interval(own),
						Difference: interval(r.differences(s, p.X, protocol, name, string(CrossEntropy)+suffix)),
						Chosen:     geometricMean(r.values(s, p.X, protocol, name+chosen))})
				}
			}
		}
		for _, pair := range contrasts() {
			for _, p := range s.Points {
				if d := r.differences(s, p.X, protocol, string(pair[0]), string(pair[1])); len(d) > 0 {
					out.Contrasts = append(out.Contrasts, Contrast{protocol, pair[0], pair[1], p.X, len(d), interval(d)})
				}
			}
		}
	}
	// The trees are the same under each protocol; the one with most runs tells most.
	protocol := slices.MaxFunc(r.opts.Protocols, func(a, b Protocol) int { return cmp.Compare(r.opts.runs(a), r.opts.runs(b)) })
	for _, p := range s.Points {
		get := func(name string) Interval { return interval(r.values(s, p.X, protocol, name)) }
		t := Tree{X: p.X, Height: get("height"), FanOut: get("fan-out"), Pseudoclasses: get("pseudoclasses"), Star: get("star").Mean, StarAtTwo: get("star at base 2").Mean}
		if t.Lambda = get("lambda"); p.Epsilon == 0 {
			t.Lambda = Interval{score.Interval{Mean: 1, Low: 1, High: 1}}
		}
		out.Trees = append(out.Trees, t)
	}
	return out
}

// geometricMean returns that of x to six digits, 0 for no numbers: rates and priors are tried
// at even steps of their logarithm.
func geometricMean(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	mean, _ := strconv.ParseFloat(cellText(stat.GeometricMean(x, nil)), 64) // as written
	return mean
}

// Find returns the row of a method, and whether there is one; a nil sweep has none.
func (s *SweepResult) Find(protocol Protocol, averaged bool, method Method, x float64) (Row, bool) {
	if s == nil {
		return Row{}, false
	}
	for _, row := range s.Rows {
		if row.Protocol == protocol && row.Averaged == averaged && row.Method == method && row.X == x {
			return row, true
		}
	}
	return Row{}, false
}

package tune

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/softmax"
)

// Settings is one point of a search: a method with all its options and a prior.
type Settings struct {
	Method Method
	Prior  float64
}

// axis is something that a search may change.
type axis int

const (
	// In the order in which a search goes along them.
	priorAxis axis = iota
	namesAxis
	rhoAxis
	smoothingAxis
	baseAxis
	encoderAxis
	axes
)

// Fixed tells which options a search must leave as they are given.
type Fixed struct {
	Prior, Rho, Smoothing, Base bool
}

// Space is what a search goes through: methods, the first of which is the
// baseline, and the ways to change them.
type Space struct {
	Methods []Method
	Prior   float64 // to begin with; 0 means softmax.DefaultPrior
	Fixed   Fixed

	encoder bool // the scale of encoder features may be changed
	names   bool // names as examples may be switched on and off
	apart   bool // plain cross entropy is a baseline only: the plan asks for something else
}

// maxSquareClasses is the number of classes above which a search leaves out the
// sources whose cost grows with its square or cube.
const maxSquareClasses = 2000

// Space returns what a plan leaves open: where that is the sharing, every source that
// the data has, alone and in the sums that did best, with and without names as examples;
// else the sharing of the plan. Plain cross entropy comes first in any case; where the plan
// asks for something else it is measured, but never the answer.
func (p Plan) Space(d *corpus.Data) (Space, error) {
	s := Space{names: p.Names == Auto && d.Named(), encoder: d.Table.Encoder() != nil}
	methods, err := p.among(d, s.names, func() []Method { return sharings(d, s.names) })
	if err != nil {
		return Space{}, err
	}
	// Where the plan asks for no more than cross entropy, that may be the answer.
	given := p.Sharing != nil && !slices.Equal(p.Sharing, classinfo.Spec{classinfo.None})
	s.apart = given || !p.Loss.plain() || p.Names == On
	s.Methods = slices.Concat([]Method{{Smoothing: p.Smoothing, ClassInfo: p.ClassInfo}}, slices.DeleteFunc(methods, Method.isPlain))
	return s, nil
}

// sharings returns the methods that the data allows, in the order in which they are worth
// a trial, and with names also those with names as examples.
func sharings(d *corpus.Data, withNames bool) (list []Method) {
	const names, means = classinfo.Names, classinfo.Means
	add := func(examples bool, spec ...classinfo.Source) {
		if withNames || !examples {
			list = append(list, Method{Sharing: spec, Names: examples})
		}
	}
	spelled := namesUsable(d)
	if spelled {
		add(false, names)
		add(true, names)
	}
	add(true, classinfo.None)
	add(false, classinfo.None)
	// What a user brought is worth more trials than what is always there.
	for _, source := range d.Classes.Sources() {
		add(false, source)
		if source == classinfo.Vectors {
			add(true, source)
		}
		if spelled {
			add(true, names, source)
		}
	}
	// Means and linkage cost the cube and the square of the classes.
	if len(d.Classes.Labels) <= maxSquareClasses {
		add(false, means)
		if spelled {
			add(true, names, means)
		}
		add(false, classinfo.Linkage)
	}
	add(false, classinfo.VTree)
	return list
}

// has tells whether an axis means anything for a method and may be moved on.
func (s Space) has(a axis, m Method) bool {
	uses := func(sources ...classinfo.Source) bool {
		return slices.ContainsFunc(m.Sharing, func(x classinfo.Source) bool { return slices.Contains(sources, x) })
	}
	switch a {
	case priorAxis:
		return !s.Fixed.Prior
	case namesAxis:
		return s.names
	case rhoAxis:
		return !s.Fixed.Rho && uses(classinfo.Names, classinfo.Vectors, classinfo.Distances, classinfo.Weights, classinfo.Means)
	case smoothingAxis:
		return !s.Fixed.Smoothing && m.Loss.plain()
	case baseAxis:
		return !s.Fixed.Base && uses(classinfo.VTree, classinfo.UTree)
	case encoderAxis:
		return s.encoder
	}
	return false
}

// Steps of a search at its widest, from which it goes on in halves (square
// roots for factors).
const (
	priorFactor   = 3.0
	rhoFactor     = 3.0
	baseFactor    = 2.0 // of base - 1
	smoothingStep = 0.1
)

// Limits of what a search asks for; wider ones have no use that we know of.
const (
	minPrior, maxPrior = 0.01, 1e5
	minRho, maxRho     = 1e-3, 1e2
	minBase, maxBase   = 1.01, 100
	maxSmoothing       = 0.5
)

// neighbours returns the settings beside x on an axis, with steps divided by
// 2^halvings.
func (s Space) neighbours(x Settings, a axis, halvings int) []Settings {
	if !s.has(a, x.Method) {
		return nil
	}
	share := math.Pow(0.5, float64(halvings))
	var out []Settings
	scaled := func(from, factor, low, high float64, set func(*Settings, float64)) {
		// Half a step of a factor is its square root.
		f := math.Pow(factor, share)
		for _, v := range []float64{from * f, from / f} {
			if v = round(v); v >= low && v <= high {
				y := x
				set(&y, v)
				out = append(out, y)
			}
		}
	}
	switch a {
	case priorAxis:
		scaled(x.Prior, priorFactor, minPrior, maxPrior, func(y *Settings, v float64) { y.Prior = v })
	case namesAxis:
		y := x
		y.Method.Names = !y.Method.Names
		out = append(out, y)
	case rhoAxis:
		scaled(x.rho(), rhoFactor, minRho, maxRho, func(y *Settings, v float64) { y.Method.ClassInfo.Rho = v })
	case smoothingAxis:
		for _, v := range []float64{x.Method.Smoothing + smoothingStep*share, x.Method.Smoothing - smoothingStep*share} {
			if v = round(v); v >= 0 && v <= maxSmoothing {
				y := x
				y.Method.Smoothing = v
				out = append(out, y)
			}
		}
	case encoderAxis:
		scaled(x.Method.encoderScale(), encoderStep, leastEncoderScale, mostEncoderScale, func(y *Settings, v float64) { y.Method.EncoderScale = v })
		// The base lies above 1, and trees change with its distance from 1.
	case baseAxis:
		scaled(x.base()-1, baseFactor, minBase-1, maxBase-1, func(y *Settings, v float64) { y.Method.ClassInfo.Base = round(1 + v) })
	}
	return out
}

// rho is the weight of each class's own parameters, the default spelled out.
func (x Settings) rho() float64 {
	if x.Method.ClassInfo.Rho != 0 {
		return x.Method.ClassInfo.Rho
	}
	// In a sum with means classinfo.Build takes the default of each part; a search then begins
	// at that of the others.
	if slices.Equal(x.Method.Sharing, classinfo.Spec{classinfo.Means}) {
		return classinfo.DefaultMeansRho
	}
	return classinfo.DefaultRho
}

// base is that of the cover tree, the default spelled out.
func (x Settings) base() float64 { return cmp.Or(x.Method.ClassInfo.Base, classinfo.DefaultBase) }

// round keeps three digits, so that a number printed is the number tried.
func round(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	if err != nil {
		return v // not reached: what FormatFloat writes can be read
	}
	return r
}

// start returns the settings of a method to begin with.
func (s Space) start(m Method) Settings {
	return Settings{Method: m, Prior: cmp.Or(s.Prior, softmax.DefaultPrior)}
}

// key tells settings apart.
func (x Settings) key() string {
	// Alpha and loss are those of the plan, the same for all; the seed never changes.
	m := x.Method
	return fmt.Sprint(m, m.Smoothing, x.rho(), x.base(), m.ClassInfo.From, m.encoderScale(), x.Prior)
}

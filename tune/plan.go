package tune

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/softmax"
)

// Plan is what a user asks for, in the words of the command line. The zero
// value leaves every choice to Auto.
type Plan struct {
	Sharing   string // "auto" (also ""), or a sum of sources
	Loss      string // one of Losses; "" is CrossEntropy, or what is better with squared hinge
	Smoothing float64
	Alpha     float64 // of HXE; 0 means DefaultHXEAlpha
	Names     string  // names as examples: "auto" (also ""), "on", "off"
	ClassInfo classinfo.Options
}

// Methods returns the methods to choose among on the given rows.
func (p Plan) Methods(d *corpus.Data, rows []int) ([]Method, error) {
	names := p.Names
	if names == "" {
		names = AutoName
	}
	if !slices.Contains([]string{AutoName, "on", "off"}, names) {
		return nil, fmt.Errorf("names as examples: %q, want auto, on or off", p.Names)
	}
	if names == "on" && !d.Named() {
		return nil, fmt.Errorf("names as examples: the data holds numbers, a name is a text; use off or auto")
	}
	base := Method{Loss: p.Loss, Smoothing: p.Smoothing, Alpha: p.Alpha, ClassInfo: p.ClassInfo}
	if p.Loss != "" && !slices.Contains(Losses(), p.Loss) {
		return nil, fmt.Errorf("unknown loss %q, want one of %v", p.Loss, Losses())
	}
	var methods []Method
	if p.Sharing == "" || p.Sharing == AutoName {
		if p.Loss != "" && p.Loss != CrossEntropy {
			methods = []Method{base} // the loss has class knowledge of its own
		} else {
			for _, m := range Candidates(d, rows) {
				m.Smoothing, m.ClassInfo = p.Smoothing, p.ClassInfo
				methods = append(methods, m)
			}
		}
	} else {
		spec, err := classinfo.ParseSpec(p.Sharing)
		if err != nil {
			return nil, err
		}
		base.Sharing = spec
		methods = []Method{base}
		if names == AutoName && d.Named() && slices.Contains(spec, classinfo.Names) {
			with := base
			with.Names = true
			methods = append(methods, with)
		}
	}
	switch names {
	case "off":
		methods = slices.DeleteFunc(methods, func(m Method) bool { return m.Names })
	case "on":
		seen := map[string]bool{}
		var on []Method
		for _, m := range methods {
			m.Names = true
			if !seen[m.String()] {
				seen[m.String()] = true
				on = append(on, m)
			}
		}
		methods = on
	}
	return methods, nil
}

// Train fits the best method of the plan to the rows and makes a model of it.
// about holds what the caller knows: program, data fingerprint, options.
func (p Plan) Train(ctx context.Context, d *corpus.Data, rows []int, opts Options, about softmax.Training) (*softmax.Model, *Result, error) {
	methods, err := p.Methods(d, rows)
	if err != nil {
		return nil, nil, err
	}
	r, err := choose(ctx, d, rows, methods, p.anyLoss(), opts)
	if r == nil {
		return nil, nil, err
	}
	about.Examples = len(rows)
	about.Seed = opts.Seed
	m := r.Model(d.Classes.Labels, about)
	m.Vectors = d.Classes.Vectors
	return m, r, err
}

// anyLoss tells whether squared hinge may take the place of cross entropy: where
// the user named neither a loss nor something to share.
func (p Plan) anyLoss() bool {
	return p.Loss == "" && slices.Contains([]string{"", AutoName, string(classinfo.None)}, p.Sharing)
}

func trainerName(t softmax.Trainer) string {
	switch t.(type) {
	case softmax.SGD:
		return "sgd"
	case softmax.AdamW:
		return "adamw"
	}
	return "converge"
}

// Model makes a model of a result; about is completed with what the result
// knows.
func (r *Result) Model(labels []string, about softmax.Training) *softmax.Model {
	about.Sharing = r.Method.Sharing.String()
	if about.Sharing == "" {
		about.Sharing = string(classinfo.None)
	}
	if about.Loss = r.Method.Loss; about.Loss == "" {
		about.Loss = CrossEntropy
	}
	if r.Method.Smoothing != 0 {
		about.Loss += " with smoothing " + strconv.FormatFloat(r.Method.Smoothing, 'g', -1, 64)
	}
	if r.Method.Loss == HXE {
		about.Loss += " with alpha " + strconv.FormatFloat(cmp.Or(r.Method.Alpha, DefaultHXEAlpha), 'g', -1, 64)
	}
	about.Names = r.Method.Names
	about.Prior = r.Prior
	about.Trainer = trainerName(r.Trainer)
	about.Fit = r.Record
	about.Candidates = r.Candidates
	about.HeldOut = r.HeldOut
	if n := r.Features.MinRows(); n > 1 {
		about.MinRows = n
	}
	about.Choice, about.Gain = r.Reason, r.Gain
	return &softmax.Model{Layer: r.Layer, Features: r.Features, Labels: labels, Tree: r.Tree, Training: about}
}

package experiment

// Document is the results as one JSON document. Intervals without bounds are null.
type Document struct {
	Experiment string            `json:"experiment"`
	Truth      Truth             `json:"truth"`
	Init       Init              `json:"init"`
	Rate       float64           `json:"rate"` // of the protocol paper
	Seed       uint64            `json:"seed"`
	Runs       int               `json:"runs"`
	TunedRuns  int               `json:"tuned_runs"`
	Paragraphs map[string]string `json:"paragraphs"` // by sweep: what holds
	Sweeps     []SweepResult     `json:"sweeps"`
	Norms      *NormsResult      `json:"norms"`
	Claims     []Claim           `json:"claims,omitempty"`
	Seconds    float64           `json:"seconds"`
}

// Document returns the results under the name of what was asked for. The claims of the paper
// are judged only if all experiments were run.
func (r *Results) Document(name string, all bool, seconds float64) Document {
	o := r.Options
	d := Document{Experiment: name, Truth: o.Truth, Init: o.Init, Rate: o.Rate, Seed: o.Seed, Runs: o.Runs, TunedRuns: o.TunedRuns,
		Paragraphs: map[string]string{}, Sweeps: r.Sweeps, Norms: r.Norms, Seconds: seconds}
	if d.Sweeps == nil {
		d.Sweeps = []SweepResult{} // [] in JSON, and not null
	}
	for i := range r.Sweeps {
		d.Paragraphs[r.Sweeps[i].Name] = r.Paragraph(&r.Sweeps[i])
	}
	if r.Norms != nil {
		d.Paragraphs[r.Norms.Name] = r.NormsParagraph()
	}
	if all {
		d.Claims = r.Claims()
	}
	return d
}

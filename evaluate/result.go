package evaluate

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/treeloss/treeloss/score"
)

// Result is what an evaluation found. In JSON it has the keys of its fields and those
// of the Report, in one object; a number that is not known is null.
type Result struct {
	Model       string  `json:"model"`       // the file, for the caller to set
	Temperature float64 `json:"temperature"` // of the probabilities, 1 unless calibrated
	Decode      string  `json:"decode"`      // "likely" or "cost"

	Report       score.Report              `json:"-"`             // Unknown counts skipped examples, too
	Intervals    map[string]score.Interval `json:"intervals"`     // of 95 %, by the keys of score.Metrics, for those that have one
	Coverage     []Selected                `json:"coverage"`      // what thresholds on the confidence do
	SimilarityOf string                    `json:"similarity_of"` // whose vectors these are; "": not known
	Tree         string                    `json:"tree"`          // where the tree is from: "model" or "taxonomy"; "": there is none

	Hedged     *Hedged     `json:"hedged,omitempty"`       // with a confidence
	Selected   *Selected   `json:"reject,omitempty"`       // with a threshold to reject below
	OutOfScope *OutOfScope `json:"out_of_scope,omitempty"` // with examples out of scope

	Seconds     float64        `json:"seconds"` // for the caller to set
	Skipped     int            `json:"skipped"` // examples left out
	Unknown     []UnknownLabel `json:"unknown"` // the most frequent first
	PerClass    []Class        `json:"per_class"`
	Confusions  []Confusion    `json:"confusions"` // the 100 most frequent
	Calibration []score.Bin    `json:"calibration"`
}

// Where the tree of a Result is from.
const (
	OfModel   = "model"
	OfOptions = "taxonomy"
)

// UnknownLabel is a label that was never trained.
type UnknownLabel struct {
	Label    string `json:"label"`
	Examples int    `json:"examples"`
	First    string `json:"first"` // file:line
}

// Class is one class of a Result.
type Class struct {
	Label     string  `json:"label"`
	Examples  int     `json:"examples"`
	Predicted int     `json:"predicted"`
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
}

// Confusion counts how often one class was predicted as another.
type Confusion struct {
	True      string `json:"true"`
	Predicted string `json:"predicted"`
	Examples  int    `json:"examples"`
}

// mostConfusions is how many of them a Result has.
// Of 1000 classes there may be a million.
const mostConfusions = 100

// total merges the counters of all goroutines.
func (e *Evaluation) total() (*score.Counter, error) {
	all, err := score.NewCounter(len(e.about.Labels), e.counted)
	if err != nil {
		return nil, err
	}
	for _, w := range e.workers {
		if err := all.Merge(w.counter); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Result returns what was counted so far.
func (e *Evaluation) Result() (*Result, error) {
	all, err := e.total()
	if err != nil {
		return nil, err
	}
	// Parts that nobody asked for stay nil and are left out of the JSON.
	rule := e.options.Rule
	out := &Result{
		Temperature: e.about.Temperature, Decode: "likely", Report: all.Report(), SimilarityOf: e.by,
		Unknown: e.unknown.list(), PerClass: []Class{}, Confusions: []Confusion{}, Calibration: all.Calibration(),
	}
	if rule.Cost {
		out.Decode = "cost"
	}
	switch {
	case e.options.Tree != nil:
		out.Tree = OfOptions
	case e.about.Tree != nil:
		out.Tree = OfModel
	}
	// Unknown labels are counted by label, whatever the policy: what was skipped is in no
	// counter.
	out.Skipped, out.Report.Unknown = e.examples-out.Report.Examples, 0
	for _, u := range out.Unknown {
		out.Report.Unknown += u.Examples
	}
	out.Intervals, out.Coverage = e.intervals(all, all.Report()), e.Coverage(thresholds)
	labels := e.about.Labels
	for _, c := range all.Classes() {
		out.PerClass = append(out.PerClass, Class{labels[c.Class], c.Support, c.Predicted, c.Precision, c.Recall, c.F1})
	}
	for _, c := range all.Confusions(mostConfusions) {
		out.Confusions = append(out.Confusions, Confusion{labels[c.True], labels[c.Predicted], c.Count})
	}
	if rule.Confidence != 0 {
		out.Hedged = &Hedged{Confidence: rule.Confidence, Answers: e.hedging[0].report()}
	}
	if rule.Reject != 0 {
		out.Selected = e.selected(rule.Reject)
	}
	if e.outside != nil {
		out.OutOfScope, err = e.outOfScope(rule.Reject)
	}
	return out, err
}

// Hedging returns how answers of all confidences that were asked for did, that of the
// rule first.
func (e *Evaluation) Hedging() []Hedged {
	var list []Hedged
	for i, c := range e.confidences() {
		list = append(list, Hedged{c, e.hedging[i].report()})
	}
	return list
}

// unknownLabels are the labels never trained.
type unknownLabels map[string]UnknownLabel

// add counts examples of a label, whose first is that of the first call.
func (l unknownLabels) add(u UnknownLabel) {
	if old, seen := l[u.Label]; seen {
		u.First, u.Examples = old.First, u.Examples+old.Examples
	}
	l[u.Label] = u
}

// list returns the labels, the most frequent first.
func (l unknownLabels) list() []UnknownLabel {
	list := slices.AppendSeq(make([]UnknownLabel, 0, len(l)), maps.Values(l))
	slices.SortFunc(list, func(a, b UnknownLabel) int {
		return cmp.Or(b.Examples-a.Examples, strings.Compare(a.Label, b.Label))
	})
	return list
}

// MarshalJSON writes fields and Report as one object.
func (r *Result) MarshalJSON() ([]byte, error) {
	type fields Result
	own, err := json.Marshal((*fields)(r))
	if err != nil {
		return nil, err
	}
	report, err := json.Marshal(r.Report)
	if err != nil {
		return nil, err
	}
	// Both objects have fields, so that one comma in place of "}{" joins them.
	own[len(own)-1] = ','
	return append(own, report[1:]...), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Result) UnmarshalJSON(data []byte) error {
	type fields Result
	if err := json.Unmarshal(data, (*fields)(r)); err != nil {
		return err
	}
	return json.Unmarshal(data, &r.Report)
}

// Worst returns the classes that were met, those of the lowest F1 first, of equals
// the more frequent.
func (r *Result) Worst() []Class {
	// Met are classes of some example, and those that were predicted for others.
	met := slices.DeleteFunc(slices.Clone(r.PerClass), func(c Class) bool { return c.Examples+c.Predicted == 0 })
	// Of equals the order of the labels stays.
	slices.SortStableFunc(met, func(a, b Class) int {
		return cmp.Or(cmp.Compare(a.F1, b.F1), b.Examples-a.Examples)
	})
	return met
}

package tune

import (
	"math"
	"time"

	"github.com/treeloss/treeloss/score"
)

// Measures are the metrics in JSON, as fractions and nats. One that is not known is null.
type Measures struct {
	Accuracy           *float64 `json:"accuracy"`
	Top5Accuracy       *float64 `json:"top5_accuracy"`
	MacroF1            *float64 `json:"macro_f1"`
	SimilarityAccuracy *float64 `json:"similarity_accuracy"`
	LogLoss            *float64 `json:"log_loss"`
	CalibrationError   *float64 `json:"calibration_error"`
}

// Number returns x for JSON: nil, null there, if it is not known.
func Number(x float64) *float64 {
	if math.IsNaN(x) {
		return nil
	}
	return &x
}

// MeasuresOf returns the measures of a report.
func MeasuresOf(r score.Report) Measures { return measures(func(m Metric) float64 { return m.Of(r) }) }

// measures asks for each of the metrics.
func measures(of func(Metric) float64) Measures {
	get := func(m Metric) *float64 { return Number(of(m)) }
	return Measures{get(Accuracy), get(Top5), get(MacroF1), get(SimilarityAccuracy), get(LogLoss), get(CalibrationError)}
}

// FoldsDocument is a cross-validation as a JSON document.
type FoldsDocument struct {
	Folds         []FoldMeasures `json:"folds"`
	Mean          Measures       `json:"mean"`           // over the folds
	StandardError Measures       `json:"standard_error"` // of that mean
	Pooled        Measures       `json:"pooled"`         // over all examples, each tested once
	SimilarityOf  string         `json:"similarity_of"`  // what similarity accuracy is by
	Examples      int            `json:"examples"`
	Classes       int            `json:"classes"`
	Rare          []string       `json:"rare"`   // classes with fewer examples than folds
	Single        []string       `json:"single"` // classes with one example
	Seconds       float64        `json:"seconds"`
}

// FoldMeasures is one fold.
type FoldMeasures struct {
	Fold    int     `json:"fold"`    // from 1
	Trained int     `json:"trained"` // examples
	Tested  int     `json:"tested"`
	Method  string  `json:"method"` // that was chosen
	Prior   float64 `json:"prior"`
	Measures
}

// Document returns the folds that are done. labels are those of the classes, similarityOf
// says what FoldOptions.Similarity is, examples are those that the folds were made of.
func (v *CrossValidation) Document(labels []string, similarityOf string, examples int, took time.Duration) FoldsDocument {
	named := func(classes []int) []string {
		out := make([]string, len(classes)) // [] in JSON, and not null
		for n, c := range classes {
			out[n] = labels[c]
		}
		return out
	}
	d := FoldsDocument{Folds: []FoldMeasures{}, Pooled: MeasuresOf(v.Pooled), SimilarityOf: similarityOf, Examples: examples, Classes: len(labels),
		Rare: named(v.Rare), Single: named(v.Single), Seconds: took.Seconds(),
		Mean:          measures(func(m Metric) float64 { return v.Over(m).Mean }),
		StandardError: measures(func(m Metric) float64 { return v.Over(m).SE })}
	for n, fold := range v.Folds {
		d.Folds = append(d.Folds, FoldMeasures{n + 1, fold.Trained, fold.Report.Examples, fold.Method.String(), fold.Prior, MeasuresOf(fold.Report)})
	}
	return d
}

// NestedDocument is in JSON what a search is worth on rows that took no part in it.
type NestedDocument struct {
	Folds  int      `json:"folds"`
	Mean   *float64 `json:"mean"` // of the metric
	SE     *float64 `json:"se"`   // over folds
	Pooled Measures `json:"pooled"`
}

// Nested returns the cross-validation of a search by the metric that it searched by.
func (v *CrossValidation) Nested(m Metric) *NestedDocument {
	over := v.Over(m)
	return &NestedDocument{Folds: len(v.Folds), Mean: Number(over.Mean), SE: Number(over.SE), Pooled: MeasuresOf(v.Pooled)}
}

// SearchDocument is a search as JSON.
type SearchDocument struct {
	Metric  Metric          `json:"metric"`
	Trials  []trialDocument `json:"trials"` // the best first
	Best    int             `json:"best"`   // its number
	Args    []string        `json:"args"`   // of treeloss, to train with the best
	Command string          `json:"command"`

	HeldOutRows int             `json:"held_out_rows"`
	HeldOut     string          `json:"held_out"`  // how
	Corrected   Measures        `json:"corrected"` // the best, less what it gained by being chosen of many
	Nested      *NestedDocument `json:"nested"`    // null: not asked for
	Stopped     Stop            `json:"stopped"`
	Skipped     []string        `json:"skipped"` // methods that the data does not allow
	Seconds     float64         `json:"seconds"`
}

// trialDocument is one trial.
type trialDocument struct {
	Trial          int      `json:"trial"` // in the order in which they were made
	Method         string   `json:"method"`
	Options        []string `json:"options"` // of train
	Prior          float64  `json:"prior"`
	Value          *float64 `json:"value"` // of the metric
	SE             *float64 `json:"value_se"`
	Difference     *float64 `json:"difference"` // to plain cross entropy with the defaults
	DifferenceSE   *float64 `json:"difference_se"`
	Baseline       bool     `json:"baseline"` // measured to compare with only
	TrainedSeconds float64  `json:"seconds"`
	Measures
}

// Document returns the search as JSON has it: args train with the best, command is their
// line for a shell, and options has the flags of settings.
func (found *Found) Document(args []string, command string, options func(Settings) []string) *SearchDocument {
	out := &SearchDocument{Metric: found.Metric, Best: found.Best().Number, Args: args, Command: command, HeldOutRows: found.HeldOut, HeldOut: found.How,
		Corrected: MeasuresOf(found.Honest), Stopped: found.Stop, Skipped: append([]string{}, found.Skipped...)}
	for _, t := range found.Trials {
		out.Trials = append(out.Trials, trialDocument{Trial: t.Number, Method: t.Method.String(), Options: options(t.Settings), Prior: t.Prior,
			Value: Number(found.Metric.Of(t.Report)), SE: Number(t.SE), Difference: Number(t.Difference), DifferenceSE: Number(t.DifferenceSE), Baseline: t.Baseline,
			TrainedSeconds: t.Seconds, Measures: MeasuresOf(t.Report)})
	}
	return out
}

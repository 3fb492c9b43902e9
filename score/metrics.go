package score

// Metric is one number of a Report: what tables and JSON have of it.
type Metric struct {
	Key   string // in JSON
	Name  string // in tables
	Unit  Unit
	field func(*Report) *float64
}

// Unit is what a number of a Report counts in.
type Unit int

// The units.
const (
	Fraction Unit = iota // 0 to 1, but for cosines; points in tables
	Nats
	Edges // or lengths of the tree
)

// Of returns the metric's number in a report, NaN if it is not known there.
func (m Metric) Of(r Report) float64 { return *m.field(&r) }

// Metrics returns all numbers of a Report, in the order of tables and JSON.
func Metrics() []Metric {
	return []Metric{
		{"accuracy", "accuracy", Fraction, func(r *Report) *float64 { return &r.Accuracy }},
		{"top5_accuracy", "top-5 accuracy", Fraction, func(r *Report) *float64 { return &r.Top5Accuracy }},
		{"macro_f1", "macro F1", Fraction, func(r *Report) *float64 { return &r.MacroF1 }},
		{"weighted_f1", "weighted F1", Fraction, func(r *Report) *float64 { return &r.WeightedF1 }},
		{"similarity_accuracy", "similarity accuracy", Fraction, func(r *Report) *float64 { return &r.SimilarityAccuracy }},
		{"log_loss", "log loss", Nats, func(r *Report) *float64 { return &r.LogLoss }},
		{"calibration_error", "calibration error", Fraction, func(r *Report) *float64 { return &r.CalibrationError }},
		{"mistake_severity", "mistake severity", Edges, func(r *Report) *float64 { return &r.MistakeSeverity }},
		{"hierarchical_distance_1", "hierarchical distance at 1", Edges, func(r *Report) *float64 { return &r.HierarchicalDistance1 }},
		{"hierarchical_distance_5", "hierarchical distance at 5", Edges, func(r *Report) *float64 { return &r.HierarchicalDistance5 }},
		{"hierarchical_distance_20", "hierarchical distance at 20", Edges, func(r *Report) *float64 { return &r.HierarchicalDistance20 }},
		{"hierarchical_precision", "hierarchical precision", Fraction, func(r *Report) *float64 { return &r.HierarchicalPrecision }},
		{"hierarchical_recall", "hierarchical recall", Fraction, func(r *Report) *float64 { return &r.HierarchicalRecall }},
		{"hierarchical_f1", "hierarchical F1", Fraction, func(r *Report) *float64 { return &r.HierarchicalF1 }},
	}
}

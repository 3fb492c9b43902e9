package score

import (
	"encoding/json"
	"math"
)

// reportJSON has the keys of `treeloss evaluate`; nil becomes null.
type reportJSON struct {
	Accuracy           *float64 `json:"accuracy"`
	Top5Accuracy       *float64 `json:"top5_accuracy"`
	MacroF1            *float64 `json:"macro_f1"`
	WeightedF1         *float64 `json:"weighted_f1"`
	SimilarityAccuracy *float64 `json:"similarity_accuracy"`
	LogLoss            *float64 `json:"log_loss"`
	CalibrationError   *float64 `json:"calibration_error"`

	MistakeSeverity        *float64 `json:"mistake_severity"`
	HierarchicalDistance1  *float64 `json:"hierarchical_distance_1"`
	HierarchicalDistance5  *float64 `json:"hierarchical_distance_5"`
	HierarchicalDistance20 *float64 `json:"hierarchical_distance_20"`
	HierarchicalPrecision  *float64 `json:"hierarchical_precision"`
	HierarchicalRecall     *float64 `json:"hierarchical_recall"`
	HierarchicalF1         *float64 `json:"hierarchical_f1"`

	Examples int `json:"examples"`
	Classes  int `json:"classes"`
	Unknown  int `json:"unknown_labels"`
	Clipped  int `json:"log_loss_clipped"`
}

// MarshalJSON writes the keys of `treeloss evaluate`, and null for a number
// that is not known.
func (r Report) MarshalJSON() ([]byte, error) {
	return json.Marshal(reportJSON{
		number(r.Accuracy), number(r.Top5Accuracy), number(r.MacroF1), number(r.WeightedF1),
		number(r.SimilarityAccuracy), number(r.LogLoss), number(r.CalibrationError),
		number(r.MistakeSeverity), number(r.HierarchicalDistance1), number(r.HierarchicalDistance5), number(r.HierarchicalDistance20),
		number(r.HierarchicalPrecision), number(r.HierarchicalRecall), number(r.HierarchicalF1),
		r.Examples, r.Classes, r.Unknown, r.Clipped,
	})
}

// UnmarshalJSON reads what MarshalJSON writes; null and missing are NaN.
func (r *Report) UnmarshalJSON(data []byte) error {
	var j reportJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*r = Report{
		fromNumber(j.Accuracy), fromNumber(j.Top5Accuracy), fromNumber(j.MacroF1), fromNumber(j.WeightedF1),
		fromNumber(j.SimilarityAccuracy), fromNumber(j.LogLoss), fromNumber(j.CalibrationError),
		fromNumber(j.MistakeSeverity), fromNumber(j.HierarchicalDistance1), fromNumber(j.HierarchicalDistance5), fromNumber(j.HierarchicalDistance20),
		fromNumber(j.HierarchicalPrecision), fromNumber(j.HierarchicalRecall), fromNumber(j.HierarchicalF1),
		j.Examples, j.Classes, j.Unknown, j.Clipped,
	}
	return nil
}

// intervalJSON is Interval with null for what is not known.
type intervalJSON struct {
	Mean *float64 `json:"mean"`
	SE   *float64 `json:"se"`
	Low  *float64 `json:"low"`
	High *float64 `json:"high"`
}

// MarshalJSON writes mean, se, low and high, and null for one not known.
func (v Interval) MarshalJSON() ([]byte, error) {
	return json.Marshal(intervalJSON{number(v.Mean), number(v.SE), number(v.Low), number(v.High)})
}

// UnmarshalJSON reads what MarshalJSON writes; null and missing are NaN.
func (v *Interval) UnmarshalJSON(data []byte) error {
	var j intervalJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*v = Interval{fromNumber(j.Mean), fromNumber(j.SE), fromNumber(j.Low), fromNumber(j.High)}
	return nil
}

// number returns x for JSON, nil if it is NaN or infinite, which JSON lacks.
func number(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

func fromNumber(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}

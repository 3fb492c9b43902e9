package score

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// MarshalJSON writes the keys of Metrics in their order, null for a number that is
// not known, then examples, classes, unknown_labels and log_loss_clipped.
func (r Report) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for _, m := range Metrics() {
		value, err := json.Marshal(number(m.Of(r)))
		if err != nil {
			return nil, err
		}
		out = fmt.Appendf(out, "%q:%s,", m.Key, value)
	}
	return fmt.Appendf(out, `"examples":%d,"classes":%d,"unknown_labels":%d,"log_loss_clipped":%d}`, r.Examples, r.Classes, r.Unknown, r.Clipped), nil
}

// UnmarshalJSON reads what MarshalJSON writes; null and missing are NaN.
func (r *Report) UnmarshalJSON(data []byte) error {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(data, &values); err != nil {
		return err
	}
	read := func(key string, to any) error {
		if values[key] == nil {
			return nil
		}
		return json.Unmarshal(values[key], to)
	}
	*r = Report{}
	err := errors.Join(read("examples", &r.Examples), read("classes", &r.Classes), read("unknown_labels", &r.Unknown), read("log_loss_clipped", &r.Clipped))
	for _, m := range Metrics() {
		var value *float64
		err = errors.Join(err, read(m.Key, &value))
		*m.field(r) = fromNumber(value)
	}
	return err
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

// fromNumber is the way back from number: NaN for null.
func fromNumber(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}

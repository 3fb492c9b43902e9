package input

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestJSON(t *testing.T) {
	var to struct {
		Count int
		Words []string
		Map   map[string]int32
		On    *bool
		Bytes []byte
		Size  float64
	}
	for text, want := range map[string]string{
		`{`: "the JSON ends early", ``: "the JSON ends early", `{x}`: "not JSON at byte 2",
		`{"Count": "x"}`:      `"Count" is a text, want a whole number that fits`,
		`{"Count": 1.5}`:      `"Count" is 1.5, want a whole number that fits`,
		`{"Words": 3}`:        `"Words" is a number, want a list`,
		`{"Map": []}`:         `"Map" is a list, want an object`,
		`{"On": {}}`:          `"On" is an object, want true or false`,
		`{"Bytes": 1}`:        `"Bytes" is a number, want a text in base64`,
		`{"Size": true}`:      `"Size" is true or false, want a number that fits`,
		`{"Other": 1}`:        `the field "Other" is not supported`,
		`"x"`:                 `the value is a text, want an object`,
		`{"Map": {"a": 9e9}}`: `"Map" is 9e9, want a whole number that fits`,
	} {
		d := json.NewDecoder(strings.NewReader(text))
		d.DisallowUnknownFields()
		if err := JSON(d.Decode(&to)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if JSON(nil) != nil {
		t.Error("no error is one")
	}
	other := errors.New("other")
	if JSON(other) != other {
		t.Error("another error is changed")
	}
}

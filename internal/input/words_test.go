package input

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
)

func TestInWords(t *testing.T) {
	into := func(text string, to any) error { return fmt.Errorf("f.json: %w", json.Unmarshal([]byte(text), to)) }
	type head struct {
		Format string `json:"format"`
	}
	_, number := strconv.Atoi("99x")
	for _, tc := range []struct {
		err  error
		want string
	}{
		{into("{}}", &head{}), `f.json: unexpected "}"`},
		{into(`{"format":'x'}`, &head{}), `f.json: unexpected "'"`},
		{into("{", &head{}), "f.json: it ends too early"},
		{into(strings.Repeat("[", 20000), new(any)), "f.json: nested more than 10,000 levels deep"},
		{into(`{"format":3}`, &head{}), `f.json: "format" is a number, want a text`},
		{into(`"x"`, &head{}), "f.json: a text, want an object"},
		{into(`[1e999]`, &[]float64{}), "f.json: 1e999, want a number that fits"},
		{into(`[1.5]`, &[]int{}), "f.json: 1.5, want a whole number that fits"},
		{fmt.Errorf("line 3: %w", number), `line 3: "99x" is no number that can be used`},
		{fmt.Errorf("no such thing"), "no such thing"},
	} {
		if got := InWords(tc.err.Error(), tc.err); got != tc.want {
			t.Errorf("%v: %q, want %q", tc.err, got, tc.want)
		}
	}
}

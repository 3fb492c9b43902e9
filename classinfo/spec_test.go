package classinfo

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestParseSpec(t *testing.T) {
	for _, tc := range []struct {
		text string
		want Spec
	}{
		{"none", Spec{None}},
		{"names", Spec{Names}},
		{"names+taxonomy", Spec{Names, Taxonomy}},
		{" means + v-tree+u-tree+linkage ", Spec{Means, VTree, UTree, Linkage}},
	} {
		got, err := ParseSpec(tc.text)
		if err != nil || !slices.Equal(got, tc.want) {
			t.Errorf("ParseSpec(%q) = %q, %v, want %q", tc.text, got, err, tc.want)
		}
		if again, err := ParseSpec(got.String()); err != nil || !slices.Equal(again, got) {
			t.Errorf("%q read again: %q, %v", got, again, err)
		}
	}
	for _, source := range Sources() {
		if got, err := ParseSpec(string(source)); err != nil || !slices.Equal(got, Spec{source}) {
			t.Errorf("ParseSpec(%q) = %q, %v", source, got, err)
		}
	}
	if got := (Spec)(nil).String(); got != "" {
		t.Errorf("an empty specification is written %q", got)
	}
}

func TestParseSpecRefuses(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"", `unknown sharing "", want one or a sum of none, names, vectors, taxonomy, distances, weights, means, u-tree, v-tree, linkage`},
		{"name", `unknown sharing "name", want`},
		{"names+", `unknown sharing "", want`},
		{"Names", `unknown sharing "Names", want`},
		{"names + names", `"names" twice in "names + names"`},
		{"names+none", "none shares nothing, it cannot be part of a sum"},
	} {
		got, err := ParseSpec(tc.text)
		if !errors.Is(err, ErrSpec) || !strings.Contains(err.Error(), tc.want) || got != nil {
			t.Errorf("ParseSpec(%q): %v, want an error with %q", tc.text, err, tc.want)
		}
	}
}

func FuzzParseSpec(f *testing.F) {
	f.Add("names+taxonomy")
	f.Add("none + none")
	f.Add("\xff++")
	f.Fuzz(func(t *testing.T, text string) {
		spec, err := ParseSpec(text)
		if err != nil {
			return
		}
		if again, err := ParseSpec(spec.String()); err != nil || !slices.Equal(again, spec) {
			t.Errorf("%q became %q, read again: %q, %v", text, spec, again, err)
		}
	})
}

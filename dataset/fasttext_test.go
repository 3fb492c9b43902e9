package dataset

import "testing"

// The words of a line stay as they are, the labels leave.
func TestFastTextWords(t *testing.T) {
	for _, tc := range []struct{ line, text, label string }{
		{"__label__a b c", "b c", "a"},
		{"b  c __label__a", "b  c", "a"},
		{"b\t__label__a c\td", "b\tc\td", "a"},
		{"x__label__y __label__a", "x__label__y", "a"},
		{"__label____label__", "", "__label__"},
		{" __label__a\x00b__label__c", "b__label__c", "a"},
		{"__label__é, ü", "ü", "é,"},
		{"__labe __label_ __label__a _", "__labe __label_ _", "a"},
	} {
		got, _, err := readText(tc.line, "a.ft", Options{})
		if err != nil || got[0].Text != tc.text || got[0].Label != tc.label {
			t.Errorf("%q gives %+v, %v; want text %q, label %q", tc.line, got, err, tc.text, tc.label)
		}
	}
}

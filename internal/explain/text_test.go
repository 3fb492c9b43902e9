package explain

import (
	"strings"
	"testing"

	"github.com/treeloss/treeloss/dataset"
)

func TestExcerpt(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"", ""},
		{"a\tb", ` "a\tb"`},
		{strings.Repeat("ö", 81), ` "` + strings.Repeat("ö", 80) + `..."`},
	} {
		if got := excerpt(tc.text); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
	var out strings.Builder
	if err := (&Explanation{Label: "a\tb", Temperature: 1.5}).WriteText(&out, dataset.Example{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), `a\tb`) || !strings.Contains(out.String(), "divided by 1.50") {
		t.Errorf("%q, want the tab escaped, and the temperature", out.String())
	}
}

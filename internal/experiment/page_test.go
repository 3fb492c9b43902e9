package experiment

import (
	"math"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/internal/pagetest"
	"github.com/treeloss/treeloss/score"
)

// The page begins with the verdicts and one figure; all else is folded, and few runs are said to be.
func TestPageFirst(t *testing.T) {
	few := invented(t, Options{Runs: 3}, 0.6)
	page := few.Page()
	if s := page.Sections[0]; s.Closed || len(s.Tables) != 1 || s.Tables[0].Name != "claims" || len(s.Tables[0].Rows) < 10 {
		t.Errorf("the first section is %q with %d tables", s.Heading, len(s.Tables))
	}
	for _, row := range page.Sections[0].Tables[0].Rows {
		if strings.Contains(row[1], "not\u00a0measured") || row[2] == "" {
			t.Errorf("a claim that was not measured: %q", row)
		}
	}
	if s := page.Sections[1]; s.Closed || len(s.Pictures) != 1 {
		t.Errorf("the second section is %q with %d pictures, want one figure", s.Heading, len(s.Pictures))
	}
	for _, s := range page.Sections[2:] {
		if !s.Closed {
			t.Errorf("%q is not folded", s.Heading)
		}
	}
	if len(page.Warnings) != 1 || !strings.Contains(page.Warnings[0], "3 under paper's protocol") {
		t.Errorf("3 runs: the warnings are %q", page.Warnings)
	}
	if many := invented(t, Options{Runs: 12}, 0.6).Page(); many.Warnings != nil {
		t.Errorf("12 runs: the warnings are %q", many.Warnings)
	}
}

// The table of a sweep has the unit of its figure, and two significant digits of what is uncertain.
func TestTwoDigits(t *testing.T) {
	of := func(mean, half float64) Interval {
		return Interval{score.Interval{Mean: mean, Low: mean - half, High: mean + half}}
	}
	for _, tc := range []struct {
		mean, half  float64
		want, signs string
	}{
		{0.256, 0.068, "25.6 ± 6.8", "+25.6 ± 6.8"}, {0.25632, 0.1234, "26 ± 12", "+26 ± 12"}, {-0.0004, 0.00153, "-0.04 ± 0.15", "-0.04 ± 0.15"},
		{0.99987, 0.00012, "99.987 ± 0.012", "+99.987 ± 0.012"}, {-0.00001, 0.068, "0.0 ± 6.8", "0.0 ± 6.8"}, {1, 0, "100.0 ± 0.0", "+100.0 ± 0.0"},
		{0.5, math.NaN(), "50.0", "+50.0"}, {math.NaN(), math.NaN(), "-", "-"},
	} {
		if got := of(tc.mean, tc.half).plusMinus(100); got != tc.want {
			t.Errorf("%v ± %v: %q, want %q", tc.mean, tc.half, got, tc.want)
		}
		if got := of(tc.mean, tc.half).signed(100); got != tc.signs {
			t.Errorf("%v ± %v with its sign: %q, want %q", tc.mean, tc.half, got, tc.signs)
		}
	}
}

func TestInBrowser(t *testing.T) {
	dir := t.TempDir()
	if _, err := invented(t, Options{Runs: 3}, 0.6).Page().Save(dir); err != nil {
		t.Fatal(err)
	}
	pagetest.Look(t, dir)
}

package input

import "testing"

func TestSome(t *testing.T) {
	names := []string{"a", "b", "c"}
	for _, tc := range []struct {
		most, all int
		want      string
	}{{5, 3, "a, b, c"}, {2, 3, "a, b and 1 more"}, {2, 9, "a, b and 7 more"}, {3, 4, "a, b, c and 1 more"}} {
		if got := Some(names, tc.most, tc.all); got != tc.want {
			t.Errorf("%d of %d: %q, want %q", tc.most, tc.all, got, tc.want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, tc := range []struct {
		text  string
		width int
		want  string
	}{
		{"one two three  four", 9, "one two\nthree\nfour"},
		{"σ = 1 longerthanthat x", 5, "σ = 1\nlongerthanthat\nx"}, // letters count, not bytes
		{"", 5, ""},
	} {
		if got := Wrap(tc.text, tc.width); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}

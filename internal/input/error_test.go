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

package option

import (
	"errors"
	"fmt"
	"testing"
)

func TestCheck(t *testing.T) {
	if err := Check("Momentum", 0.9, true, "less"); err != nil {
		t.Errorf("a value in range gives the error %v", err)
	}
	err := fmt.Errorf("training: %w", Check("Momentum", 1.5, false, "less than 1"))
	var o *Error
	if !errors.As(err, &o) || o.Name != "Momentum" || o.Value != 1.5 {
		t.Errorf("errors.As finds %+v", o)
	}
	if want := "training: Momentum is 1.5, want less than 1"; err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
}

func TestThreads(t *testing.T) {
	for n, ok := range map[int]bool{-1: false, 0: true, 1: true, 1024: true, 1025: false, 1 << 30: false} {
		if err := Threads(n); (err == nil) != ok {
			t.Errorf("%d threads: error %v", n, err)
		}
	}
}

package bert

import (
	"testing"

	"github.com/treeloss/treeloss/deep/internal/backendtest"
)

// What Freezes says is what TestFineTune finds: tables stay on ONNX Runtime alone.
func TestFreezes(t *testing.T) {
	b := backendtest.Open(t)
	if got, want := Freezes(b), backendtest.OnONNX(); got != want {
		t.Errorf("%s freezes: %v, want %v", b.Name(), got, want)
	}
}

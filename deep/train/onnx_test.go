package train

import (
	"testing"

	"github.com/treeloss/treeloss/deep/internal/backendtest"
)

// The tests run on ONNX Runtime as well, where it is compiled in and at hand.
func TestMain(m *testing.M) { backendtest.Main(m) }

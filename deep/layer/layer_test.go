package layer

import (
	"fmt"
	"math"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/treeloss/treeloss/deep/internal/backendtest"
	"github.com/treeloss/treeloss/deep/internal/gradtest"
)

// cases are all layers.
func cases() map[string]gradtest.Func {
	return map[string]gradtest.Func{
		"batch norm":                      BatchNorm,
		"convolution of size 1, stride 2": func(s *model.Scope, x *graph.Node) *graph.Node { return Convolution(s, x, 2, 1, 2) },
		"convolution of size 3":           func(s *model.Scope, x *graph.Node) *graph.Node { return Convolution(s, x, 2, 3, 1) },
		"convolution of size 3, stride 2": func(s *model.Scope, x *graph.Node) *graph.Node { return Convolution(s, x, 2, 3, 2) },
		"convolution of size 7, stride 2": func(s *model.Scope, x *graph.Node) *graph.Node { return Convolution(s, x, 2, 7, 2) },
		"subsample":                       func(_ *model.Scope, x *graph.Node) *graph.Node { return Subsample(x, 2) },
		"max pool":                        func(_ *model.Scope, x *graph.Node) *graph.Node { return MaxPool(x) },
		"zero channels":                   func(_ *model.Scope, x *graph.Node) *graph.Node { return ZeroChannels(x, 1, 2) },
	}
}

func TestGradients(t *testing.T) {
	if backendtest.OnONNX() {
		t.Skip("checks gradients in float64, which ONNX Runtime does not convolve: see TestONNXEqualsGo")
	}
	b := backendtest.Open(t)
	for name, f := range cases() {
		if worst := gradtest.Worst(b, f, 3, 4, 6, 3); !(worst < 1e-6) {
			t.Errorf("%s: gradient differs by %g", name, worst)
		}
	}
}

// A stride is what is left of a convolution at every position when rows and
// columns are dropped: so the two ways to stride agree.
func TestStrideIsSubsample(t *testing.T) {
	b := backendtest.Open(t)
	x := tensors.FromFlatDataAndDimensions(make([]float32, 2*4*6*3), 2, 4, 6, 3)
	tensors.MustMutableFlatData(x, func(flat []float32) {
		for i := range flat {
			flat[i] = float32(math.Sin(float64(i)))
		}
	})
	for _, size := range []int{1, 3, 5} {
		store := model.NewStore()
		strided := model.MustCallOnce(b, store, func(s *model.Scope, x *graph.Node) *graph.Node { return Convolution(s, x, 2, size, 2) }, x)
		dropped := model.MustCallOnce(b, store, func(s *model.Scope, x *graph.Node) *graph.Node {
			return Subsample(Convolution(s, x, 2, size, 1), 2)
		}, x)
		if !strided.InDelta(dropped, 1e-5) {
			t.Errorf("size %d: %v and %v", size, strided, dropped)
		}
	}
}

// MaxPool is GoMLX's with PyTorch's padding, whose gradient is wrong on ONNX Runtime.
func TestMaxPool(t *testing.T) {
	b := backendtest.Open(t)
	for _, dims := range [][]int{{2, 4, 6, 3}, {1, 2, 2, 1}, {1, 8, 2, 2}} {
		x := make([]float32, dims[0]*dims[1]*dims[2]*dims[3])
		for i := range x {
			x[i] = float32(math.Sin(float64(i*i)) - 2) // below 0: no zeros come in from around
		}
		in := tensors.FromFlatDataAndDimensions(x, dims...)
		got := graph.MustExecOnce(b, MaxPool, in)
		want := graph.MustExecOnce(b, func(x *graph.Node) *graph.Node {
			return graph.MaxPool(x).Window(3).Strides(2).PaddingPerDim([][2]int{{1, 1}, {1, 1}}).Done()
		}, in)
		if !got.InDelta(want, 1e-6) {
			t.Errorf("%v: %v, want %v", dims, got, want)
		}
	}
}

// In training each channel comes out with mean 0 and variance 1; the moving
// averages go a tenth of the way each time; outside training they are used.
func TestBatchNormStatistics(t *testing.T) {
	b := backendtest.Open(t)
	const n, c = 8, 2
	values := make([]float32, n*c)
	for i := range values {
		values[i] = float32(3 + float64(i%c)*10 + math.Cos(float64(i*i)))
	}
	var mean, variance [c]float64
	for i, v := range values {
		mean[i%c] += float64(v) / n
	}
	for i, v := range values {
		variance[i%c] += math.Pow(float64(v)-mean[i%c], 2) / (n - 1)
	}
	x := tensors.FromFlatDataAndDimensions(values, n, 1, 1, c)
	store := model.NewStore()
	run := func(training bool) []float32 {
		return tensors.MustCopyFlatData[float32](model.MustCallOnce(b, store, func(s *model.Scope, x *graph.Node) *graph.Node {
			store.SetTraining(x.Graph(), training)
			return BatchNorm(s, x)
		}, x))
	}
	y := run(true)
	for ch := range c {
		var sum, squares float64
		for i := ch; i < len(y); i += c {
			sum += float64(y[i])
			squares += float64(y[i]) * float64(y[i])
		}
		if math.Abs(sum/n) > 1e-5 || math.Abs(squares/n-1) > 1e-3 {
			t.Errorf("channel %d has mean %g and mean square %g", ch, sum/n, squares/n)
		}
	}
	moving := tensors.MustCopyFlatData[float32](store.GetVariable("/" + Mean).MustValue())
	spread := tensors.MustCopyFlatData[float32](store.GetVariable("/" + Variance).MustValue())
	y = run(false)
	for ch := range c {
		if d := math.Abs(float64(moving[ch]) - 0.1*mean[ch]); d > 1e-5 {
			t.Errorf("moving mean %v, want a tenth of %v", moving[ch], mean[ch])
		}
		if d := math.Abs(float64(spread[ch]) - 0.9 - 0.1*variance[ch]); d > 1e-5 {
			t.Errorf("moving variance %v, want 0.9 and a tenth of %v", spread[ch], variance[ch])
		}
		want := (float64(values[ch]) - float64(moving[ch])) / math.Sqrt(float64(spread[ch])+1e-5)
		if math.Abs(float64(y[ch])-want) > 1e-4 {
			t.Errorf("outside training %v, want %v", y[ch], want)
		}
	}
	if after := tensors.MustCopyFlatData[float32](store.GetVariable("/" + Mean).MustValue()); fmt.Sprint(after) != fmt.Sprint(moving) {
		t.Error("evaluation moved the averages")
	}
}

func TestRefusals(t *testing.T) {
	b := backendtest.Open(t)
	x := tensors.FromFlatDataAndDimensions(make([]float32, 9), 1, 3, 3, 1)
	for name, f := range map[string]func(*model.Scope, *graph.Node) *graph.Node{
		"even kernel":    func(s *model.Scope, x *graph.Node) *graph.Node { return Convolution(s, x, 1, 2, 1) },
		"odd sides":      func(s *model.Scope, x *graph.Node) *graph.Node { return Subsample(x, 2) },
		"norm of vector": func(s *model.Scope, x *graph.Node) *graph.Node { return BatchNorm(s, graph.Reshape(x, 9)) },
	} {
		if _, err := model.CallOnce(b, model.NewStore(), f, x); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

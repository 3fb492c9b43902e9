package deep

import (
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/layers/norm"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/checkpoint"
	"github.com/gomlx/gomlx/ml/train/metric"

	"github.com/treeloss/treeloss/deep/internal/backendtest"
	"github.com/treeloss/treeloss/deep/internal/gradtest"
	"github.com/treeloss/treeloss/deep/layer"
)

// The tests of this file fail when a bug of GoMLX v0.28.1 is mended. Then drop
// the work-around that each names.

// mended reports a bug that is gone.
func mended(t *testing.T, what, workAround string) {
	t.Helper()
	t.Errorf("GoMLX has mended it: %s. Drop the work-around: %s", what, workAround)
}

func TestBugEvenKernelGradient(t *testing.T) {
	if backendtest.OnONNX() {
		t.Skip("checks a gradient in float64, which only the go backend convolves; the run on it has done this")
	}
	worst := gradtest.Worst(backendtest.Open(t), func(scope *model.Scope, x *graph.Node) *graph.Node {
		kernel := scope.VariableWithShape("kernel", shapes.Make(x.DType(), 2, 2, 3, 2)).NodeValue(x.Graph())
		return graph.Convolve(x, kernel).NoPadding().Done()
	}, 2, 4, 4, 3)
	if worst < 1e-3 {
		mended(t, "the gradient of a 2x2 convolution in its input", "layer.Convolution refuses even kernels")
	}
}

func TestBugBatchNormCannotTrain(t *testing.T) {
	b := backendtest.Open(t)
	run := func(inference bool) (worst float64, err error) {
		defer func() {
			if r := recover(); r != nil {
				err, _ = r.(error)
			}
		}()
		return gradtest.Worst(b, func(scope *model.Scope, x *graph.Node) *graph.Node {
			return norm.BatchNorm(scope, x, -1).UseBackendInference(inference).Done()
		}, 4, 2, 2, 3), nil
	}
	if _, err := run(true); err == nil {
		mended(t, "norm.BatchNorm trains", "layer.BatchNorm")
	}
	if worst, err := run(false); err == nil && worst < 1e-3 {
		mended(t, "norm.BatchNorm without backend inference has the right gradient", "layer.BatchNorm")
	}
}

func TestBugRandomStateComesBackTrainable(t *testing.T) {
	b := backendtest.Open(t)
	dir := t.TempDir()
	draw := func(scope *model.Scope, g *graph.Graph) *graph.Node {
		return scope.RandomNormal(g, f32(1))
	}
	store := model.NewStore()
	model.MustCallOnce(b, store, draw)
	if store.GetVariable("/" + model.RNGStateVariableName).Trainable {
		t.Fatal("the random state is trainable from the start")
	}
	handler, err := checkpoint.Build(store).Dir(dir).Done()
	if err != nil {
		t.Fatal(err)
	}
	if err := handler.Save(); err != nil {
		t.Fatal(err)
	}
	loaded := model.NewStore()
	if _, err := checkpoint.Build(loaded).Dir(dir).Done(); err != nil {
		t.Fatal(err)
	}
	if !loaded.GetVariable("/" + model.RNGStateVariableName).Trainable {
		mended(t, "the random state is not trainable after loading", "train.SGD skips what is no float")
	}
}

func TestBugNoGradientOfRsqrt(t *testing.T) {
	_, err := graph.CallOnce(backendtest.Open(t), func(x *graph.Node) *graph.Node {
		return graph.Gradient(graph.ReduceAllSum(graph.Rsqrt(x)), x)[0]
	}, []float32{4})
	if err == nil {
		mended(t, "Rsqrt has a gradient", "layer.BatchNorm divides by a square root")
	}
}

// Metrics of one name keep their sums under another name in each process, so a
// checkpoint that has them gathers leftovers.
func TestBugMetricsChangeTheirNames(t *testing.T) {
	scope := func() string { return metric.NewSparseCategoricalAccuracy("accuracy", "a").ScopeName() }
	if first, second := scope(), scope(); first == second {
		mended(t, "a metric keeps its variables under its name", "ratio has names of its own, checkpoints leave /metrics/ out")
	}
}

// The race that rows, treeSum and HierarchicalSoftmax are built around.
func TestScatterRace(t *testing.T) {
	if !backendtest.OnONNX() {
		t.Skip("a bug of the ONNX Runtime backend; build with -tags onnx and set ONNXRUNTIME_SHARED_LIBRARY_PATH")
	}
	const n, into, width = 20000, 10, 512
	index := make([]int64, n)
	for i := range index {
		index[i] = int64(i % into)
	}
	for range 20 {
		out := graph.MustExecOnce(backendtest.Open(t), func(index *graph.Node) *graph.Node {
			g := index.Graph()
			return graph.ScatterSum(graph.Zeros(g, f32(into, width)), index, graph.Ones(g, f32(n, width)), false, false)
		}, tensors.FromFlatDataAndDimensions(index, n, 1))
		for _, v := range flat(t, out) {
			if v != n/into {
				return // still wrong
			}
		}
	}
	mended(t, "ScatterSum adds repeated rows on ONNX Runtime", "gathers of rows that repeat have gradients of their own")
}

func TestBugsOfONNX(t *testing.T) {
	if !backendtest.OnONNX() {
		t.Skip("bugs of the ONNX Runtime backend; build with -tags onnx and set ONNXRUNTIME_SHARED_LIBRARY_PATH")
	}
	b := backendtest.Open(t)
	x := tensors.FromFlatDataAndDimensions(make([]float32, 2*4*4*3), 2, 4, 4, 3)
	if _, err := graph.CallOnce(b, func(x *graph.Node) *graph.Node {
		return graph.Gradient(graph.ReduceAllSum(graph.Slice(x, graph.AxisRange(0, 1))), x)[0]
	}, x); err == nil {
		mended(t, "Slice has a gradient on ONNX Runtime", "layer.Subsample and span use sums and gathers")
	}
	if _, err := model.CallOnce(b, model.NewStore(), func(scope *model.Scope, x *graph.Node) *graph.Node {
		kernel := scope.VariableWithShape("kernel", f32(3, 3, 3, 2)).NodeValue(x.Graph())
		return graph.Gradient(graph.ReduceAllSum(graph.Convolve(x, kernel).PaddingPerDim([][2]int{{1, 1}, {1, 1}}).Strides(2).Done()), x)[0]
	}, x); err == nil {
		mended(t, "strided convolutions have a gradient on ONNX Runtime", "layer.Convolution subsamples there")
	}
	if _, err := graph.CallOnce(b, func(x, index *graph.Node) *graph.Node {
		return graph.Gradient(graph.ReduceAllSum(graph.Gather(x, index)), x)[0]
	}, x, [][]int32{{0}, {1}}); err == nil {
		mended(t, "int32 indices scatter on ONNX Runtime", "indices are int64")
	}
}

// On ONNX Runtime the gradient of a maximum over windows that overlap is wrong,
// without an error; on the go backend it is that of layer.MaxPool.
func TestBugMaxPoolGradient(t *testing.T) {
	b := backendtest.Open(t)
	x := tensor(randoms(newRand(3), 2*4*4*3), 2, 4, 4, 3)
	gradient := func(pool func(*graph.Node) *graph.Node) ([]float32, error) {
		out, err := graph.CallOnce(b, func(x *graph.Node) *graph.Node {
			return graph.Gradient(graph.ReduceAllSum(pool(x)), x)[0]
		}, x)
		if err != nil {
			return nil, err
		}
		return flat(t, out), nil
	}
	ours, err := gradient(layer.MaxPool)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		theirs, err := gradient(func(x *graph.Node) *graph.Node {
			return graph.MaxPool(x).Window(3).Strides(2).PaddingPerDim([][2]int{{1, 1}, {1, 1}}).Done()
		})
		if right := err == nil && apart(ours, theirs) < 1e-6; !right {
			if !backendtest.OnONNX() {
				t.Errorf("on the go backend: error %v, differs by %g", err, apart(ours, theirs))
			}
			return
		}
	}
	if backendtest.OnONNX() {
		mended(t, "MaxPool has the right gradient on ONNX Runtime", "layer.MaxPool is made of maxima of shifted images")
	}
}

func f32(dims ...int) shapes.Shape { return shapes.Make(dtypes.Float32, dims...) }

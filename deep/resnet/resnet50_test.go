package resnet

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train/loss"

	"github.com/treeloss/treeloss/deep/internal/backendtest"
	"github.com/treeloss/treeloss/deep/train"
	"github.com/treeloss/treeloss/internal/safetensors"
)

func net50(scope *model.Scope, x *graph.Node) *graph.Node {
	return layers.Dense(scope, ResNet50(scope, x), true, 1000)
}

// torchFile writes random weights of the right shapes under torchvision's names.
func torchFile(t *testing.T, change func(*safetensors.Tensor)) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 5))
	f := &safetensors.File{}
	add := func(name string, dims ...int) {
		n := 1
		for _, d := range dims {
			n *= d
		}
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(rng.Float64()) * 0.02
		}
		tensor := safetensors.New(name, x, dims...)
		if change != nil {
			change(&tensor)
		}
		f.Tensors = append(f.Tensors, tensor)
	}
	// The names and shapes are written out as the state_dict of torchvision's
	// resnet50 prints them, from nothing of this package; timm's are the same.
	norm := func(name string, channels int) {
		for _, part := range []string{"weight", "bias", "running_mean", "running_var"} {
			add(name+"."+part, channels)
		}
		f.Tensors = append(f.Tensors, safetensors.New(name+".num_batches_tracked", []int64{7})) // a scalar that nothing reads
	}
	add("conv1.weight", 64, 3, 7, 7)
	norm("bn1", 64)
	for _, layer := range []struct {
		name                string
		blocks, in, between int
	}{{"layer1", 3, 64, 64}, {"layer2", 4, 256, 128}, {"layer3", 6, 512, 256}, {"layer4", 3, 1024, 512}} {
		in, out := layer.in, 4*layer.between
		for block := range layer.blocks {
			at := fmt.Sprintf("%s.%d.", layer.name, block)
			add(at+"conv1.weight", layer.between, in, 1, 1)
			norm(at+"bn1", layer.between)
			add(at+"conv2.weight", layer.between, layer.between, 3, 3)
			norm(at+"bn2", layer.between)
			add(at+"conv3.weight", out, layer.between, 1, 1)
			norm(at+"bn3", out)
			if block == 0 {
				add(at+"downsample.0.weight", out, in, 1, 1)
				norm(at+"downsample.1", out)
			}
			in = out
		}
	}
	if len(f.Tensors) != 318 { // and the two of fc make the 320 of the state_dict
		t.Fatalf("%d tensors, want 318", len(f.Tensors))
	}
	add("fc.weight", 1000, Features50)
	add("fc.bias", 1000)
	path := filepath.Join(t.TempDir(), "resnet50.safetensors")
	if err := safetensors.WriteFile(path, f); err != nil {
		t.Fatal(err)
	}
	return path
}

// 25,557,032 is the published number. The file of torchvision's names fills every
// variable of the network, and the numbers arrive where they belong.
func TestResNet50(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 25 million weights: left out by -short")
	}
	b := backendtest.Open(t)
	store := model.NewStore()
	file := torchFile(t, nil)
	if err := LoadTorch(store, file); err != nil {
		t.Fatal(err)
	}
	loaded := store.NumVariables()
	if loaded != 53*5 {
		t.Errorf("%d variables from the file, want 53 convolutions with 4 vectors each", loaded)
	}
	f, err := safetensors.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(f.Tensors, func(x safetensors.Tensor) bool { return x.Name == "layer2.0.conv2.weight" })
	want, err := f.Tensors[i].Float32s()
	if err != nil {
		t.Fatal(err)
	}
	got := tensors.MustCopyFlatData[float32](store.GetVariable("/resnet50/layer2_0/2/kernel").MustValue())
	if o, in, y, x := 7, 100, 2, 1; got[((y*3+x)*128+in)*128+o] != want[((o*128+in)*3+y)*3+x] {
		t.Error("the kernel of layer2.0.conv2 is turned wrongly")
	}
	out := model.MustCallOnce(b, store, func(scope *model.Scope, x *graph.Node) *graph.Node {
		return net50(scope.WithInitializer(train.Start(1)), x)
	}, images(1, 32))
	if n := parameters(store); n != 25_557_032 {
		t.Errorf("%d trained parameters, want 25,557,032", n)
	}
	if store.NumVariables() != loaded+2 {
		t.Errorf("%d variables, the file has %d and the head 2", store.NumVariables(), loaded)
	}
	for _, v := range tensors.MustCopyFlatData[float32](out) {
		if math.IsNaN(float64(v)) {
			t.Fatal("the network says NaN")
		}
	}
}

// One step on four pictures of 64 x 64 moves the weights. Some 10 seconds.
func TestResNet50Trains(t *testing.T) {
	if !*long {
		t.Skip("trains 25 million weights on the slow go backend, a minute and more; run with -long")
	}
	b := backendtest.Open(t)
	store := model.NewStore()
	exec := model.MustNewExec(b, store, func(scope *model.Scope, x, y *graph.Node) *graph.Node {
		store.SetTraining(x.Graph(), true)
		value := loss.SparseCategoricalCrossEntropyLogits([]*graph.Node{y}, []*graph.Node{net50(scope.WithInitializer(train.Start(1)), x)})
		train.SGD{Rate: 0.01, Momentum: 0.9}.UpdateGraph(scope, x.Graph(), value)
		return value
	})
	y := tensors.FromFlatDataAndDimensions([]int32{0, 1, 2, 3}, 4, 1)
	first := tensors.ToScalar[float32](exec.MustCall1(images(4, 64), y))
	second := tensors.ToScalar[float32](exec.MustCall1(images(4, 64), y))
	if !(second < first) {
		t.Errorf("loss %v after %v", second, first)
	}
}

func TestLoadTorchRefuses(t *testing.T) {
	for want, change := range map[string]func(*safetensors.Tensor){
		`no tensor "layer4.2.bn3.bias"`: func(x *safetensors.Tensor) { x.Name = strings.Replace(x.Name, "layer4.2.bn3.bias", "other", 1) },
		`"conv1.weight" has shape`: func(x *safetensors.Tensor) {
			if x.Name == "conv1.weight" {
				x.Shape = []int{64, 7, 7, 3}
			}
		},
	} {
		store := model.NewStore()
		if err := LoadTorch(store, torchFile(t, change)); err == nil || !strings.Contains(err.Error(), want) || store.NumVariables() != 0 {
			t.Errorf("error %v with %d variables, want %q and none", err, store.NumVariables(), want)
		}
	}
	if err := LoadTorch(model.NewStore(), "none"); err == nil {
		t.Error("no file: no error")
	}
}

package resnet

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/treeloss/treeloss/deep/internal/backendtest"
	"github.com/treeloss/treeloss/internal/safetensors"
)

// plane is a picture as PyTorch keeps it: channel, row, column.
type plane struct {
	c, h, w int
	x       []float64
}

func (p plane) at(c, y, x int) float64 {
	if y < 0 || y >= p.h || x < 0 || x >= p.w {
		return 0
	}
	return p.x[(c*p.h+y)*p.w+x]
}

// reference computes ResNet50's features in float64 from the tensors of a
// state_dict by their names, from the definitions of PyTorch's layers and nothing
// of GoMLX.
type reference map[string][]float32

// convolution is Conv2d(bias=False) with padding size/2.
func (r reference) convolution(p plane, name string, out, size, stride int) plane {
	w := r[name+".weight"]
	q := plane{c: out, h: (p.h-1)/stride + 1, w: (p.w-1)/stride + 1}
	q.x = make([]float64, q.c*q.h*q.w)
	var window []float64 // channel, row, column, as a kernel has them
	for y := range q.h {
		for x := range q.w {
			window = window[:0]
			for c := range p.c {
				for i := range size {
					for j := range size {
						window = append(window, p.at(c, y*stride+i-size/2, x*stride+j-size/2))
					}
				}
			}
			for o := range out {
				var sum float64
				for i, v := range w[o*len(window) : (o+1)*len(window)] {
					sum += float64(v) * window[i]
				}
				q.x[(o*q.h+y)*q.w+x] = sum
			}
		}
	}
	return q
}

// norm is BatchNorm2d in evaluation.
func (r reference) norm(p plane, name string) plane {
	q := plane{p.c, p.h, p.w, make([]float64, len(p.x))}
	for i, v := range p.x {
		c := i / (p.h * p.w)
		number := func(part string) float64 { return float64(r[name+"."+part][c]) }
		q.x[i] = (v-number("running_mean"))/math.Sqrt(number("running_var")+1e-5)*number("weight") + number("bias")
	}
	return q
}

func relu(p plane) plane {
	for i := range p.x {
		p.x[i] = max(p.x[i], 0)
	}
	return p
}

func (r reference) features(p plane) []float64 {
	p = relu(r.norm(r.convolution(p, "conv1", 64, 7, 2), "bn1"))
	pooled := plane{c: p.c, h: p.h / 2, w: p.w / 2} // MaxPool2d(3, 2, 1); nothing is below 0
	for c := range p.c {
		for y := range pooled.h {
			for x := range pooled.w {
				var most float64
				for i := -1; i <= 1; i++ {
					for j := -1; j <= 1; j++ {
						most = max(most, p.at(c, 2*y+i, 2*x+j))
					}
				}
				pooled.x = append(pooled.x, most)
			}
		}
	}
	p = pooled
	for stage, blocks := range []int{3, 4, 6, 3} {
		for block := range blocks {
			at := fmt.Sprintf("layer%d.%d.", stage+1, block)
			width, stride := 64<<stage, 1
			if stage > 0 && block == 0 {
				stride = 2
			}
			q := relu(r.norm(r.convolution(p, at+"conv1", width, 1, 1), at+"bn1"))
			q = relu(r.norm(r.convolution(q, at+"conv2", width, 3, stride), at+"bn2"))
			q = r.norm(r.convolution(q, at+"conv3", 4*width, 1, 1), at+"bn3")
			if block == 0 {
				p = r.norm(r.convolution(p, at+"downsample.0", 4*width, 1, stride), at+"downsample.1")
			}
			for i, v := range p.x {
				q.x[i] += v
			}
			p = relu(q)
		}
	}
	mean := make([]float64, p.c)
	for i, v := range p.x {
		mean[i/(p.h*p.w)] += v / float64(p.h*p.w)
	}
	return mean
}

// With weights of torchvision's names the features are those of an independent
// computation: kernels are turned rightly, strides and paddings are PyTorch's.
func TestResNet50EqualsReference(t *testing.T) {
	if testing.Short() {
		t.Skip("a forward pass of 25 million weights in plain loops, some seconds: left out by -short")
	}
	rng := rand.New(rand.NewPCG(9, 9))
	r := reference{}
	file := torchFile(t, func(tensor *safetensors.Tensor) {
		x := make([]float32, len(tensor.Data)/4)
		fan := 1.0
		for _, d := range tensor.Shape[1:] {
			fan *= float64(d)
		}
		for i := range x {
			switch {
			case len(tensor.Shape) > 1:
				x[i] = (rng.Float32() - 0.5) * float32(math.Sqrt(24/fan)) // of variance 2/fan
			case strings.HasSuffix(tensor.Name, "running_var"), strings.HasSuffix(tensor.Name, ".weight"):
				x[i] = 0.5 + rng.Float32()/2
			default:
				x[i] = 0.3 * (rng.Float32() - 0.5)
			}
		}
		r[tensor.Name] = x
		*tensor = safetensors.New(tensor.Name, x, tensor.Shape...)
	})
	store := model.NewStore()
	if err := LoadTorch(store, file); err != nil {
		t.Fatal(err)
	}
	const side = 32
	in := images(1, side)
	p := plane{c: 3, h: side, w: side, x: make([]float64, 3*side*side)}
	for i, v := range tensors.MustCopyFlatData[float32](in) {
		p.x[i%3*side*side+i/3] = float64(v)
	}
	got := tensors.MustCopyFlatData[float32](model.MustCallOnce(backendtest.Open(t), store, func(scope *model.Scope, x *graph.Node) *graph.Node {
		store.SetTraining(x.Graph(), false)
		return ResNet50(scope, x)
	}, in))
	want := r.features(p)
	scale := slices.Max(want)
	for i, v := range got {
		if !(math.Abs(float64(v)-want[i]) <= 1e-4*scale) {
			t.Fatalf("feature %d is %v, want %v, of at most %v", i, v, want[i], scale)
		}
	}
}

package resnet

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/treeloss/treeloss/deep"
	"github.com/treeloss/treeloss/deep/layer"
	"github.com/treeloss/treeloss/internal/safetensors"
)

// LoadTorch puts the weights of a ResNet50 from a safetensors file with the
// tensor names of torchvision and timm (conv1.weight, layer1.0.bn2.running_var)
// into a store, all but the last layer, fc, which belongs to other classes. Types
// F32, F16 and BF16 are read. A tensor that is missing or of another shape is an
// error that names it, and then the store is as it was.
func LoadTorch(store *model.Store, path string) error {
	f, err := safetensors.ReadFile(path)
	if err != nil {
		return err
	}
	byName := map[string]*safetensors.Tensor{}
	for i := range f.Tensors {
		byName[f.Tensors[i].Name] = &f.Tensors[i]
	}
	values := map[string]*tensors.Tensor{}
	take := func(name, variable string, dims ...int) error {
		t := byName[name]
		if t == nil {
			return fmt.Errorf("resnet: %s has no tensor %q; want a ResNet50 with the names of torchvision or timm", path, name)
		}
		if !slices.Equal(t.Shape, dims) {
			return fmt.Errorf("resnet: %s: tensor %q has shape %v, want %v", path, name, t.Shape, dims)
		}
		x, err := t.Float32s()
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		// Kernels are [out, in, height, width] there, [height, width, in, out] here.
		if len(dims) == 4 {
			x = channelsLast(x, dims)
			dims = []int{dims[2], dims[3], dims[1], dims[0]}
		}
		values["/"+scope50+"/"+variable] = tensors.FromFlatDataAndDimensions(slices.Clone(x), dims...)
		return nil
	}
	for _, u := range units50() {
		if err := take(u.convolution+".weight", u.scope+"/"+layer.Kernel, u.out, u.in, u.size, u.size); err != nil {
			return err
		}
		for name, variable := range map[string]string{"weight": layer.Scale, "bias": layer.Offset, "running_mean": layer.Mean, "running_var": layer.Variance} {
			if err := take(u.norm+"."+name, u.scope+"/"+variable, u.out); err != nil {
				return err
			}
		}
	}
	for variable, value := range values {
		if err := deep.Put(store, variable, value); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// unit50 is a convolution and its norm: where they are here, and what they are
// called there.
type unit50 struct {
	scope, convolution, norm string
	in, out, size            int
}

// units50 lists the 53 convolutions of a ResNet50 with their norms, in the order of
// the network.
func units50() []unit50 {
	units := []unit50{{"stem", "conv1", "bn1", 3, 64, 7}}
	in := 64
	for stage, blocks := range blocks50 {
		for block := range blocks {
			here := fmt.Sprintf("layer%d_%d/", stage+1, block)
			there := fmt.Sprintf("layer%d.%d.", stage+1, block)
			c := 64 << stage
			for n, u := range []unit50{{in: in, out: c, size: 1}, {in: c, out: c, size: 3}, {in: c, out: 4 * c, size: 1}} {
				number := strconv.Itoa(n + 1)
				u.scope, u.convolution, u.norm = here+number, there+"conv"+number, there+"bn"+number
				units = append(units, u)
			}
			if block == 0 {
				units = append(units, unit50{here + "downsample", there + "downsample.0", there + "downsample.1", in, 4 * c, 1})
			}
			in = 4 * c
		}
	}
	return units
}

// channelsLast turns a kernel [out, in, height, width] into [height, width, in,
// out].
func channelsLast(x []float32, d []int) []float32 {
	y := make([]float32, len(x))
	for o := range d[0] {
		for i := range d[1] {
			for p := range d[2] * d[3] {
				y[(p*d[1]+i)*d[0]+o] = x[(o*d[1]+i)*d[2]*d[3]+p]
			}
		}
	}
	return y
}

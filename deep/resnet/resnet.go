// Package resnet has the residual networks of the paper's experiments (He et al.
// 2016), without their last layer, so that any head can follow. LoadTorch reads
// weights of a ResNet50 with the names of torchvision and timm.
package resnet

import (
	"fmt"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/treeloss/treeloss/deep/layer"
)

// Features20 is the number of features of ResNet20.
const Features20 = 64

// ResNet20 returns the features, [batch, 64], of images [batch, 32, 32, 3]; sides
// may be any multiple of 4. Its shortcuts are those of the original for CIFAR
// (option A): where a stage halves the sides, every other pixel and channels of
// zeros. It has 269,072 trained numbers; a plain head of 100 classes brings them
// to 275,572.
func ResNet20(scope *model.Scope, images *graph.Node) *graph.Node {
	scope = scope.In("resnet20")
	x := rectified(unit(scope.In("stem"), checked(images), 16, 3, 1))
	for stage := range 3 {
		for block := range 3 {
			x = basicBlock(scope.In("stage%d_block%d", stage+1, block+1), x, 16<<stage, strideOf(stage, block))
		}
	}
	return graph.ReduceMean(x, 1, 2)
}

// checked panics if images have not four axes.
func checked(images *graph.Node) *graph.Node {
	if images.Rank() != 4 {
		panic(fmt.Errorf("resnet: images have shape %s, want [batch, height, width, channels]", images.Shape()))
	}
	return images
}

// strideOf returns the stride of a block: the first of each stage but the first
// halves the sides.
func strideOf(stage, block int) int {
	if stage > 0 && block == 0 {
		return 2
	}
	return 1
}

// rectified is max(x, 0).
func rectified(x *graph.Node) *graph.Node { return graph.Max(x, graph.ZerosLike(x)) }

// basicBlock is two 3x3 convolutions and a shortcut past them.
func basicBlock(scope *model.Scope, x *graph.Node, channels, stride int) *graph.Node {
	y := rectified(unit(scope.In("first"), x, channels, 3, stride))
	y = unit(scope.In("second"), y, channels, 3, 1)
	// Option A: the shortcut has no weights.
	if stride > 1 {
		more := channels - x.Shape().Dimensions[3]
		x = layer.ZeroChannels(layer.Subsample(x, stride), more/2, more-more/2)
	}
	return rectified(graph.Add(x, y))
}

// unit is a convolution and its batch norm.
func unit(scope *model.Scope, x *graph.Node, out, size, stride int) *graph.Node {
	return layer.BatchNorm(scope, layer.Convolution(scope, x, out, size, stride))
}

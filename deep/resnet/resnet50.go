package resnet

import (
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/treeloss/treeloss/deep/layer"
)

// Features50 is the number of features of ResNet50.
const Features50 = 2048

// blocks50 are the blocks of the four stages.
var blocks50 = [4]int{3, 4, 6, 3}

// ResNet50 returns the features, [batch, 2048], of images [batch, height, width,
// 3] whose sides are multiples of 32, 224 for ImageNet. It is version 1.5, that
// of torchvision and timm: a bottleneck strides in its 3x3 convolution. With a
// plain head of 1000 classes it has 25,557,032 trained numbers. LoadTorch reads
// trained weights.
func ResNet50(scope *model.Scope, images *graph.Node) *graph.Node {
	scope = scope.In(scope50)
	x := layer.MaxPool(rectified(unit(scope.In("stem"), checked(images), 64, 7, 2)))
	for stage, blocks := range blocks50 {
		for block := range blocks {
			x = bottleneck(scope.In("layer%d_%d", stage+1, block), x, 64<<stage, strideOf(stage, block))
		}
	}
	return graph.ReduceMean(x, 1, 2)
}

// scope50 is the scope of all variables of a ResNet50.
const scope50 = "resnet50"

// bottleneck narrows to a number of channels, convolves, and widens to four times
// as many; its shortcut is a 1x1 convolution where the shape changes.
func bottleneck(scope *model.Scope, x *graph.Node, channels, stride int) *graph.Node {
	y := rectified(unit(scope.In("1"), x, channels, 1, 1))
	y = rectified(unit(scope.In("2"), y, channels, 3, stride))
	y = unit(scope.In("3"), y, 4*channels, 1, 1)
	if stride > 1 || x.Shape().Dimensions[3] != 4*channels {
		x = unit(scope.In("downsample"), x, 4*channels, 1, stride)
	}
	return rectified(graph.Add(x, y))
}

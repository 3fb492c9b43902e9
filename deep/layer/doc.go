// Package layer has the layers of the networks of package deep that GoMLX lacks
// or that do not train there: batch normalisation with its true gradient, and
// convolutions padded as PyTorch pads them, with a stride that works on every
// backend. Images are [batch, height, width, channels].
//
// As graph functions do, these panic on shapes that do not fit.
package layer

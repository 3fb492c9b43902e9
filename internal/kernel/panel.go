package kernel

import "math"

// A panel is a matrix whose rows, one a class or node, are panelCols long and
// follow each other; a column is an example. These are the plain Go versions of
// the kernels on panels.

// columnsTopGo adds the bias of each row and finds the largest number of each column: what
// exp subtracts, so that no score is too large for it.
func columnsTopGo(z, bias []float32, rows int, top []float32) {
	nr := plain.panelCols()
	for j := range nr {
		top[j] = float32(math.Inf(-1))
	}
	for i := range rows {
		for j := range nr {
			z[i*nr+j] += bias[i]
			top[j] = max(top[j], z[i*nr+j])
		}
	}
}

// columnsExpGo replaces scores by exp(score - top) and sets sum to their sums by column, the
// denominators of the softmax.
func columnsExpGo(z []float32, rows int, top []float32, sum []float64) {
	nr := plain.panelCols()
	clear(sum[:nr])
	for i := range rows {
		for j := range nr {
			e := math.Exp(float64(z[i*nr+j] - top[j]))
			z[i*nr+j] = float32(e)
			sum[j] += e
		}
	}
}

// scaleColumnsGo multiplies each column by its factor, and sets sum to the sums of the rows:
// the gradient in the bias.
func scaleColumnsGo(z []float32, rows int, factor, sum []float32) {
	nr := plain.panelCols()
	for i := range rows {
		sum[i] = 0
		for j := range nr {
			z[i*nr+j] *= factor[j]
			sum[i] += z[i*nr+j]
		}
	}
}

// kernelRowsGo replaces each column by K times it, K = A Aᵀ of a tree: a pass up, in which
// each node gets the sum over its subtree (Aᵀ but for the roots of the lengths), and one
// down, in which it gets length times that plus what its parent has.
func kernelRowsGo(f *Tree, z []float32) {
	nr, classes := plain.panelCols(), len(f.classParent)
	row := func(i int) []float32 { return z[i*nr : (i+1)*nr] }
	clear(row(f.Rows() - 1))
	for i := len(f.nodeParent) - 1; i >= 0; i-- {
		to := row(classes + i)
		clear(to)
		for _, c := range f.child[f.start[i]:f.start[i+1]] {
			addGo(row(int(c)), to)
		}
	}
	down := func(first int, parent []int32, length []float32) {
		for i, p := range parent {
			to := row(first + i)
			scaleGo(length[i], to)
			addGo(row(int(p)), to)
		}
	}
	down(classes, f.nodeParent, f.nodeLength)
	down(0, f.classParent, f.classLength)
}

// stepTileGo makes a tile of the gradient, g x, and steps with it before the next is made, so
// that no gradient is ever stored.
func stepTileGo(height, inner int, g []float32, gStride int, x, w, v []float32, stride, cols int, f *factors) {
	const nr = 4
	for i := range height {
		var sum [nr]float32
		for b := range inner {
			a, y := g[b/nr*gStride+i*nr+b%nr], x[b*nr:][:nr]
			for j := range sum {
				sum[j] += a * y[j]
			}
		}
		stepRowGo(w[i*stride:i*stride+cols], v[i*stride:], sum[:], f)
	}
}

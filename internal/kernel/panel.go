package kernel

import "math"

// A panel is a matrix whose rows, one a class or node, are panelCols long and
// follow each other; a column is an example. These are the plain Go versions of
// the kernels on panels.

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

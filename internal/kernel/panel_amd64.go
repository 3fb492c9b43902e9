//go:build amd64 && !noasm

package kernel

// The functions below check what the assembly trusts: that rows lie within the
// slices. Row numbers inside a tree come from NewTree, which checked them.

// columnsTop32 is columnsTopGo on a panel.
func columnsTop32(k kind, z, bias []float32, rows int, top []float32) {
	if k == plain {
		columnsTopGo(z, bias, rows, top)
		return
	}
	mustHold(rows > 0)
	_, _, _ = z[rows*k.panelCols()-1], bias[rows-1], top[k.panelCols()-1]
	if k == avx512 {
		columnsTopAVX512(first(z), first(bias), rows, first(top))
	} else {
		columnsTopAVX2(first(z), first(bias), rows, first(top))
	}
}

// columnsExp32 is columnsExpGo on a panel.
func columnsExp32(k kind, z []float32, rows int, top []float32, sum []float64) {
	if k == plain {
		columnsExpGo(z, rows, top, sum)
		return
	}
	mustHold(rows > 0)
	_, _, _ = z[rows*k.panelCols()-1], sum[k.panelCols()-1], top[k.panelCols()-1]
	if k == avx512 {
		columnsExpAVX512(first(z), rows, first(top), first(sum))
	} else {
		columnsExpAVX2(first(z), rows, first(top), first(sum))
	}
}

// scaleColumns32 sets sum (panelCols/16 x rows) to the sums over groups of 16
// columns, or all 4 in plain Go.
func scaleColumns32(k kind, z []float32, rows int, factor, sum []float32) {
	if k == plain {
		scaleColumnsGo(z, rows, factor, sum)
		return
	}
	nr := k.panelCols()
	mustHold(rows > 0)
	_, _, _ = z[rows*nr-1], factor[nr-1], sum[nr/16*rows-1]
	if k == avx512 {
		scaleColumnsAVX512(first(z), rows, first(factor), first(sum))
	} else {
		scaleColumnsAVX2(first(z), rows, first(factor), first(sum))
	}
}

// kernelRows32 is the K pass of a tree, in place, on the panel z, which has
// room for the rows of the tree.
func kernelRows32(k kind, f *Tree, z []float32) {
	if k == plain {
		kernelRowsGo(f, z)
		return
	}
	nr, classes, nodes := k.panelCols(), len(f.classParent), len(f.nodeParent)
	clear(z[(f.Rows()-1)*nr : f.Rows()*nr])
	if k == avx512 {
		sumChildrenAVX512(first(z), classes, first(f.start), first(f.child), nodes)
		addParentsAVX512(first(z), classes, first(f.nodeParent), first(f.nodeLength), nodes)
		addParentsAVX512(first(z), 0, first(f.classParent), first(f.classLength), classes)
	} else {
		sumChildrenAVX2(first(z), classes, first(f.start), first(f.child), nodes)
		addParentsAVX2(first(z), classes, first(f.nodeParent), first(f.nodeLength), nodes)
		addParentsAVX2(first(z), 0, first(f.classParent), first(f.classLength), classes)
	}
}

// stepTile32 makes a step on a piece of the weights w and the velocities v
// (height x cols, rows stride numbers apart) with the gradient g x. g (height x
// inner) lies in panels, gStride numbers apart; x (inner x panelCols) is a panel.
// Where cols does not fill a register the rest of it takes the step too. Cache
// lines are asked for as by prefetch, from w on.
func stepTile32(k kind, height, inner int, g []float32, gStride int, x, w, v []float32, stride, cols int, f *factors, lines []int) {
	if k == plain {
		stepTileGo(height, inner, g, gStride, x, w, v, stride, cols, f)
		return
	}
	nr := k.panelCols()
	mustHold(height > 0 && height <= k.tileRows() && inner > 0 && cols > 0 && cols <= nr && gStride >= 0 && stride >= 0)
	piece, rest := (inner-1)/nr, (inner-1)%nr
	end := (height-1)*stride + ceil(cols, nr/2)*nr/2 - 1
	_, _, _, _ = g[piece*gStride+(height-1)*nr+rest], x[inner*nr-1], w[end], v[end]
	line, step := asked(lines, inner)
	if k == avx512 {
		stepTileAVX512(height, inner, first(g), 4*gStride, first(x), first(w), first(v), 4*stride, cols, &f[0][0], line, step)
	} else {
		stepTileAVX2(height, inner, first(g), 4*gStride, first(x), first(w), first(v), 4*stride, cols, &f[0][0], line, step)
	}
}

// mustHold panics if a size is wrong, which is a bug in this package.
func mustHold(ok bool) {
	if !ok {
		panic("kernel: rows of the wrong size")
	}
}

// stepRow32 makes a step on one row of weights and velocities.
func stepRow32(k kind, w, v, grad []float32, f *factors) {
	n := len(w)
	v, grad = v[:n], grad[:n]
	switch {
	case n < short || k == plain:
		stepRowGo(w, v, grad, f)
	case k == avx512:
		stepRowAVX512(first(w), first(v), first(grad), n, &f[0][0])
	default:
		stepRowAVX2(first(w), first(v), first(grad), n, &f[0][0])
	}
}

// advance32 is Advance on a kind.
func advance32(k kind, f [4]float32, w, v []float32) {
	n := len(w)
	v = v[:n]
	switch {
	case n < short || k == plain:
		advanceGo(f, w, v)
	case k == avx512:
		advanceAVX512(f[0], f[1], f[2], f[3], first(w), first(v), n)
	default:
		advanceAVX2(f[0], f[1], f[2], f[3], first(w), first(v), n)
	}
}

// scaleAdd32 is ScaleAdd on a kind.
func scaleAdd32(k kind, a float32, w []float32, b float32, x []float32) {
	n := len(w)
	x = x[:n]
	switch {
	case n < short || k == plain:
		scaleAddGo(a, w, b, x)
	case k == avx512:
		scaleAddAVX512(a, first(w), b, first(x), n)
	default:
		scaleAddAVX2(a, first(w), b, first(x), n)
	}
}

// stepOuter32 is stepRow32 with the gradient a x, a row of an outer product.
func stepOuter32(k kind, w, v []float32, a float32, x []float32, f *factors) {
	n := len(w)
	v, x = v[:n], x[:n]
	switch {
	case k == plain:
		stepOuterGo(w, v, a, x, f)
	case k == avx512:
		stepOuterAVX512(first(w), first(v), a, first(x), n, &f[0][0])
	default:
		stepOuterAVX2(first(w), first(v), a, first(x), n, &f[0][0])
	}
}

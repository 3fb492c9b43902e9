package kernel

import "github.com/treeloss/treeloss/matrix"

// Step is an SGD step as a linear map: with the gradient g, w becomes
// WW w + WV v + WG g and v becomes VW w + VV v + VG g.
type Step[T matrix.Float] struct{ WW, WV, WG, VW, VV, VG T }

// Factors is a Step made ready for many rows.
type Factors[T matrix.Float] struct {
	step   Step[T]
	spread *factors
}

// factors are those of a step as the assembly reads them.
type factors [6][16]float32

// NewFactors makes a step ready. It allocates.
func NewFactors[T matrix.Float](s Step[T]) Factors[T] {
	f := new(factors)
	for i, x := range [6]T{s.WW, s.WV, s.WG, s.VW, s.VV, s.VG} {
		for j := range f[i] {
			f[i][j] = float32(x)
		}
	}
	return Factors[T]{s, f}
}

// Apply makes the step on weights w and velocities v with the gradient grad.
// v and grad must be at least as long as w.
func (f Factors[T]) Apply(w, v, grad []T) {
	if fast && isFloat32[T]() {
		stepRow32(best, float32s(w), float32s(v), float32s(grad), f.spread)
		return
	}
	s := f.step
	v, grad = v[:len(w)], grad[:len(w)]
	for j, g := range grad {
		x, y := w[j], v[j]
		w[j], v[j] = s.WW*x+s.WV*y+s.WG*g, s.VW*x+s.VV*y+s.VG*g
	}
}

// Advance makes a step without a gradient: w becomes ww w + wv v, v becomes
// vw w + vv v. len(v) must be at least len(w).
func Advance[T matrix.Float](ww, wv, vw, vv T, w, v []T) {
	if fast && isFloat32[T]() {
		advance32(best, [4]float32{float32(ww), float32(wv), float32(vw), float32(vv)}, float32s(w), float32s(v))
		return
	}
	advanceGo([4]T{ww, wv, vw, vv}, w, v)
}

// advanceGo is Advance one number at a time; f is ww, wv, vw, vv.
func advanceGo[T matrix.Float](f [4]T, w, v []T) {
	v = v[:len(w)]
	for j, y := range v {
		x := w[j]
		w[j], v[j] = f[0]*x+f[1]*y, f[2]*x+f[3]*y
	}
}

// ScaleAdd sets w to a*w + b*x. len(x) must be at least len(w).
func ScaleAdd[T matrix.Float](a T, w []T, b T, x []T) {
	if fast && isFloat32[T]() {
		scaleAdd32(best, float32(a), float32s(w), float32(b), float32s(x))
		return
	}
	scaleAddGo(a, w, b, x)
}

// scaleAddGo is ScaleAdd one number at a time.
func scaleAddGo[T matrix.Float](a T, w []T, b T, x []T) {
	x = x[:len(w)]
	for j, y := range x {
		w[j] = a*w[j] + b*y
	}
}

// stepOuterGo is stepRowGo with the gradient a x.
func stepOuterGo(w, v []float32, a float32, x []float32, f *factors) {
	v, x = v[:len(w)], x[:len(w)]
	for j, y := range x {
		p, q, g := w[j], v[j], a*y
		w[j] = f[0][0]*p + f[1][0]*q + f[2][0]*g
		v[j] = f[3][0]*p + f[4][0]*q + f[5][0]*g
	}
}

// stepRowGo makes the step that f has spread out for the assembly: f[0] to f[5] are WW, WV,
// WG, VW, VV and VG of Step.
func stepRowGo(w, v, grad []float32, f *factors) {
	for j, x := range w {
		y, g := v[j], grad[j]
		w[j] = f[0][0]*x + f[1][0]*y + f[2][0]*g
		v[j] = f[3][0]*x + f[4][0]*y + f[5][0]*g
	}
}

// Fetch asks for the cache lines of x, which will be read soon, and does not
// wait for them. It changes nothing.
func Fetch[T matrix.Float](x []T) {
	if fast && isFloat32[T]() && len(x) > 0 {
		// One line more: x may begin within one.
		fetchRows32(float32s(x), 0, 1, ceil(len(x), 16)+1)
	}
}

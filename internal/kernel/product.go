package kernel

import "fmt"

// Rect is a row-major matrix of float32: row i is X[i*Stride : i*Stride+Cols].
type Rect struct {
	X                  []float32
	Rows, Cols, Stride int
}

// check panics if the rows do not lie within X: a bug in the caller.
func (r Rect) check(rows, cols int) {
	if r.Rows != rows || r.Cols != cols || r.Stride < r.Cols {
		panic(fmt.Sprintf("kernel: a matrix of %d x %d, stride %d, where %d x %d is wanted", r.Rows, r.Cols, r.Stride, rows, cols))
	}
	if rows > 0 && cols > 0 {
		_ = r.X[(rows-1)*r.Stride+cols-1]
	}
}

// Product multiplies matrices: NN is a b, NT is a bᵀ, TN is aᵀ b. The result is
// written over what stood in c, which must not overlap a or b. A wrong shape
// is a bug in the caller and panics.
//
// Each number of c is added up in the order of the inner index, by multiply-adds
// where there are vector instructions, so its bits depend on neither the
// number of threads nor the other rows and columns.
//
// A product costs 2*rows*inner*cols operations and copies a or b in the order
// in which they are read. Memory for that is kept between calls: after the
// first call of a size there is no allocation. A Product is for one goroutine
// at a time.
type Product struct {
	team    *Team
	kind    kind
	packed  []float32   // panels of b
	scratch [][]float32 // of each worker

	// The product at hand.
	c                      Rect
	a, b                   []float32
	layout                 layout // of a
	aStride, bStride       int
	aRows, cols, inner     int // of all
	bTransposed            bool
	add                    bool // to what stands in c
	jLo, jHi, lLo, lHi     int  // block of columns and of the inner index
	blocks, group          int  // row blocks of a, and how many a task has
	copyA                  bool
	inPlace                bool // b is read where it lies
	pack, multiply, turned func(worker, task int)
}

// NewProduct returns a Product whose large products are shared by the team;
// nil: one thread.
func NewProduct(team *Team) *Product { return newProduct(best, team) }

// newProduct is NewProduct on a kind.
func newProduct(k kind, team *Team) *Product {
	p := &Product{kind: k, team: team, scratch: make([][]float32, team.Threads())}
	p.pack, p.multiply, p.turned = p.packPanel, p.multiplyRows, p.multiplyTurned
	return p
}

const (
	// innerBlock x 14 numbers of a fit the first cache, innerBlock x colBlock
	// of b the second.
	innerBlock = 384
	colBlock   = 768
	// smallProduct is the number of multiply-adds below which waking another
	// goroutine costs more than it saves.
	smallProduct = 1_500_000
	// smallMatrix is up to how many numbers b is not packed: half of the first
	// cache.
	smallMatrix = 8192
	// turnedRows is how many rows of bᵀ are done at a time where c is
	// computed in columns: a multiple of 16 and of the tallest tile.
	turnedRows = 112
)

// NN sets c (m x n) to a (m x l) b (l x n).
func (p *Product) NN(c, a, b Rect) {
	c.check(a.Rows, b.Cols)
	a.check(a.Rows, b.Rows)
	b.check(b.Rows, b.Cols)
	p.run(c, a, byRows, b, false)
}

// AddNN adds a (m x l) b (l x n) to c (m x n): each number of c is where its sum
// begins.
func (p *Product) AddNN(c, a, b Rect) {
	p.add = true
	p.NN(c, a, b)
	p.add = false
}

// NT sets c (m x n) to a (m x l) bᵀ, b being n x l.
func (p *Product) NT(c, a, b Rect) {
	c.check(a.Rows, b.Rows)
	a.check(a.Rows, b.Cols)
	b.check(b.Rows, b.Cols)
	if small := (a.Rows + b.Rows) * a.Rows; b.Rows*b.Cols > a.Rows*(b.Rows+b.Cols) && small < 1<<20 && a.Cols > 0 && a.Rows > 0 {
		p.turn(c, a, b)
		return
	}
	p.run(c, a, byRows, b, true)
}

// TN sets c (m x n) to aᵀ b, a being l x m and b l x n.
func (p *Product) TN(c, a, b Rect) {
	c.check(a.Cols, b.Cols)
	a.check(b.Rows, a.Cols)
	b.check(b.Rows, b.Cols)
	p.run(c, a, byCols, b, false)
}

// share runs tasks on the team if the product is worth it.
func (p *Product) share(tasks int, work func(worker, task int)) {
	if p.aRows*p.cols*p.inner < smallProduct {
		for i := range tasks {
			work(0, i)
		}
		return
	}
	p.team.Run(tasks, work)
}

// run multiplies a, or its transpose where it is read by columns, by b.
func (p *Product) run(c, a Rect, l layout, b Rect, bTransposed bool) {
	inner := a.Cols
	if l == byCols {
		inner = a.Rows
	}
	if c.Rows == 0 || c.Cols == 0 {
		return
	}
	if inner == 0 {
		if p.add {
			return
		}
		for i := range c.Rows {
			clear(c.X[i*c.Stride : i*c.Stride+c.Cols])
		}
		return
	}
	p.c, p.a, p.layout, p.aStride = c, a.X, l, a.Stride
	p.b, p.bStride, p.bTransposed = b.X, b.Stride, bTransposed
	p.inner, p.aRows, p.cols = inner, c.Rows, c.Cols
	p.blocks = ceil(c.Rows, p.kind.tileRows())
	p.group = max(1, min(8, p.blocks/(4*p.team.Threads())))
	nr := p.kind.panelCols()
	// A number of a serves each panel; where its row stride is a multiple of
	// half a page, rows would push each other out of the first cache.
	p.copyA = c.Cols > 2*nr && (l == byCols || a.Stride%512 == 0)
	// A small b whose panels are full is in the first cache as it is.
	p.inPlace = !bTransposed && c.Cols%nr == 0 && inner*b.Stride <= smallMatrix
	inners := ceil(inner, innerBlock)
	if !p.inPlace {
		p.packed = grow(p.packed, ceil(inner, inners)*ceil(min(c.Cols, colBlock), nr)*nr)
	}
	for p.jLo = 0; p.jLo < c.Cols; p.jLo = p.jHi {
		p.jHi = min(p.jLo+colBlock, c.Cols)
		for i := range inners {
			p.lLo, p.lHi = cut(inner, inners, i)
			if !p.inPlace {
				p.share(ceil(p.jHi-p.jLo, nr), p.pack)
			}
			p.share(ceil(p.blocks, p.group), p.multiply)
		}
	}
	p.c, p.a, p.b = Rect{}, nil, nil
}

// grow returns a slice of n numbers of any value, x itself if it has room.
func grow(x []float32, n int) []float32 {
	if cap(x) < n {
		return make([]float32, n)
	}
	return x[:n]
}

// panel returns the packed panel of a number.
func (p *Product) panel(n int) []float32 {
	size := (p.lHi - p.lLo) * p.kind.panelCols()
	return p.packed[n*size : (n+1)*size]
}

// columns returns the columns of b from j on, in a panel or where they lie, and
// the distance of their rows.
func (p *Product) columns(j int) (b []float32, stride int) {
	if p.inPlace {
		return p.b[p.lLo*p.bStride+j:], p.bStride
	}
	nr := p.kind.panelCols()
	return p.panel((j - p.jLo) / nr), nr
}

// packPanel copies a panel of the block of b.
func (p *Product) packPanel(_, n int) {
	nr := p.kind.panelCols()
	j := p.jLo + n*nr
	cols, inner := min(nr, p.jHi-j), p.lHi-p.lLo
	if p.bTransposed {
		transposeRows(p.kind, p.panel(n), nr, p.b[j*p.bStride+p.lLo:], p.bStride, cols, inner)
		return
	}
	copyRows32(p.kind, p.panel(n), nr, p.b[p.lLo*p.bStride+j:], p.bStride, inner, cols)
}

// multiplyRows does the row blocks of a task.
func (p *Product) multiplyRows(worker, task int) {
	nr, inner := p.kind.panelCols(), p.lHi-p.lLo
	for block := task * p.group; block < min((task+1)*p.group, p.blocks); block++ {
		lo, hi := cut(p.c.Rows, p.blocks, block)
		a, aStride := p.a[p.layout.at(p.aStride, lo, p.lLo):], p.aStride
		if p.copyA {
			a, aStride = p.copied(worker, a, hi-lo, inner)
		}
		for j := p.jLo; j < p.jHi; j += nr {
			b, bStride := p.columns(j)
			tile32(p.kind, p.layout, hi-lo, inner, a, aStride, b, bStride,
				p.c.X[lo*p.c.Stride+j:], p.c.Stride, min(nr, p.jHi-j), p.add || p.lLo > 0, prefetch{})
		}
	}
}

// copied returns a copy of rows of a that lies close together, in the same layout.
func (p *Product) copied(worker int, a []float32, rows, inner int) (copied []float32, stride int) {
	if p.layout == byCols {
		s := grow(p.scratch[worker], rows*inner)
		p.scratch[worker] = s
		copyRows32(p.kind, s, rows, a, p.aStride, inner, rows)
		return s, rows
	}
	stride = inner + 16
	s := grow(p.scratch[worker], rows*stride)
	p.scratch[worker] = s
	for i := range rows {
		copy(s[i*stride:i*stride+inner], a[i*p.aStride:])
	}
	return s, stride
}

// turn is NT where b is much larger than a: it computes cᵀ = b aᵀ, for which
// only a is packed, and turns the result around a few columns at a time.
func (p *Product) turn(c, a, b Rect) {
	nr := p.kind.panelCols()
	p.c, p.a, p.aStride = c, b.X, b.Stride
	p.b, p.bStride, p.bTransposed = a.X, a.Stride, true
	p.aRows, p.cols, p.inner = b.Rows, a.Rows, b.Cols
	p.jLo, p.jHi, p.lLo, p.lHi = 0, a.Rows, 0, b.Cols
	p.packed = grow(p.packed, ceil(a.Rows, nr)*nr*p.inner)
	p.share(ceil(a.Rows, nr), p.pack)
	p.share(ceil(b.Rows, turnedRows), p.turned)
	p.c, p.a, p.b = Rect{}, nil, nil
}

// multiplyTurned computes up to turnedRows columns of c as rows, from rows of b and the packed
// a, in scratch memory that stays in the second cache, and turns them into their place.
func (p *Product) multiplyTurned(worker, task int) {
	nr := p.kind.panelCols()
	lo := task * turnedRows
	rows := min(turnedRows, p.aRows-lo)
	width := ceil(p.cols, nr) * nr
	s := grow(p.scratch[worker], turnedRows*width)
	p.scratch[worker] = s
	// Tiles in s follow each other as panels: rows x nr.
	blocks, inners := ceil(rows, p.kind.tileRows()), ceil(p.inner, innerBlock)
	for part := range inners {
		lLo, lHi := cut(p.inner, inners, part)
		for block := range blocks {
			i, iHi := cut(rows, blocks, block)
			a := p.a[(lo+i)*p.aStride+lLo:]
			for j := 0; j < p.cols; j += nr {
				tile32(p.kind, byRows, iHi-i, lHi-lLo, a, p.aStride, p.panel(j / nr)[lLo*nr:], nr,
					s[j*rows+i*nr:], nr, min(nr, p.cols-j), lLo > 0, prefetch{})
			}
		}
	}
	for j := 0; j < p.cols; j += nr {
		transposeRows(p.kind, p.c.X[j*p.c.Stride+lo:], p.c.Stride, s[j*rows:], nr, rows, min(nr, p.cols-j))
	}
}

package softmax

import (
	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
)

const (
	// predictRows is how many dense rows are scored as one product: enough that
	// packing the weights costs little.
	predictRows = 256
	// predictScores bounds the scores of these rows, 16 MB.
	predictScores = 1 << 22
)

// predictDense is PredictAll for dense rows; scored visits the scores instead, which
// cost no exponentials.
func (l *Layer) predictDense(x *matrix.Dense, threads int, scored bool, visit func(row int, p []float32)) {
	outputs, n := len(l.Bias), x.Rows()
	grain := max(1, min(predictRows, predictScores/outputs))
	team := kernel.NewTeam(min(kernel.Threads(threads), (n+grain-1)/grain))
	defer team.Close()
	workers := make([]*densePredictor, team.Threads())
	team.Run((n+grain-1)/grain, func(worker, block int) {
		w := workers[worker]
		if w == nil {
			w = &densePredictor{product: kernel.NewProduct(nil), scores: make([]float32, min(grain, n)*outputs),
				p: make([]float32, l.Classes), spare: make([]float32, outputs)}
			workers[worker] = w
		}
		lo, hi := block*grain, min((block+1)*grain, n)
		w.score(l, x, lo, hi)
		for i := lo; i < hi; i++ {
			scores := w.scores[(i-lo)*outputs : (i-lo+1)*outputs]
			if scored {
				visit(i, scores)
				continue
			}
			l.normalise(w.p, w.spare, scores)
			visit(i, w.p)
		}
	})
}

// densePredictor is the memory of one goroutine.
type densePredictor struct {
	product          *kernel.Product
	scores, p, spare []float32
}

// fewRows is up to which number of rows packing the weights costs more than
// it saves.
const fewRows = 6

// score sets w.scores to the scores of rows lo..hi-1 of x.
func (w *densePredictor) score(l *Layer, x *matrix.Dense, lo, hi int) {
	outputs := len(l.Bias)
	if hi-lo <= fewRows {
		for i := lo; i < hi; i++ {
			l.Scores(w.scores[(i-lo)*outputs:(i-lo+1)*outputs], nil, x.Row(i))
		}
		return
	}
	for i := range hi - lo {
		copy(w.scores[i*outputs:], l.Bias)
	}
	w.product.AddNN(
		kernel.Rect{X: w.scores, Rows: hi - lo, Cols: outputs, Stride: outputs},
		kernel.Rect{X: x.Data[lo*x.Columns : hi*x.Columns], Rows: hi - lo, Cols: x.Columns, Stride: x.Columns},
		kernel.Rect{X: l.Weight, Rows: x.Columns, Cols: outputs, Stride: outputs})
}

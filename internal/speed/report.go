package speed

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/treeloss/treeloss/covertree"
	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/metric"
	"github.com/treeloss/treeloss/softmax"
)

// Options sets up Run. The zero value measures in a few seconds.
type Options struct {
	Threads int           // of the rows with several; 0: one a CPU
	Budget  time.Duration // of timing for each row; 0 means 150 ms
	Tiny    bool          // sizes that take no time and say nothing, for tests
}

// Row is one measurement.
type Row struct {
	Name    string  `json:"name"`
	Size    string  `json:"size"`
	Threads int     `json:"threads"`
	Seconds float64 `json:"seconds"` // median of one call
	Rate    float64 `json:"rate"`    // how much of Unit in a second
	Unit    string  `json:"unit"`
	Ratio   float64 `json:"ratio,omitempty"` // time over that of the row before, which took turns with it
}

// Report is what a machine can do.
type Report struct {
	Instructions string `json:"instructions"` // avx512, avx2 or go: what runs the float32 loops
	OS           string `json:"os"`
	Arch         string `json:"arch"`
	CPUs         int    `json:"cpus"`
	Results      []Row  `json:"results"`
}

// Run measures everything and calls visit, if it is not nil, after each row. It
// ends early, with an error and the rows so far, when ctx is cancelled.
func Run(ctx context.Context, opts Options, visit func(Row)) (Report, error) {
	r := &run{
		Report:  Report{Instructions: kernel.Instructions(), OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU()},
		budget:  opts.Budget,
		threads: []int{1},
		visit:   visit,
	}
	if r.budget == 0 {
		r.budget = 150 * time.Millisecond
	}
	if n := kernel.Threads(opts.Threads); n > 1 {
		r.threads = append(r.threads, n)
	}
	shrink := func(n int) int { return n }
	// A twentieth of every size, and as few calls as a median can have.
	if opts.Tiny {
		r.budget = time.Microsecond
		shrink = func(n int) int { return (n + 19) / 20 }
	}
	shape := func(b, d, k int) Shape { return Shape{shrink(b), shrink(d), shrink(k)} }
	// The last layer of a deep net of 1,000 classes, and a small net's.
	large, small := shape(256, 768, 1000), shape(128, 64, 100)
	for _, part := range []func(){
		func() { r.products(large) },
		func() { r.products(shape(256, 300, 150)) },
		func() { r.products(small) },
		func() { r.softmax(large) },
		func() { r.steps(large) },
		func() { r.steps(shape(64, 768, 1000)) },
		func() { r.steps(small) },
		func() { r.epochs(ctx, shrink(13500), shrink(50000), shrink(150)) },
		func() { r.coverTree(shrink(10000), 50) },
		func() { r.coverTree(shrink(100000), 50) },
		func() { r.predict(shrink(768), shrink(1000)) },
	} {
		if ctx.Err() == nil {
			part()
		}
	}
	if err := ctx.Err(); err != nil {
		return r.Report, fmt.Errorf("speed: stopped after %d rows: %w", len(r.Results), err)
	}
	return r.Report, nil
}

// run is a report that is being made.
type run struct {
	Report
	budget  time.Duration
	threads []int
	visit   func(Row)
}

// add adds a row of which one call does an amount of its unit.
func (r *run) add(row Row, amount float64) {
	row.Rate = amount / max(row.Seconds, math.SmallestNonzeroFloat64)
	r.Results = append(r.Results, row)
	if r.visit != nil {
		r.visit(row)
	}
}

// products measures the three matrix products of a step: the scores X Wᵀ, the gradient
// of the weights Gᵀ X, and that of the rows G W, which a deep net passes on.
func (r *run) products(s Shape) {
	x, w, g := Random(1, s.B*s.D), Random(2, s.K*s.D), Random(3, s.B*s.K)
	scores, gradient, back := make([]float32, s.B*s.K), make([]float32, s.K*s.D), make([]float32, s.B*s.D)
	for _, threads := range r.threads {
		team := kernel.NewTeam(threads)
		p := kernel.NewProduct(team)
		t := Medians(Wall(), r.budget,
			func() { p.NT(Rect(scores, s.B, s.K), Rect(x, s.B, s.D), Rect(w, s.K, s.D)) },
			func() { p.TN(Rect(gradient, s.K, s.D), Rect(g, s.B, s.K), Rect(x, s.B, s.D)) },
			func() { p.NN(Rect(back, s.B, s.D), Rect(g, s.B, s.K), Rect(w, s.K, s.D)) })
		for i, form := range []string{"X W^T", "G^T X", "G W"} {
			r.add(Row{Name: "product " + form, Size: s.String(), Threads: threads, Seconds: t[i], Unit: "GFLOP"}, s.flops()/1e9)
		}
		team.Close()
	}
}

// String is the size of a row of the report.
func (s Shape) String() string { return fmt.Sprintf("B=%d d=%d k=%d", s.B, s.D, s.K) }

// softmax measures the softmax of a batch of scores, and that of a loop with
// math.Exp.
func (r *run) softmax(s Shape) {
	x, p := Random(1, s.B*s.K), make([]float32, s.B*s.K)
	byRow := func(softmax func(p, x []float32)) func() {
		return func() {
			for i := range s.B {
				softmax(p[i*s.K:(i+1)*s.K], x[i*s.K:(i+1)*s.K])
			}
		}
	}
	t := Medians(Wall(), r.budget, byRow(PlainSoftmax), byRow(func(p, x []float32) { kernel.Softmax(p, x) }))
	size, numbers := fmt.Sprintf("%d x %d", s.B, s.K), float64(s.B*s.K)/1e6
	r.add(Row{Name: "softmax by math.Exp", Size: size, Threads: 1, Seconds: t[0], Unit: "M numbers"}, numbers)
	r.add(Row{Name: "softmax", Size: size, Threads: 1, Seconds: t[1], Unit: "M numbers", Ratio: t[1] / t[0]}, numbers)
}

// steps measures training steps on dense rows, without and with a tree. A step takes two
// products, scores and gradient: the rows are data and need none.
func (r *run) steps(s Shape) {
	for _, threads := range r.threads {
		plain, stopPlain := Dense(threads, s, false)
		tree, stopTree := Dense(threads, s, true)
		t := Medians(Wall(), r.budget, plain, tree)
		stopPlain()
		stopTree()
		for i := range t {
			t[i] /= StepsAnEpoch
		}
		r.add(Row{Name: "training step", Size: s.String(), Threads: threads, Seconds: t[0], Unit: "GFLOP"}, 2*s.flops()/1e9)
		r.add(Row{Name: "training step, tree", Size: s.String(), Threads: threads, Seconds: t[1], Unit: "GFLOP", Ratio: t[1] / t[0]}, 2*s.flops()/1e9)
	}
}

// epochs measures an epoch of SGD on sparse text, all rows once.
func (r *run) epochs(ctx context.Context, rows, features, classes int) {
	ex := Text(rows, features, classes)
	size := fmt.Sprintf("%d texts, d=%d k=%d", rows, features, classes)
	for _, threads := range r.threads {
		epoch, stop := Epochs(ctx, ex, classes, softmax.Options{Trainer: softmax.SGD{}, Threads: threads})
		t := Medians(Wall(), r.budget, epoch)
		stop()
		r.add(Row{Name: "epoch on sparse text", Size: size, Threads: threads, Seconds: t[0], Unit: "k texts"}, float64(rows)/1e3)
	}
}

// coverTree measures the building of a cover tree over points in clusters; a tenth of
// the budget, as one call takes longer than that.
func (r *run) coverTree(k, d int) {
	space, err := metric.Euclidean(Points(k, d))
	if err != nil {
		return // not for finite points
	}
	t := Medians(Wall(), r.budget/10, func() {
		_, _ = covertree.New(space, covertree.Options{})
	})
	r.add(Row{Name: "cover tree", Size: fmt.Sprintf("k=%d d=%d", k, d), Threads: 1, Seconds: t[0], Unit: "k points"}, float64(k)/1e3)
}

// predict measures the probabilities of one row, dense and sparse, with the softmax, on
// the caller's goroutine as a server would.
func (r *run) predict(d, k int) {
	l := NewLayer(d, k)
	x, p, scratch := Random(1, d), make([]float32, k), make([]float32, 2*k)
	text := Text(1, 4*d, 2).X.(*matrix.Sparse)
	words := NewLayer(4*d, k)
	index, value := text.Row(0)
	t := Medians(Wall(), r.budget,
		func() { l.Probabilities(p, scratch, nil, x) },
		func() { words.Probabilities(p, scratch, index, value) })
	r.add(Row{Name: "predict a dense row", Size: fmt.Sprintf("d=%d k=%d", d, k), Threads: 1, Seconds: t[0], Unit: "k rows"}, 1e-3)
	r.add(Row{Name: "predict a text", Size: fmt.Sprintf("%d words, k=%d", len(index), k), Threads: 1, Seconds: t[1], Unit: "k rows"}, 1e-3)
}

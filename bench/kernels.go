package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/internal/speed"
)

// The shapes of the rows: the last layer of a large net with a large and with a small
// batch, and that of a small net.
var (
	large  = speed.Shape{B: 256, D: 768, K: 1000}
	middle = speed.Shape{B: 64, D: 768, K: 1000}
	small  = speed.Shape{B: 128, D: 64, K: 100}
)

// products reads the table of the program openblas, which runs both sides of its rows in
// turns, call by call, on one core.
func (s *suite) products() error {
	if s.openblas == "" {
		return errors.New("no program openblas: it needs cgo and OpenBLAS's development files")
	}
	cmd := exec.Command(s.openblas, "-seconds", fmt.Sprint(s.budget.Seconds()*float64(s.rounds)))
	cmd.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS=1")
	var out []byte
	err := onOneCore(func() (err error) {
		out, err = cmd.Output()
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", s.openblas, err)
	}
	s.readProducts(out)
	return nil
}

// readProducts makes rows of the table of the program openblas: shape, form, and how
// fast OpenBLAS and we are.
func (s *suite) readProducts(table []byte) {
	line := regexp.MustCompile(`(?m)^(\d+,\d+,\d+) +(NT|TN|NN|gemv) +([\d.]+) (GF/s|us) +([\d.]+) (?:GF/s|us) +([\d.]+)`)
	for _, m := range line.FindAllSubmatch(table, -1) {
		shape, form := string(m[1]), string(m[2])
		number := func(i int) float64 {
			x, _ := strconv.ParseFloat(string(m[i]), 64)
			return x
		}
		bar := productBar(form, shape)
		if form == "gemv" {
			s.add("predict one row "+shape+" / OpenBLAS sgemv", number(5)*1e-6, number(3)*1e-6, seconds, bar)
		} else { // GFLOP/s: the ratio is ours over theirs, so their inverses stand for times
			s.add("product "+form+" "+shape+" / OpenBLAS", 1/number(5), 1/number(3), func(t float64) string { return fmt.Sprintf("%.3g GF/s", 1/t) }, bar)
		}
	}
}

// productBar returns what a product should reach of OpenBLAS's speed; 0 is no bar. NT and
// TN, scores and gradient, are in every step, and are asked more of at the shapes that are
// used; NN is for nets that pass a gradient on.
func productBar(form, shape string) float64 {
	usual := slices.Contains([]string{"256,768,1000", "256,300,150", "128,64,100"}, shape)
	switch {
	case form == "gemv" && shape == "1,768,1000":
		return 1
	case form == "gemv":
		return 0
	case form != "NN" && usual:
		return 0.9
	}
	return 0.8
}

// gonum compares the product X Wᵀ with that of gonum.
func (s *suite) gonum() error {
	product := kernel.NewProduct(nil)
	for _, shape := range []speed.Shape{large, {B: 256, D: 300, K: 150}, small} {
		b, d, k := shape.B, shape.D, shape.K
		x, w, scores := speed.Random(1, b*d), speed.Random(2, k*d), make([]float32, b*k)
		t, core, err := s.quietTurns(1,
			s.timed(cpu, func() { product.NT(speed.Rect(scores, b, k), speed.Rect(x, b, d), speed.Rect(w, k, d)) }),
			// gonum takes all processors for large products: CPU time counts them.
			s.timed(cpu, func() { gonum.Implementation{}.Sgemm(blas.NoTrans, blas.Trans, b, k, d, 1, x, d, w, d, 0, scores, k) }))
		if err != nil {
			return err
		}
		s.add(fmt.Sprintf("product NT %d,%d,%d / gonum", b, d, k), t[0], t[1], seconds, 0).core = core
	}
	return nil
}

// softmax compares with the loops that one writes with math.Exp, on scores of 256
// rows and 1000 classes.
func (s *suite) softmax() error {
	const rows, cols = 256, 1000
	x, p := speed.Random(1, rows*cols), make([]float32, rows*cols)
	byRow := func(softmax func(p, x []float32)) side {
		return s.timed(cpu, func() {
			for r := range rows {
				softmax(p[r*cols:(r+1)*cols], x[r*cols:(r+1)*cols])
			}
		})
	}
	t, core, err := s.quietTurns(1,
		byRow(func(p, x []float32) { kernel.Softmax(p, x) }), byRow(speed.PlainSoftmax),
		s.timed(cpu, func() { kernel.Exp(p, x) }),
		s.timed(cpu, func() {
			for i, v := range x {
				p[i] = float32(math.Exp(float64(v)))
			}
		}))
	if err != nil {
		return err
	}
	s.add("softmax 256 x 1000 / loop with math.Exp", t[0], t[1], seconds, 15).core = core
	s.add("exp 256 x 1000 / loop with math.Exp", t[2], t[3], seconds, 0).core = core
	return nil
}

// steps compares training steps with PyTorch's, on one thread and on two.
func (s *suite) steps() error {
	if err := onOneCore(func() error { return s.stepsOn(1) }); err != nil {
		return err
	}
	return s.stepsOn(2)
}

// stepsOn compares on a number of threads, which PyTorch is told too. With two, only the
// large shape has a bar: the others take less time than threads to wake.
func (s *suite) stepsOn(threads int) error {
	p, err := s.peer(threads, "torch")
	if err != nil {
		return err
	}
	clock, clockName := clockOf(threads)
	for _, tc := range []struct {
		shape     speed.Shape
		zero, non float64 // bars: gradients zeroed, the default then; set to none
	}{{large, 1.6, 1.4}, {middle, 2.2, 2.2}, {small, 5, 5}} {
		step, stop := s.step(clock, threads, tc.shape, false)
		task := func(none bool) map[string]any {
			return map[string]any{"task": "step", "b": tc.shape.B, "d": tc.shape.D, "k": tc.shape.K, "none": none, "seconds": s.budget.Seconds() / shorter, "clock": clockName, "threads": threads}
		}
		// PyTorch by its default of the time, gradients set to zero, and set to none.
		t, core, err := s.quietTurns(threads, step, p.side(task(false)), p.side(task(true)))
		stop()
		if err != nil {
			return err
		}
		if threads == 2 && tc.shape != large {
			tc.zero, tc.non = 0, 0
		}
		name := fmt.Sprintf("training step %d,%d,%d, threads %d / PyTorch", tc.shape.B, tc.shape.D, tc.shape.K, threads)
		s.add(name, t[0], t[1], seconds, tc.zero).core = core
		s.add(name+", set_to_none", t[0], t[2], seconds, tc.non).core = core
	}
	return nil
}

// step returns a side that times our steps, a whole epoch at a time, and what ends
// the fit.
func (s *suite) step(clock speed.Clock, threads int, shape speed.Shape, tree bool) (side, func()) {
	epoch, stop := speed.Dense(threads, shape, tree)
	timed := s.timed(clock, epoch)
	return func() (float64, error) {
		t, err := timed()
		return t / speed.StepsAnEpoch, err
	}, stop
}

// treeSteps compares our steps with each other: with a tree and without, and on two
// threads and one.
func (s *suite) treeSteps() error {
	err := onOneCore(func() error {
		for _, tc := range []struct {
			shape speed.Shape
			bar   float64
		}{{large, 1.05}, {speed.Shape{B: 256, D: 300, K: 150}, 1.05}, {middle, 1.05}, {small, 1.10}} {
			tree, stopTree := s.step(cpu, 1, tc.shape, true)
			plain, stopPlain := s.step(cpu, 1, tc.shape, false)
			t, core, err := s.quietTurns(1, tree, plain)
			stopTree()
			stopPlain()
			if err != nil {
				return err
			}
			s.addAtMost(fmt.Sprintf("tree step / cross entropy step %d,%d,%d", tc.shape.B, tc.shape.D, tc.shape.K), t[0], t[1], tc.bar).core = core
		}
		return nil
	})
	if err != nil {
		return err
	}
	// By the bar two threads do at least half as much again as one.
	two, stopTwo := s.step(speed.Wall(), 2, large, false)
	defer stopTwo()
	one, stopOne := s.step(speed.Wall(), 1, large, false)
	defer stopOne()
	t, core, err := s.quietTurns(2, two, one)
	if err != nil {
		return err
	}
	s.add("training step 256,768,1000: 2 threads / 1 thread (ours)", t[0], t[1], seconds, 1.5).core = core
	return nil
}

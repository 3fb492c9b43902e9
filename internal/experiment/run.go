package experiment

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/kernel"
)

// Progress tells how far Run has come.
type Progress struct {
	Sweep    string  // that the last cell belongs to
	Done     int     // cells, those found in the store included
	Total    int     // cells
	Computed int     // cells computed by this call
	Fraction float64 // share of the estimated work of this call that is done, 0..1
}

// Run computes what is missing of the cells of some experiments and returns the
// results of all. Each cell depends on the options and its own name only, so
// results do not depend on the number of threads, or on whether a run was
// interrupted and resumed. On a cancelled context it returns an error that says
// how far it came; finished cells are in the store.
func Run(ctx context.Context, names []Name, opts Options) (*Results, error) {
	r, err := compute(ctx, names, opts, dataset.Shard{Index: 0, Count: 1})
	if err != nil {
		return nil, err
	}
	return r.results(), nil
}

// RunShard computes what is missing of one part of the cells and puts them into the store,
// opts.Store. The parts take about the same time each.
func RunShard(ctx context.Context, names []Name, opts Options, shard dataset.Shard) error {
	_, err := compute(ctx, names, opts, shard)
	return err
}

// compute does what is missing of a part of the cells.
func compute(ctx context.Context, names []Name, opts Options, shard dataset.Shard) (*runner, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &runner{opts: opts, store: cmp.Or(opts.Store, &Store{cells: map[string]Values{}})}
	for _, name := range names {
		sweeps, err := Sweeps(name, opts)
		if err != nil {
			return nil, err
		}
		for i := range sweeps {
			r.add(&sweeps[i])
		}
	}
	r.plan(shard)
	return r, r.work(ctx)
}

// runner does the cells of one call of Run.
type runner struct {
	opts   Options
	store  *Store
	sweeps []*Sweep
	jobs   []job

	mutex    sync.Mutex
	progress Progress
	cost     float64 // of what this call has to compute
	paid     float64
}

// job is one run of a sweep, whose cells share draws; later what is missing of it. A thread
// takes a job and not a cell, so that each draw is made once.
type job struct {
	sweep *Sweep
	run   int
	tasks []task
	cost  float64
}

// task is one cell to compute.
type task struct {
	name     string
	point    Point
	protocol Protocol
	methods  []Method
	cost     float64
}

// normsProtocol stands in the names of cells of Norms, which train nothing.
const normsProtocol Protocol = "norms"

// cells lists the cells of one run of a sweep.
func (r *runner) cells(s *Sweep, run int) (tasks []task) {
	add := func(x float64, p Point, protocol Protocol, methods []Method) {
		t := task{cellName(s, x, run, protocol), p, protocol, methods, 0}
		t.cost = t.work()
		tasks = append(tasks, t)
	}
	if s.Experiment == Norms {
		if run < r.opts.Runs {
			for _, p := range s.Points {
				add(p.X, p, normsProtocol, nil)
			}
		}
		return tasks
	}
	for _, protocol := range r.opts.Protocols {
		if run >= r.opts.runs(protocol) {
			continue
		}
		if len(s.Shared) > 0 {
			add(math.NaN(), s.Points[0], protocol, s.Shared)
		}
	}
	for _, p := range s.Points { // the point outside, as it decides which draws are needed
		for _, protocol := range r.opts.Protocols {
			if run < r.opts.runs(protocol) {
				add(p.X, p, protocol, s.Methods)
			}
		}
	}
	return tasks
}

// work estimates the cost of a task, in no unit: multiplications, with what training and
// testing an example cost beside them. Draws of the test set count where they are
// made, 40 for a normal number.
func (t task) work() float64 {
	n, d, k, m := float64(t.point.N), float64(t.point.D), float64(t.point.K), float64(len(t.methods))
	draws, test := TestRows*d*40, TestRows*m*(k*d+40*k)
	switch t.protocol {
	case normsProtocol:
		return 400 * k * k
	case Paper:
		return draws + 2*test + m*n*(5*k*d+k*k+500)
	case OnePass:
		return 2*test + m*float64(len(Rates()))*(n*(5*k*d+k*k+500)+ValidationRows*2*(k*d+40*k))
	}
	return test + m*float64(len(Priors()))*40*n*(2*k*d+20*k)
}

// add plans a sweep.
func (r *runner) add(s *Sweep) {
	r.sweeps = append(r.sweeps, s)
	for run := range max(r.opts.Runs, r.opts.TunedRuns) {
		j := job{sweep: s, run: run, tasks: r.cells(s, run)}
		for _, t := range j.tasks {
			j.cost += t.cost
		}
		r.jobs = append(r.jobs, j)
	}
}

// plan deals the jobs to the shards, by cost and not by what is missing, which other
// processes may be changing, and leaves of its own what is missing. The long ones come first so that no thread is
// left with one at the end.
func (r *runner) plan(shard dataset.Shard) {
	longest := func(a, b job) int { return cmp.Compare(b.cost, a.cost) }
	slices.SortStableFunc(r.jobs, longest)
	var missing []job
	for i, j := range r.jobs {
		if i%shard.Count != shard.Index {
			continue
		}
		all := j.tasks
		j.tasks, j.cost = nil, 0
		for _, t := range all {
			r.progress.Total++
			if _, ok := r.store.get(t.name); ok {
				r.progress.Done++
				continue
			}
			j.tasks = append(j.tasks, t)
			j.cost += t.cost
		}
		if len(j.tasks) > 0 {
			missing = append(missing, j)
			r.cost += j.cost
		}
	}
	slices.SortStableFunc(missing, longest)
	r.jobs = missing
}

// work does all jobs.
func (r *runner) work(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// The longest jobs are first; one that fails ends those that have not begun.
	kernel.Parallel(r.opts.Threads, len(r.jobs), 1, func(i, _, _ int) {
		if ctx.Err() != nil {
			return
		}
		if err := r.do(ctx, r.jobs[i]); err != nil {
			cancel(err)
		}
	})
	if ctx.Err() != nil {
		return fmt.Errorf("experiment: stopped after %d of %d cells: %w", r.progress.Done, r.progress.Total, context.Cause(ctx))
	}
	return nil
}

// do does one job: its cells one after the other, with a draw for each k and d. Each is put
// into the store as it is done, so that an interruption costs one cell.
func (r *runner) do(ctx context.Context, j job) error {
	var g *draw
	n := 0
	for _, p := range j.sweep.Points {
		n = max(n, p.N)
	}
	for _, t := range j.tasks {
		if err := ctx.Err(); err != nil {
			return err
		}
		if g == nil || g.k != t.point.K || g.d != t.point.D {
			test := r.opts.testRows
			if t.protocol == normsProtocol {
				test = 0
			}
			opts := r.opts
			opts.Truth = j.sweep.Truth
			g = newDraw(opts, j.run, t.point.K, t.point.D, n, test)
		}
		c := &cell{opts: r.opts, draw: g, point: t.point, protocol: t.protocol, methods: t.methods}
		compute := func() (Values, error) { return c.compute(ctx) }
		if t.protocol == normsProtocol {
			compute = c.norms
		}
		v, err := compute()
		if err != nil {
			return fmt.Errorf("experiment: cell %s: %w", t.name, err)
		}
		if err := r.store.put(t.name, v); err != nil {
			return err
		}
		r.report(j.sweep, t)
	}
	return nil
}

// report tells the progress after a task, its share of the work by the estimates.
func (r *runner) report(s *Sweep, t task) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.paid += t.cost
	p := &r.progress
	p.Sweep, p.Done, p.Computed, p.Fraction = s.Name, p.Done+1, p.Computed+1, min(1, r.paid/r.cost)
	if r.opts.Progress != nil {
		r.opts.Progress(*p)
	}
}

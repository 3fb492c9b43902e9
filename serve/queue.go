package serve

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/decide"
)

// job is what a request asks of a model.
type job struct {
	ctx      context.Context
	examples []dataset.Example
	rule     decide.Rule

	answers []classify.Answer // one an example
	all     []float32         // examples x k, all probabilities; nil: not wanted

	open  atomic.Int64 // parts that are not done
	done  chan struct{}
	mutex sync.Mutex
	err   error // of the first example with one, as far as known
	errAt int
}

// part is a run of the examples of a job.
type part struct {
	*job
	lo, hi int
}

// fail keeps the error of an example, of several that of the first: the answer to a request
// with two wrong examples does not depend on which goroutine was faster.
func (j *job) fail(at int, err error) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	if j.err == nil || at < j.errAt {
		j.err, j.errAt = err, at
	}
}

// exampleError says which example of a request is wrong.
type exampleError struct {
	at  int
	err error
}

func (e *exampleError) Error() string { return fmt.Sprintf("example %d: %v", e.at+1, e.err) }
func (e *exampleError) Unwrap() error { return e.err }

// errBusy says that too many examples wait.
var errBusy = errors.New("too many requests wait; ask again in a second")

// queue holds what waits for a model:
//
//	do: job --> parts of at most batchSize --> channel --> worker: batch --> Runner
//	 ^                                                                        |
//	 `---------- done, when the last part is <--- answers by the rule <-------'
//
// Each of its goroutines has a Runner, and takes what waits at a moment as one batch, but
// no more than its share and batchSize. Nobody
// waits for a batch to fill: while one is answered the next gathers, so that batches are
// small where there is little to do, and large where a network would fall behind. How
// examples are put together changes no bit of an answer, by the promise of Runner.
//
// The queue is bounded by examples, not by requests, as these are what takes time. The
// channel has room for as many parts, so that sending never blocks.
type queue struct {
	about   classify.About
	parts   chan part
	limit   int64
	waiting atomic.Int64 // examples
	workers sync.WaitGroup
	batches prometheus.Observer // examples of each
	width   int                 // goroutines
}

// batchSize is how many examples go through a model together, and how many of one
// request do before others have their turn: as many as a network takes at once.
const batchSize = 100

func newQueue(about classify.About, runners []classify.Runner, limit int, batches prometheus.Observer) *queue {
	q := &queue{about: about, parts: make(chan part, limit), limit: int64(limit), batches: batches, width: len(runners)}
	for _, run := range runners {
		q.workers.Go(func() { (&worker{queue: q, run: run, rules: make(map[decide.Rule]*classify.Answerer)}).work() })
	}
	return q
}

// close ends the goroutines when nothing waits any more. Nobody may do from then on.
func (q *queue) close() {
	close(q.parts)
	q.workers.Wait()
}

// do runs a job and waits for it; after an error of its context it may still run, so that
// the job is not to be used again. A queue without room is errBusy at once: who waits for a
// place in a queue has an answer too late anyway. A wrong example is an *exampleError.
func (q *queue) do(j *job) error {
	n := len(j.examples)
	if q.waiting.Add(int64(n)) > q.limit {
		q.waiting.Add(int64(-n))
		return errBusy
	}
	j.answers, j.done = make([]classify.Answer, n), make(chan struct{})
	j.open.Store(int64((n + batchSize - 1) / batchSize))
	for lo := 0; lo < n; lo += batchSize {
		q.parts <- part{j, lo, min(lo+batchSize, n)} // has room for one part an example
	}
	select {
	case <-j.done:
	case <-j.ctx.Done():
		return j.ctx.Err()
	}
	if j.err != nil {
		return &exampleError{j.errAt, j.err}
	}
	return nil
}

// worker is one goroutine of a queue.
type worker struct {
	*queue
	run   classify.Runner
	rules map[decide.Rule]*classify.Answerer
	batch []part
	live  []part // of these, whose clients still wait
	block []dataset.Example
}

// work answers until the queue is closed and empty.
func (w *worker) work() {
	for p := range w.parts {
		w.batch = append(w.batch[:0], p)
		n := p.hi - p.lo
		for share := w.share(); n < share; {
			select {
			case p, more := <-w.parts:
				if more {
					w.batch, n = append(w.batch, p), n+p.hi-p.lo
					continue
				}
			default:
			}
			break
		}
		w.batches.Observe(float64(n))
		w.answer()
		w.waiting.Add(int64(-n))
		for _, p := range w.batch {
			if p.open.Add(-1) == 0 {
				close(p.done)
			}
		}
		clear(w.batch) // so that nothing keeps a request in memory
		clear(w.live)
		clear(w.block)
	}
}

// share is how many examples one of the goroutines should take now: ⌈waiting / width⌉, so
// that few examples are spread over all cores, and at most batchSize.
func (w *worker) share() int {
	return min(batchSize, (int(w.waiting.Load())+w.width-1)/w.width)
}

// answer answers the batch as a whole or, if there is an error in it, each request by
// itself, so that nobody has the error of another: twice the work, for batches with a
// wrong example. Requests whose clients have gone, or whose time is over, are left out.
func (w *worker) answer() {
	live := w.live[:0]
	for _, p := range w.batch {
		if err := p.ctx.Err(); err != nil {
			p.fail(p.lo, err)
			continue
		}
		live = append(live, p)
	}
	w.live = live
	if len(live) > 1 && w.together(live) == nil {
		return
	}
	for i, p := range live {
		if err := w.together(live[i : i+1]); err != nil {
			at := p.lo
			if e, ok := errors.AsType[*exampleError](err); ok {
				at, err = e.at, e.err
			}
			p.fail(at, err)
		}
	}
}

// together answers some parts as one block. A panic of a model is an error of theirs; one
// on this goroutine would else end the process with all its requests. The context is that
// of the request where there is only one: a batch of several goes on when one of them is
// given up.
func (w *worker) together(parts []part) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &panicError{r, debug.Stack()}
		}
	}()
	w.block = w.block[:0]
	ctx := context.Background()
	for _, p := range parts {
		w.block = append(w.block, p.examples[p.lo:p.hi]...)
	}
	if len(parts) == 1 {
		ctx = parts[0].ctx
	}
	i, from := 0, 0 // the part that is visited, and its place in the block
	n, err := w.run(ctx, w.block, func(at int, p []float32) error {
		for at-from >= parts[i].hi-parts[i].lo {
			from += parts[i].hi - parts[i].lo
			i++
		}
		j, place := parts[i].job, parts[i].lo+at-from
		a, err := w.answerer(j.rule)
		if err != nil {
			return err
		}
		if j.answers[place], err = a.Answer(p); err != nil {
			return err
		}
		if j.all != nil {
			copy(j.all[place*len(p):], p)
		}
		return nil
	})
	if err != nil {
		return &exampleError{parts[0].lo + n, err}
	}
	return nil
}

// answerer returns that of a rule. Few rules are in use at a time; where a client tries
// many, the buffers of all are made anew now and then: a rule is a client's choice, and must
// not fill memory.
func (w *worker) answerer(rule decide.Rule) (*classify.Answerer, error) {
	if a := w.rules[rule]; a != nil {
		return a, nil
	}
	a, err := classify.NewAnswerer(w.about, rule, nil)
	if err != nil {
		return nil, err
	}
	if len(w.rules) >= 8 {
		clear(w.rules)
	}
	w.rules[rule] = a
	return a, nil
}

// panicError is a bug of ours, or of a library.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

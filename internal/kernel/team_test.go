package kernel

import (
	"sync/atomic"
	"testing"
	"time"
)

func TestTeamDoesEachTaskOnce(t *testing.T) {
	for _, threads := range []int{1, 2, 5, 0} {
		team := NewTeam(threads)
		for _, tasks := range []int{0, 1, 2, 7, 100, 3} {
			count, busy := make([]atomic.Int32, tasks), make([]atomic.Int32, team.Threads())
			team.Run(tasks, func(worker, task int) {
				if busy[worker].Add(1) != 1 {
					t.Errorf("worker %d has two tasks at a time", worker)
				}
				count[task].Add(1)
				busy[worker].Add(-1)
			})
			for i := range count {
				if n := count[i].Load(); n != 1 {
					t.Errorf("%d threads, %d tasks: task %d came %d times", threads, tasks, i, n)
				}
			}
		}
		team.Close()
		team.Run(2, func(worker, _ int) {
			if worker != 0 {
				t.Error("a closed team has workers")
			}
		})
	}
}

// TestTeamPhasesInTurn has tasks look whether those of the phase before are done.
func TestTeamPhasesInTurn(t *testing.T) {
	for _, threads := range []int{1, 2, 5} {
		team := NewTeam(threads)
		for round := range 300 {
			tasks := [...]int{1 + round%7, 0, 40, 1, round % 3}
			var done [len(tasks)]atomic.Int32
			phases := make([]Phase, len(tasks))
			for n := range phases {
				phases[n] = Phase{tasks[n], func(_, task int) {
					if task < 0 || task >= tasks[n] {
						t.Errorf("phase %d has no task %d", n, task)
					}
					for before := range n {
						if got := int(done[before].Load()); got != tasks[before] {
							t.Errorf("phase %d began when %d of %d tasks of phase %d were done", n, got, tasks[before], before)
						}
					}
					done[n].Add(1)
				}}
			}
			team.RunPhases(phases)
			for n := range phases {
				if got := int(done[n].Load()); got != tasks[n] {
					t.Errorf("%d threads: %d of %d tasks of phase %d", threads, got, tasks[n], n)
				}
			}
		}
		team.Close()
	}
}

func TestNoTeamIsOneThread(t *testing.T) {
	var team *Team
	sum := 0
	team.Run(4, func(worker, task int) { sum += worker + task })
	team.Close()
	if sum != 6 || team.Threads() != 1 {
		t.Errorf("sum %d on %d threads, want 6 on 1", sum, team.Threads())
	}
}

func TestTeamDoesEachPartOnce(t *testing.T) {
	for _, parts := range []int{1, 2, 5} {
		team := NewTeam(parts)
		count := make([]int, parts) // plain: a run ends before the next begins
		for round := range 2000 {
			if round%500 == 499 { // long enough to fall asleep
				time.Sleep(3 * time.Millisecond)
			}
			team.RunParts(func(part int) { count[part]++ })
			for part, n := range count {
				if n != round+1 {
					t.Fatalf("%d parts: part %d was done %d times in %d rounds", parts, part, n, round+1)
				}
			}
		}
		if n := testing.AllocsPerRun(10, func() { team.Run(7, func(_, _ int) {}) }); n != 0 {
			t.Errorf("%d threads: a run allocates %v times", parts, n)
		}
		team.Close()
	}
	var none *Team
	calls := 0
	none.RunParts(func(part int) { calls += 1 + part })
	if calls != 1 {
		t.Errorf("without a team %d parts, want part 0 once", calls)
	}
}

// A team whose helpers never wake does its work all the same, and a part that
// takes long does not keep others from the rest.
func TestTeamDoesTheWorkOfTheLate(t *testing.T) {
	alone := &Team{taken: make([]atomic.Bool, 3), caller: newSleeper()}
	for range 2 {
		alone.helpers = append(alone.helpers, &helper{sleeper: newSleeper()})
	}
	var done [3]int
	for range 2 {
		alone.RunParts(func(part int) { done[part]++ })
	}
	if done != [3]int{2, 2, 2} {
		t.Errorf("without helpers the parts were done %v times in 2 rounds", done)
	}
	sum := 0
	alone.Run(4, func(worker, task int) { sum += 10*worker + task })
	if sum != 6 {
		t.Errorf("without helpers the sum over tasks is %d, want 6", sum)
	}
	team := NewTeam(4)
	defer team.Close()
	var rest atomic.Int32
	team.RunParts(func(part int) {
		for part == 1 && rest.Load() < 3 {
			time.Sleep(time.Microsecond)
		}
		rest.Add(1)
	})
	if rest.Load() != 4 {
		t.Errorf("%d of 4 parts are done", rest.Load())
	}
}

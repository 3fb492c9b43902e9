package kernel

import (
	"sync/atomic"
	"testing"
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

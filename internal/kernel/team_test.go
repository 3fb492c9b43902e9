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

func TestNoTeamIsOneThread(t *testing.T) {
	var team *Team
	sum := 0
	team.Run(4, func(worker, task int) { sum += worker + task })
	team.Close()
	if sum != 6 || team.Threads() != 1 {
		t.Errorf("sum %d on %d threads, want 6 on 1", sum, team.Threads())
	}
}

package kernel

import (
	"sync/atomic"
	"testing"
	"time"
)

func TestCrewDoesEachPartOnce(t *testing.T) {
	for _, parts := range []int{1, 2, 5} {
		crew := NewCrew(parts)
		if crew.Parts() != parts {
			t.Errorf("%d parts, want %d", crew.Parts(), parts)
		}
		count := make([]int, parts) // plain: a round ends before the next begins
		for round := range 2000 {
			if round%500 == 499 { // long enough to fall asleep
				time.Sleep(3 * time.Millisecond)
			}
			crew.Run(func(part int) { count[part]++ })
			for part, n := range count {
				if n != round+1 {
					t.Fatalf("%d parts: part %d was done %d times in %d rounds", parts, part, n, round+1)
				}
			}
		}
		crew.Close()
	}
	var none *Crew
	calls := 0
	none.Run(func(part int) { calls += 1 + part })
	none.Close()
	if calls != 1 || none.Parts() != 1 {
		t.Errorf("without a crew %d of %d parts, want part 0 once", calls, none.Parts())
	}
}

// A crew whose helpers never wake does its work all the same, and a part that
// takes long does not keep others from the rest.
func TestCrewDoesThePartsOfTheLate(t *testing.T) {
	alone := &Crew{taken: make([]atomic.Int64, 3)}
	var done [3]int
	for range 2 {
		alone.Run(func(part int) { done[part]++ })
	}
	if done != [3]int{2, 2, 2} {
		t.Errorf("without helpers the parts were done %v times in 2 rounds", done)
	}
	crew := NewCrew(4)
	defer crew.Close()
	var rest atomic.Int32
	crew.Run(func(part int) {
		for part == 1 && rest.Load() < 3 {
			time.Sleep(time.Microsecond)
		}
		rest.Add(1)
	})
	if rest.Load() != 4 {
		t.Errorf("%d of 4 parts are done", rest.Load())
	}
}

package train

import "time"

// pace is how fast a run is, to tell the time that is left.
type pace struct {
	first    time.Duration // the first step, which also compiles
	steps    int           // after the first
	took     time.Duration // of these
	evaluate time.Duration // the last evaluation; 0: none yet
}

// step takes the time of one more step.
func (p *pace) step(took time.Duration) {
	if p.first == 0 {
		p.first = max(took, 1)
		return
	}
	p.steps++
	p.took += took
}

// left is the time that some more steps and evaluations take,
//
//	steps took / (steps so far) + evaluations (the last evaluation)
//
// without the first step, which compiles. Before the second a step takes what the first took.
func (p *pace) left(steps, evaluations int) time.Duration {
	one := float64(p.first)
	if p.steps > 0 {
		one = float64(p.took) / float64(p.steps)
	}
	return time.Duration(float64(steps)*one + float64(evaluations)*float64(p.evaluate))
}

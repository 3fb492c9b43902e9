package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/treeloss/treeloss/softmax"
)

// progress draws a bar with the stage, the loss, the rate and the time left, on
// a terminal only. The zero value of everything but app is ready.
type progress struct {
	app      *app
	stage    string
	examples int // of one step, for the rate; 0: no rate
	began    time.Time
	drawn    time.Time
	wide     int
}

const (
	barWidth    = 24
	barInterval = 100 * time.Millisecond
)

// report is a tune.Options.Progress.
func (b *progress) report(stage string, p softmax.Progress) {
	if b.app.quiet || !b.app.onTerminal() {
		return
	}
	now := time.Now()
	if stage != b.stage || p.Step == 1 {
		b.stage, b.began = stage, now
	}
	if p.Fraction < 1 && now.Sub(b.drawn) < barInterval {
		return
	}
	b.drawn = now
	b.draw(barLine(stage, p, now.Sub(b.began), b.examples))
}

// draw writes line over the one before.
func (b *progress) draw(line string) {
	blank := strings.Repeat(" ", max(0, b.wide-len(line)))
	fmt.Fprintf(b.app.log, "\r%s%s", line, blank)
	b.wide = len(line)
}

// done wipes the bar.
func (b *progress) done() {
	if b.wide > 0 {
		b.draw("")
		fmt.Fprint(b.app.log, "\r")
		b.wide = 0
	}
}

func barLine(stage string, p softmax.Progress, took time.Duration, examples int) string {
	full := int(p.Fraction * barWidth)
	line := fmt.Sprintf("%s [%s%s] %3.0f %%  step %d  loss %.4f", stage,
		strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), 100*p.Fraction, p.Step, p.Loss)
	if seconds := took.Seconds(); seconds > 0.5 && p.Step > 1 {
		if examples > 0 {
			line += fmt.Sprintf("  %.0f rows/s", float64(examples)*float64(p.Step-1)/seconds)
		}
		if p.Fraction > 0.02 && p.Fraction < 1 {
			left := time.Duration(seconds / p.Fraction * (1 - p.Fraction) * float64(time.Second))
			line += fmt.Sprintf("  %v left", left.Round(time.Second))
		}
	}
	return line
}

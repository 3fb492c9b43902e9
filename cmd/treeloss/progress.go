package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// due tells whether it is time to draw, which whole, the end of a stage, always is.
func (b *progress) due(whole bool) bool {
	now := time.Now()
	if b.app.quiet || !b.app.onTerminal() || !whole && now.Sub(b.drawn) < barInterval {
		return false
	}
	b.drawn = now
	return true
}

// report is a tune.Options.Progress.
func (b *progress) report(stage string, p softmax.Progress) {
	if stage != b.stage || p.Step == 1 && p.Rows == 0 {
		b.stage, b.began = stage, time.Now()
	}
	if b.due(p.Fraction >= 1) {
		b.draw(barLine(stage, p, time.Since(b.began), b.examples))
	}
}

// rowsBar draws how far reading has come.
type rowsBar struct {
	progress
	size int64 // bytes of all files, 0 if that does not tell how far reading is
}

// reading returns the bar of the files of examples.
func (f *dataFlags) reading(a *app) *rowsBar {
	bar := &rowsBar{progress: progress{app: a, began: time.Now()}}
	for _, path := range f.data {
		info, err := os.Stat(path)
		if err != nil || !slices.Contains([]string{".csv", ".tsv", ".txt"}, filepath.Ext(path)) { // packed, or with more around the texts
			bar.size = 0
			break
		}
		bar.size += info.Size()
	}
	return bar
}

// report is a corpus.Limits.Progress.
func (b *rowsBar) report(rows int, bytes int64) {
	if !b.due(false) {
		return
	}
	took := time.Since(b.began)
	line := fmt.Sprintf("reading %d rows  %.0f rows/s", rows, float64(rows)/took.Seconds())
	if b.size > bytes {
		line += timeLeft(took, float64(bytes)/float64(b.size))
	}
	b.draw(line)
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

// barOf draws how much of the work is done, 0 to 1.
func barOf(part float64) string {
	full := int(part * barWidth)
	return fmt.Sprintf("[%s%s] %3.0f %%", strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), 100*part)
}

// timeLeft says how long the rest takes if it goes on as so far; part is above 0.
func timeLeft(took time.Duration, part float64) string {
	left := time.Duration(float64(took) / part * (1 - part))
	return fmt.Sprintf("  %v left", left.Round(time.Second))
}

func barLine(stage string, p softmax.Progress, took time.Duration, examples int) string {
	line := fmt.Sprintf("%s %s  step %d  loss %.4f", stage, barOf(p.Fraction), p.Step, p.Loss)
	if seconds := took.Seconds(); seconds > 0.5 && (p.Step > 1 || p.Rows > 0) {
		if p.Rows > 0 {
			line += fmt.Sprintf("  %.0f rows/s", float64(p.Rows)/seconds)
		} else if examples > 0 {
			line += fmt.Sprintf("  %.0f rows/s", float64(examples)*float64(p.Step-1)/seconds)
		}
		if p.Fraction > 0.02 && p.Fraction < 1 {
			line += timeLeft(took, p.Fraction)
		}
	}
	return line
}

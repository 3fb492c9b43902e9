// Package console draws what a person looks at in a terminal: progress bars, and tables
// whose columns line up.
package console

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/treeloss/treeloss/softmax"
)

// Bar is one line of progress that is written over again and again: what is done, how
// fast, and the time left if it goes on so. A nil Out draws nothing. Its methods may be
// called from any goroutine.
type Bar struct {
	Out      io.Writer
	Size     int64 // bytes there are to read; 0: not known
	Examples int   // of one step of training, for the rate; 0: no rate

	mutex sync.Mutex
	stage string
	began time.Time // the work, or the stage
	drawn time.Time
	wide  int  // characters on the line
	over  bool // a reader that was interrupted may still report
}

const (
	barWidth = 24
	interval = 100 * time.Millisecond // between two drawings
)

// NewBar returns a bar of work that begins now, which draws on a terminal only.
func NewBar(out io.Writer) *Bar {
	b := &Bar{began: time.Now()}
	if IsTerminal(out) {
		b.Out = out
	}
	return b
}

// IsTerminal tells whether a person sees what is written, on a terminal that can go back
// to the beginning of a line, which one that calls itself dumb cannot.
func IsTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	return ok && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// Draw shows the line that a function makes of the time since the work began, unless one
// was drawn just now; last lines, the ends of stages, are always shown.
func (b *Bar) Draw(last bool, line func(took time.Duration) string) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	now := time.Now()
	if b.Out == nil || b.over || !last && now.Sub(b.drawn) < interval {
		return
	}
	b.drawn = now
	b.write(line(now.Sub(b.began)))
}

// write puts a line over the one before, with blanks over what that had more: a terminal that
// knows no other control than a carriage return is enough.
func (b *Bar) write(line string) {
	blank := strings.Repeat(" ", max(0, b.wide-len(line)))
	fmt.Fprintf(b.Out, "\r%s%s", line, blank)
	b.wide = len(line)
}

// Clear wipes the line, for a message in its place; the bar goes on.
func (b *Bar) Clear() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.wide > 0 {
		b.write("")
		fmt.Fprint(b.Out, "\r")
		b.wide = 0
	}
}

// End wipes the line and draws no other, so that what is printed next is never drawn over.
func (b *Bar) End() {
	b.Clear()
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.over = true
}

// Train reports a stage of training; it is a tune.Options.Progress.
func (b *Bar) Train(stage string, p softmax.Progress) {
	b.mutex.Lock()
	if stage != b.stage || p.Step == 1 && p.Rows == 0 {
		b.stage, b.began = stage, time.Now()
	}
	b.mutex.Unlock()
	b.Draw(p.Fraction >= 1, func(took time.Duration) string { return trainLine(stage, p, took, b.Examples) })
}

// trainLine makes the line of Train. Rates come after half a second, and the time left after
// 2 % of the work: before, they jump. Without rows the step at hand is not counted.
func trainLine(stage string, p softmax.Progress, took time.Duration, examples int) string {
	line := fmt.Sprintf("%s %s  step %d  loss %.4f", stage, Part(p.Fraction), p.Step, p.Loss)
	if seconds := took.Seconds(); seconds > 0.5 && (p.Step > 1 || p.Rows > 0) {
		if p.Rows > 0 {
			line += fmt.Sprintf("  %.0f rows/s", float64(p.Rows)/seconds)
		} else if examples > 0 {
			line += fmt.Sprintf("  %.0f rows/s", float64(examples)*float64(p.Step-1)/seconds)
		}
		if p.Fraction > 0.02 && p.Fraction < 1 {
			line += TimeLeft(took, p.Fraction)
		}
	}
	return line
}

// Rows reports how many rows, and bytes of Size, are read; it is a corpus.Limits.Progress.
func (b *Bar) Rows(rows int, bytes int64) {
	b.Draw(false, func(took time.Duration) string {
		line := fmt.Sprintf("reading %d rows  %.0f rows/s", rows, float64(rows)/took.Seconds())
		if b.Size > bytes {
			line += TimeLeft(took, float64(bytes)/float64(b.Size))
		}
		return line
	})
}

// Bytes reports how many bytes of Size are read; it is a wordvec.Options.Progress.
func (b *Bar) Bytes(bytes int64) {
	b.Draw(false, func(took time.Duration) string { return bytesLine(bytes, b.Size, took) })
}

// bytesLine makes the line of Bytes. MB are 10^6 bytes, as disks and networks have them.
func bytesLine(bytes, size int64, took time.Duration) string {
	line := "reading"
	if size > 0 {
		line += " " + Part(min(1, float64(bytes)/float64(size)))
	}
	line += fmt.Sprintf("  %.0f MB", float64(bytes)/1e6)
	seconds := took.Seconds()
	if seconds <= 0.5 || bytes == 0 {
		return line
	}
	line += fmt.Sprintf("  %.0f MB/s", float64(bytes)/1e6/seconds)
	if size > bytes {
		line += TimeLeft(took, float64(bytes)/float64(size))
	}
	return line
}

// Part draws how much of the work is done, 0 to 1.
func Part(part float64) string {
	full := int(part * barWidth)
	return fmt.Sprintf("[%s%s] %3.0f %%", strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), 100*part)
}

// TimeLeft says how long the rest takes if it goes on as so far, took (1 - part) / part; part
// is above 0.
func TimeLeft(took time.Duration, part float64) string {
	left := time.Duration(float64(took) / part * (1 - part))
	return fmt.Sprintf("  %v left", left.Round(time.Second))
}

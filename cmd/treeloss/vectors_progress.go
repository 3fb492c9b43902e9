package main

import (
	"fmt"
	"sync"
	"time"
)

// readingBar shows on a terminal how far a file has been read.
type readingBar struct {
	progress
	size  int64      // bytes of the file; 0: not known
	mutex sync.Mutex // an interrupted read may still report
	over  bool
}

// wipe ends the bar.
func (b *readingBar) wipe() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.over = true
	b.done()
}

func (b *readingBar) report(bytes int64) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if !b.over && b.due(false) {
		b.draw(readingLine(bytes, b.size, b.drawn.Sub(b.began)))
	}
}

// readingLine is the bar of a file of size bytes, of 0 without an end.
func readingLine(bytes, size int64, took time.Duration) string {
	line := "reading"
	if size > 0 {
		line += " " + barOf(min(1, float64(bytes)/float64(size)))
	}
	line += fmt.Sprintf("  %.0f MB", float64(bytes)/1e6)
	seconds := took.Seconds()
	if seconds <= 0.5 || bytes == 0 {
		return line
	}
	line += fmt.Sprintf("  %.0f MB/s", float64(bytes)/1e6/seconds)
	if size > bytes {
		line += timeLeft(took, float64(bytes)/float64(size))
	}
	return line
}

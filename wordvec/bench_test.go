package wordvec

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// BenchmarkStream reads a generated word2vec binary file for 1000 class names:
// GoogleNews has 3 million words. peak-MB is the largest heap seen.
func BenchmarkStream(b *testing.B) {
	names := classNames(1000)
	for _, words := range []int{100_000, 3_000_000} {
		b.Run(fmt.Sprintf("format=word2vec/words=%d/dim=300", words), func(b *testing.B) {
			b.SetBytes(int64(words) * (4*300 + 7))
			var peak uint64
			for b.Loop() {
				peak = max(peak, peakHeap(func() {
					v, err := Read(context.Background(), newStream(words, 300), "stream", Options{Names: names})
					if err != nil || v.Info().Words != words {
						b.Fatal(err)
					}
				}))
			}
			b.ReportMetric(float64(peak)/1e6, "peak-MB")
		})
	}
}

// peakHeap runs f and returns the most memory that Go held from the system
// for the heap, as looked at every 10 ms.
func peakHeap(f func()) (peak uint64) {
	stop, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapSys-m.HeapReleased)
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	f()
	close(stop)
	<-done
	return peak
}

// BenchmarkText is GloVe with and without its words being wanted.
func BenchmarkText(b *testing.B) {
	words := make([]string, 5000)
	for i := range words {
		words[i] = wordNumber(i)
	}
	file := newTable(1, 300, words...).text(" ", "\n")
	for _, keep := range []string{"all", "names"} {
		b.Run("keep="+keep, func(b *testing.B) {
			opts := Options{}
			if keep == "names" {
				opts.Names = strings.Fields("one two ab_cd")
			}
			b.SetBytes(int64(len(file)))
			for b.Loop() {
				if _, err := Read(context.Background(), bytes.NewReader(file), "bench", opts); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package network

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/deep/images"
	"github.com/treeloss/treeloss/deep/internal/backendtest"
	"github.com/treeloss/treeloss/deep/train"
	"github.com/treeloss/treeloss/internal/treetest"
	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/sharing"
)

// BenchmarkStep trains two ResNet20, one with a plain head and one with a tree,
// a step at a time in turn; tree/plain is the median of the ratios of neighbours.
// A step takes a second or two on ONNX Runtime:
//
//	TREELOSS_TEST_BACKEND=onnx go test -tags onnx -run xxx -bench Step -benchtime 60x ./deep/network
func BenchmarkStep(b *testing.B) {
	const k, batch = 100, 128
	rng := rand.New(rand.NewPCG(1, 1))
	backend := backendtest.Open(b)
	data := &dataset.Images{Height: 32, Width: 32}
	for i := range k {
		data.Classes = append(data.Classes, strconv.Itoa(i))
	}
	for range 2 * batch {
		data.Label = append(data.Label, int32(rng.IntN(k)))
		for range 32 * 32 * 3 {
			data.Pixels = append(data.Pixels, byte(rng.IntN(256)))
		}
	}
	set, err := images.New(data, images.Measure(data), images.Options{})
	if err != nil {
		b.Fatal(err)
	}
	heads := []sharing.Sharing{sharing.None{K: k}, sharing.NewTree(treetest.Random(b, rng, k))}
	turn := [2]chan struct{}{make(chan struct{}), make(chan struct{})}
	took := make(chan time.Duration)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for i, head := range heads {
		task, err := Network{Name: ResNet20}.Task(Head{Sharing: head}, loss.CrossEntropy{})
		if err != nil {
			b.Fatal(err)
		}
		var start time.Time
		t, err := train.New(backend, task, set, nil, train.Options{Epochs: 1 << 20, Batch: batch, Rate: train.Schedule{Base: 0.01}, Seed: 1, Progress: func(train.Progress) {
			select {
			case took <- time.Since(start):
			case <-ctx.Done():
				return
			}
			select {
			case <-turn[i]:
			case <-ctx.Done():
			}
			start = time.Now()
		}})
		if err != nil {
			b.Fatal(err)
		}
		defer t.Close()
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			_, _ = t.Run(ctx) // ends with ctx
		}()
		defer func() { cancel(); <-stopped }()
		<-took // it was compiled
	}
	var ratios []float64
	for b.Loop() {
		var t [2]time.Duration
		for j := range t {
			i := (j + len(ratios)) % 2 // who goes first takes turns too
			turn[i] <- struct{}{}
			t[i] = <-took
		}
		ratios = append(ratios, t[1].Seconds()/t[0].Seconds())
		b.ReportMetric(t[0].Seconds()*1000, "plain-ms")
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "tree/plain")
	b.ReportMetric(ratios[len(ratios)/4], "quartile")
	b.ReportMetric(ratios[len(ratios)*3/4], "quartile3")
}

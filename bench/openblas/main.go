// Command openblas compares the matrix products of internal/kernel with
// OpenBLAS, both on one thread, call by call in turns in one process. It is a
// module of its own: it needs cgo and OpenBLAS's development files, which
// treeloss does not.
//
//	OPENBLAS_NUM_THREADS=1 go run . [-seconds 1]
//
// Times are CPU times of the thread, so that other programs on the machine
// disturb little; the ratio is that of the medians. "error" is how the largest
// difference of the two results compares with the largest number.
package main

/*
#cgo LDFLAGS: -lopenblas
#include <cblas.h>
#include <time.h>
static double cpu(void) {
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + 1e-9*t.tv_nsec;
}
static void gemm(int ta, int tb, int m, int n, int k, const float *a, int lda, const float *b, int ldb, float *c, int ldc, int times) {
	for (int i = 0; i < times; i++)
		cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, m, n, k, 1, a, lda, b, ldb, 0, c, ldc);
}
// The weights lie d x k, as those of a softmax.Layer do.
static void gemv(int d, int k, const float *w, const float *x, float *y, int times) {
	for (int i = 0; i < times; i++)
		cblas_sgemv(CblasRowMajor, CblasTrans, d, k, 1, w, k, x, 1, 0, y, 1);
}
*/
import "C"

import (
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"time"

	"github.com/treeloss/treeloss/internal/kernel"
	"github.com/treeloss/treeloss/internal/speed"
)

func main() {
	only := flag.String("only", "", "gemm or gemv; default both")
	seconds := flag.Float64("seconds", 1, "time for each line")
	flag.Parse()
	runtime.LockOSThread()
	if os.Getenv("OPENBLAS_NUM_THREADS") != "1" {
		fmt.Fprintln(os.Stderr, "openblas: set OPENBLAS_NUM_THREADS=1")
		os.Exit(2)
	}
	fmt.Printf("%s on %s, instructions %s\n", C.GoString(C.openblas_get_config()), runtime.GOARCH, kernel.Instructions())
	fmt.Printf("%-16s %-5s %12s %12s %7s %9s\n", "B,d,k", "form", "OpenBLAS", "ours", "ratio", "error")
	seed := uint64(0)
	random := func(n int) []float32 {
		seed++
		return speed.Random(seed, n)
	}
	// On the caller's goroutine alone, as OpenBLAS is told to be.
	product := kernel.NewProduct(nil)
	for _, s := range [][3]int{{64, 768, 1000}, {256, 768, 1000}, {256, 300, 150}, {32, 2048, 1000}, {128, 64, 100}, {1024, 1024, 1024}} {
		if *only == "gemv" {
			break
		}
		b, d, k := s[0], s[1], s[2]
		x, w, g := random(b*d), random(k*d), random(b*k)
		// Results of OpenBLAS and ours, of each of the three products.
		logits, gradient, back := [2][]float32{random(b * k), random(b * k)}, [2][]float32{random(k * d), random(k * d)}, [2][]float32{random(b * d), random(b * d)}
		for _, form := range []struct {
			name   string
			out    [2][]float32
			theirs func(times int)
			ours   func()
		}{
			{"NT", logits, func(n int) { gemm(0, 1, b, k, d, x, d, w, d, logits[0], k, n) },
				func() { product.NT(speed.Rect(logits[1], b, k), speed.Rect(x, b, d), speed.Rect(w, k, d)) }},
			{"TN", gradient, func(n int) { gemm(1, 0, k, d, b, g, k, x, d, gradient[0], d, n) },
				func() { product.TN(speed.Rect(gradient[1], k, d), speed.Rect(g, b, k), speed.Rect(x, b, d)) }},
			{"NN", back, func(n int) { gemm(0, 0, b, d, k, g, k, w, d, back[0], d, n) },
				func() { product.NN(speed.Rect(back[1], b, d), speed.Rect(g, b, k), speed.Rect(w, k, d)) }},
		} {
			theirs, ours := compare(*seconds, form.theirs, form.ours)
			flop := 2e-9 * float64(b) * float64(d) * float64(k)
			fmt.Printf("%-16s %-5s %6.1f GF/s %6.1f GF/s %7.2f %9.1e\n", fmt.Sprintf("%d,%d,%d", b, d, k), form.name, flop/theirs, flop/ours, theirs/ours, difference(form.out))
		}
	}
	// One row times the weights, which is what a prediction takes.
	for _, s := range [][2]int{{768, 1000}, {1000, 768}, {768, 150}, {300, 150}, {64, 100}} {
		d, k := s[0], s[1]
		x, w := random(d), random(d*k)
		out := [2][]float32{random(k), random(k)}
		theirs, ours := compare(*seconds,
			func(n int) { C.gemv(C.int(d), C.int(k), at(w), at(x), at(out[0]), C.int(n)) },
			func() {
				clear(out[1])
				kernel.CombineAllRows(x, w, k, out[1])
			})
		fmt.Printf("%-16s %-5s %8.2f us  %8.2f us  %7.2f %9.1e\n", fmt.Sprintf("1,%d,%d", d, k), "gemv", theirs*1e6, ours*1e6, theirs/ours, difference(out))
	}
}

// at is where numbers begin, for C.
func at(x []float32) *C.float { return (*C.float)(&x[0]) }

// gemm is cblas_sgemm on rows, c = a b, called a number of times within C; ta and tb
// of 1 transpose.
func gemm(ta, tb, m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc, times int) {
	C.gemm(C.int(ta), C.int(tb), C.int(m), C.int(n), C.int(k), at(a), C.int(lda), at(b), C.int(ldb), at(c), C.int(ldc), C.int(times))
}

// compare returns the median CPU seconds of a call of each, taken in turns, several
// calls at a time where one is short: those of C are made there, as a call from Go has
// its own cost.
func compare(seconds float64, theirs func(times int), ours func()) (their, our float64) {
	clock := func() time.Duration { return time.Duration(1e9 * float64(C.cpu())) }
	ours()
	start := clock()
	ours()
	times := max(1, int(200*time.Microsecond/max(clock()-start, 1)))
	t := speed.Medians(clock, time.Duration(seconds*1e9)/2,
		func() { theirs(times) },
		func() {
			for range times {
				ours()
			}
		})
	return t[0] / float64(times), t[1] / float64(times)
}

// difference returns the largest difference over the largest number: a few units of
// float32 where both are right, as they add up in another order.
func difference(x [2][]float32) float64 {
	var worst, largest float64
	for i, v := range x[0] {
		worst = max(worst, math.Abs(float64(v)-float64(x[1][i])))
		largest = max(largest, math.Abs(float64(v)))
	}
	return worst / largest
}

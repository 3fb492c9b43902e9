package main

import (
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestProducts reads a table as the program openblas prints it.
func TestProducts(t *testing.T) {
	var s suite
	s.readProducts([]byte(`OpenBLAS 0.3.21 on amd64, instructions avx512
B,d,k            form      OpenBLAS         ours   ratio     error
256,768,1000     NT     100.0 GF/s   80.0 GF/s    0.80   1.0e-07
256,768,1000     NN     100.0 GF/s   81.0 GF/s    0.81   1.0e-07
1,768,1000       gemv     96.40 us     48.20 us     2.00   1.0e-07
`))
	var table strings.Builder
	s.print(&table)
	want := `| what | ours | peer | ratio | bar | core |
|---|---|---|---|---|---|
| product NT 256,768,1000 / OpenBLAS | 80 GF/s | 100 GF/s | **0.80** | >= 0.9 |  |
| product NN 256,768,1000 / OpenBLAS | 81 GF/s | 100 GF/s | 0.81 | >= 0.8 |  |
| predict one row 1,768,1000 / OpenBLAS sgemv | 48.2 us | 96.4 us | 2.00 | >= 1 |  |
`
	if table.String() != want {
		t.Errorf("got\n%swant\n%s", table.String(), want)
	}
}

func TestTurns(t *testing.T) {
	var order []string
	side := func(name string, times ...float64) func() (float64, error) {
		return func() (float64, error) {
			order = append(order, name)
			x := times[0]
			times = times[1:]
			return x, nil
		}
	}
	got, err := turns(3, side("a", 1, 9, 2), side("b", 5, 4, 6))
	if err != nil || got[0] != 2 || got[1] != 5 || strings.Join(order, "") != "ababab" {
		t.Errorf("%v, %v, %v", got, order, err)
	}
	broken := errors.New("broken")
	if _, err := turns(3, func() (float64, error) { return 0, broken }); !errors.Is(err, broken) {
		t.Errorf("%v, want broken", err)
	}
}

// TestQuietTurns has a core whose rate is told, before and after each round.
func TestQuietTurns(t *testing.T) {
	rates := func(r ...float64) *meter {
		return &meter{measure: func() float64 {
			x := r[0]
			r = append(r[1:], x)
			return x
		}}
	}
	counter := func() side {
		n := 0.0
		return func() (float64, error) { n++; return n, nil }
	}
	// The first round ends, the third begins slow: the second and fourth count.
	got, core, err := quietTurns(rates(10, 5, 10, 9.5, 4, 10, 10, 10), 2, []side{counter()})
	if err != nil || got[0] != 3 || core.String() != "95 %" {
		t.Errorf("%v, core %v, %v", got, core, err)
	}
	// Never quiet again: the best there is, and the table tells.
	got, core, err = quietTurns(rates(10, 3, 5, 4, 4, 4, 6, 6), 1, []side{counter()})
	if err != nil || got[0] != 4 || core.String() != "60 %" {
		t.Errorf("%v, core %v, %v", got, core, err)
	}
	broken := errors.New("broken")
	if _, _, err := quietTurns(rates(1), 1, []side{func() (float64, error) { return 0, broken }}); !errors.Is(err, broken) {
		t.Errorf("%v, want broken", err)
	}
	for _, threads := range []int{1, 2} {
		m := newMeter(threads)
		if r := m.rate(); r <= 0 || m.best != r {
			t.Errorf("%d threads: rate %v, best %v", threads, r, m.best)
		}
	}
}

// TestOnOneCore asks where each thread may run.
func TestOnOneCore(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux lets a program choose its core")
	}
	cores := func() map[string]bool {
		files, err := filepath.Glob("/proc/self/task/*/status")
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]bool{}
		for _, f := range files {
			status, err := os.ReadFile(f)
			if err != nil {
				continue // the thread has ended
			}
			_, list, _ := strings.Cut(string(status), "Cpus_allowed_list:\t")
			list, _, _ = strings.Cut(list, "\n")
			found[list] = true
		}
		return found
	}
	before := cores()
	var within map[string]bool
	if err := onOneCore(func() error {
		var begun sync.WaitGroup
		for range 4 { // threads that begin there
			begun.Go(func() { time.Sleep(time.Millisecond) })
		}
		begun.Wait()
		within = cores()
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(within) != 1 {
		t.Fatalf("within: %v", within)
	}
	for list := range within {
		if _, err := strconv.Atoi(list); err != nil {
			t.Errorf("within: cores %s, want one", list)
		}
	}
	if after := cores(); !maps.Equal(before, after) {
		t.Errorf("before %v, after %v", before, after)
	}
}

func TestFastTextFile(t *testing.T) {
	from, to := filepath.Join(t.TempDir(), "a.csv"), filepath.Join(t.TempDir(), "a.txt")
	if err := os.WriteFile(from, []byte("text,label\n\"Hi, you?\",b c\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := fastTextFile(from, to); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(to); string(b) != "__label__b_c hi ,  you ? \n" {
		t.Errorf("%q", b)
	}
}

func TestExponent(t *testing.T) {
	if got := exponent(2, 2000, 10, 1000); math.Abs(got-1.5) > 1e-12 {
		t.Errorf("%v, want 1.5", got)
	}
}

func TestSeconds(t *testing.T) {
	for x, want := range map[float64]string{2: "2 s", 0.0234: "23.4 ms", 4.5e-6: "4.5 us"} {
		if got := seconds(x); got != want {
			t.Errorf("%v: %s, want %s", x, got, want)
		}
	}
}

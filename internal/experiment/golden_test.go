package experiment

import (
	"context"
	"encoding/csv"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// The numbers of a small run of everything. The inner loops round differently
// with and without vector instructions, so accuracies over 2 runs of 300 test
// examples may move by a few of these, and where the validation examples cannot
// tell two rates or priors apart another one may win. So 19 of 20 numbers must
// agree to 0.02 of a rate (or 1 % of another number), whatever the processor;
// on one processor all agree to the last digit.
func TestGolden(t *testing.T) {
	opts := quick()
	r, err := Run(context.Background(), []Name{Norms, TreeShapes, MetricQuality}, opts)
	if err != nil {
		t.Fatal(err)
	}
	compareGolden(t, r, filepath.Join("testdata", "small"))
}

// The same for treeloss experiment all --runs 2, which takes most of a minute:
//
//	TREELOSS_GOLDEN=1 go test ./internal/experiment -run TestGoldenAll
func TestGoldenAll(t *testing.T) {
	if os.Getenv("TREELOSS_GOLDEN") == "" {
		t.Skip("runs every experiment, most of a minute; set TREELOSS_GOLDEN=1, as CI does")
	}
	r, err := Run(context.Background(), Names(), Options{Runs: 2, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	compareGolden(t, r, filepath.Join("testdata", "all"))
}

func compareGolden(t *testing.T, r *Results, dir string) {
	t.Helper()
	for _, section := range r.Page().Sections {
		for _, table := range section.Tables {
			if table.Name == "claims" || table.Name == "headline-numbers" { // TestPageFirst looks at them
				continue
			}
			var out strings.Builder
			if err := table.WriteCSV(&out); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, table.Name+".csv")
			if *update {
				if err := os.MkdirAll(dir, 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(out.String()), 0o666); err != nil {
					t.Fatal(err)
				}
				continue
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("%v; go test -update writes it", err)
			}
			compareTables(t, path, out.String(), string(data))
		}
	}
}

func compareTables(t *testing.T, path, got, want string) {
	t.Helper()
	parse := func(text string) [][]string {
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	a, b := parse(got), parse(want)
	if len(a) != len(b) || !slices.Equal(a[0], b[0]) {
		t.Errorf("%s: %d rows %v, want %d rows %v", path, len(a), a[0], len(b), b[0])
		return
	}
	numbers, far := 0, 0
	for i := range a {
		for j := range a[i] {
			head := a[0][j]
			// Bounds of two runs are 6 times as wide as the runs are apart, and a
			// choice moves by a factor of 3.
			if strings.Contains(head, "low") || strings.Contains(head, "high") || strings.Contains(head, "chosen") {
				continue
			}
			x, errX := strconv.ParseFloat(a[i][j], 64)
			y, errY := strconv.ParseFloat(b[i][j], 64)
			if errX != nil || errY != nil {
				if a[i][j] != b[i][j] {
					t.Errorf("%s:%d: %q, want %q", path, i+1, a[i][j], b[i][j])
				}
				continue
			}
			numbers++
			tolerance := 0.02
			if !strings.HasPrefix(head, "accuracy") && !strings.HasPrefix(head, "difference") {
				tolerance = 0.01 * math.Abs(y)
			}
			if math.Abs(x-y) > tolerance {
				far++
				t.Logf("%s:%d: %s is %v, was %v", path, i+1, head, x, y)
			}
		}
	}
	if far > numbers/20 {
		t.Errorf("%s: %d of %d numbers moved", path, far, numbers)
	}
}

package main

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	other "github.com/parquet-go/parquet-go"

	"github.com/treeloss/treeloss/dataset/internal/parquet"
)

// TestAgainstParquetGo reads every file that parquet-go has in its testdata,
// which come from many writers, and ours, with both readers, and compares the
// flat columns value by value.
func TestAgainstParquetGo(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/parquet-go/parquet-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "testdata", "*.parquet"))
	ours, _ := filepath.Glob("../testdata/*.parquet")
	for _, path := range append(files, ours...) {
		switch filepath.Base(path) {
		case "lz4_raw_compressed_larger.parquet": // parquet-go 0.32.0 reads it wrong, and says so
			continue
		case "brotli-v2.parquet": // which we refuse
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) { compare(t, path) })
	}
}

func compare(t *testing.T, path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.Open(bytes.NewReader(data), int64(len(data)), parquet.Options{})
	if err != nil {
		t.Skipf("we refuse: %v", err)
	}
	theirs, err := other.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Skipf("they refuse: %v", err)
	}
	leaves := map[string]*other.Column{}
	for _, c := range theirs.Root().Columns() {
		for !c.Leaf() && len(c.Columns()) == 1 {
			leaves[strings.Split(strings.Join(c.Path(), "."), ".")[0]] = c.Columns()[0]
			c = c.Columns()[0]
		}
		leaves[c.Path()[0]] = c
	}
	for i, c := range f.Columns {
		if c.Kind == parquet.Other {
			t.Logf("%s: %s", c.Name, c.What)
			continue
		}
		compareColumn(t, f, i, leaves[c.Name])
	}
}

func compareColumn(t *testing.T, f *parquet.File, i int, leaf *other.Column) {
	rows := f.Read([]int{i})
	defer rows.Close()
	pages := leaf.Pages()
	defer pages.Close()
	var want []other.Value
	for {
		page, err := pages.ReadPage()
		if err != nil {
			break
		}
		values := make([]other.Value, page.NumValues())
		n, _ := page.Values().ReadValues(values)
		for _, v := range values[:n] {
			want = append(want, v.Clone())
		}
	}
	for n := int64(0); n < f.Rows; n++ {
		if err := rows.Next(); err != nil {
			t.Errorf("column %s, row %d of %d (%d values there): %v", f.Columns[i].Name, n, f.Rows, len(want), err)
			return
		}
		if f.Columns[i].Kind == parquet.List {
			list, null := rows.List(0)
			got := 0
			for k := 0; len(want) > 0 && (k == 0 || want[0].RepetitionLevel() > 0); k++ {
				if !want[0].IsNull() && !null {
					if got >= len(list) || list[got] != number(want[0]) {
						t.Fatalf("column %s, row %d: %v, want %v", f.Columns[i].Name, n, list, want[0])
					}
					got++
				}
				want = want[1:]
			}
			if got != len(list) && !null {
				t.Fatalf("column %s, row %d: %v, want %d numbers", f.Columns[i].Name, n, list, got)
			}
			continue
		}
		v, w := rows.Value(0), want[0]
		want = want[1:]
		same := v.Null == w.IsNull()
		if same && !v.Null {
			switch f.Columns[i].Kind {
			case parquet.Text:
				same = string(v.Bytes) == string(w.ByteArray())
			case parquet.Bool:
				same = (v.Int != 0) == w.Boolean()
			case parquet.Int:
				same = v.Number == number(w)
			case parquet.Float:
				x := number(w)
				same = v.Number == x || math.IsNaN(x) && math.IsNaN(v.Number) || strings.Contains(leaf.String(), "DECIMAL") || strings.Contains(leaf.String(), "FLOAT16")
			}
		}
		if !same {
			t.Fatalf("column %s (%s), row %d: %+v, want %v", f.Columns[i].Name, leaf, n, v, w)
		}
	}
}

func number(v other.Value) float64 {
	switch v.Kind() {
	case other.Int32:
		return float64(v.Int32())
	case other.Int64:
		return float64(v.Int64())
	case other.Float:
		return float64(v.Float())
	}
	return v.Double()
}

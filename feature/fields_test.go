package feature

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/internal/safetensors"
	"github.com/treeloss/treeloss/record"
)

var columns = record.Fields{Texts: []string{"title", "body"}, Categories: []string{"brand"}, Numbers: []string{"price", "size", "same"}}

// randomRecords are records of columns, some of whose fields are missing.
func randomRecords(n int) []record.Example {
	rng := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("red green blue card transfer top up phone été 卡片 Acme")
	text := func(most int) string {
		var b strings.Builder
		for range rng.IntN(most + 1) {
			b.WriteString(words[rng.IntN(len(words))] + " ")
		}
		return b.String()
	}
	var out []record.Example
	for range n {
		e := record.Example{Text: text(3), Fields: []string{text(6), text(1)}, Values: []float64{rng.NormFloat64()*3 + 5, rng.NormFloat64(), 7}}
		if rng.IntN(4) == 0 {
			e.Values[0] = math.NaN()
		}
		out = append(out, e)
	}
	return out
}

// fieldsTable is a table of records.
func fieldsTable(t *testing.T, records []record.Example) *Table {
	table := NewTable(record.Text, nil)
	if err := table.SetFields(columns); err != nil {
		t.Fatal(err)
	}
	for _, e := range records {
		if err := table.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	return table
}

// Rows of fields are those of each field alone, one behind the other: the n-grams of each
// text as of a table of that text, a 1 for a category, numbers in standard deviations.
func TestFieldsAreBlocks(t *testing.T) {
	records := randomRecords(40)
	table := fieldsTable(t, records)
	rows := make([]int, len(records))
	alone := [2]*Table{NewTable(record.Text, nil), NewTable(record.Text, nil)}
	for i, e := range records {
		rows[i] = i
		alone[0].AddText(e.Text)
		alone[1].AddText(e.Fields[0])
	}
	set, err := table.Fit(rows, Options{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := set.Matrix(table, rows)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]map[string]float32, len(records))
	for i := range want {
		want[i] = map[string]float32{}
	}
	for n, name := range columns.Texts {
		s, err := alone[n].Fit(rows, Options{})
		if err != nil {
			t.Fatal(err)
		}
		x := s.texts(alone[n], rows)
		for i := range rows {
			index, value := x.Row(i)
			for k, f := range index {
				want[i][name+": "+s.Name(int(f))] = value[k]
			}
		}
	}
	for i, e := range records {
		if brand := strings.TrimSpace(e.Fields[1]); brand != "" {
			want[i][fmt.Sprintf("brand = %q", brand)] = 1
		}
		if math.IsNaN(e.Values[0]) {
			want[i]["price is missing"] = 1
		}
	}
	for j, name := range columns.Numbers[:2] { // the third never changes
		var sum, squares, n float64
		for _, e := range records {
			if v := float64(float32(e.Values[j])); v == v {
				sum, squares, n = sum+v, squares+v*v, n+1
			}
		}
		mean := sum / n
		for i, e := range records {
			if v := float64(float32(e.Values[j])); v == v {
				want[i][name] = float32((v - mean) / math.Sqrt(squares/n-mean*mean))
			}
		}
	}
	rower := NewRower(set)
	for i := range rows {
		index, value := set.texts(table, rows).Row(i)
		if len(index) != len(want[i]) {
			t.Errorf("row %d has %d features, want %d", i, len(index), len(want[i]))
		}
		for k, f := range index {
			if w, ok := want[i][set.Name(int(f))]; !ok || math.Abs(float64(w-value[k])) > 1e-5 {
				t.Fatalf("row %d: %s is %v, want %v", i, set.Name(int(f)), value[k], w)
			}
		}
		again, values, err := rower.Row(records[i])
		if err != nil || !reflect.DeepEqual(again, index) || !reflect.DeepEqual(values, value) {
			t.Fatalf("row %d alone differs: %v", i, err)
		}
	}
	if all.Rows() != len(rows) {
		t.Errorf("%d rows", all.Rows())
	}
}

// A set of fields comes back from a file, matches itself, and refuses what does not fit.
func TestFieldsStoreAndMatch(t *testing.T) {
	records := randomRecords(30)
	table := fieldsTable(t, records)
	table.AddText("a class name") // has no numbers, and none is missing
	set, err := table.Fit([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 30}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"price", "price is missing"} {
		index, _ := set.texts(table, []int{30}).Row(0)
		for _, f := range index {
			if set.Name(int(f)) == name {
				t.Errorf("the name of a class has %q", name)
			}
		}
	}
	var file safetensors.File
	if err := set.Store(&file); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := safetensors.Write(&out, &file); err != nil {
		t.Fatal(err)
	}
	read, err := safetensors.Read(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Load(read)
	if err != nil {
		t.Fatal(err)
	}
	if !got.Fields().Equal(columns) || got.Dim() != set.Dim() {
		t.Errorf("read %d features of %+v, want %d", got.Dim(), got.Fields(), set.Dim())
	}
	want, have := NewRower(set), NewRower(got)
	for i, e := range records {
		a, x, _ := want.Row(e)
		b, y, err := have.Row(e)
		if err != nil || !reflect.DeepEqual(a, b) || !reflect.DeepEqual(x, y) {
			t.Fatalf("record %d by the set that was read: %v", i, err)
		}
	}
	match, err := set.Match(got)
	for f, m := range match {
		if err != nil || int(m) != f {
			t.Fatalf("feature %d matches %d, %v", f, m, err)
		}
	}
	for _, e := range []record.Example{
		{Fields: []string{"one"}}, {Fields: []string{"a", "b"}, Values: []float64{1}}, {Values: []float64{1, 2, math.Inf(1)}}, {Values: []float64{1, 1e300, 1}},
	} {
		if _, _, err := have.Row(e); err == nil {
			t.Errorf("%+v is a row", e)
		}
	}
	if index, _, err := have.Row(record.Example{Text: "card"}); err != nil || len(index) == 0 {
		t.Errorf("a text alone: %v, %v", index, err)
	}
	// Whatever a file says, Load gives an error or a set whose names can be asked for.
	for _, change := range []func(m map[string]string){
		func(m map[string]string) { m["features"] = strings.Replace(m["features"], `"brand"`, `"brand","x"`, 1) },
		func(m map[string]string) {
			m["features"] = strings.Replace(m["features"], `["title","body"]`, `["title"]`, 1)
		},
		func(m map[string]string) {
			m["features"] = strings.Replace(m["features"], `"categories":["brand"],`, ``, 1)
		},
		func(m map[string]string) { m["features"] = strings.Replace(m["features"], `"size",`, ``, 1) },
		func(m map[string]string) { m["features"] = strings.Replace(m["features"], `"fields"`, `"field"`, 1) },
	} {
		before := read.Metadata["features"]
		change(read.Metadata)
		if read.Metadata["features"] == before {
			t.Fatal("nothing was changed")
		}
		if s, err := Load(read); err == nil {
			for j := range s.Dim() {
				s.Name(j)
			}
		}
		read.Metadata["features"] = before
	}
}

package dataset

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

// Several columns come as they stand, from tables and JSON; what is missing is no error.
func TestFields(t *testing.T) {
	opts := Options{Text: "title,body", Categories: []string{"brand"}, Columns: []string{"price", "size"}}
	for name, text := range map[string]string{
		"a.csv":   "label,price,title,body,brand,size,id\nx,1.5,A title,\"the, body\",Acme,2,7\ny,,,b,,NA,8\nx,1,t,b,null,3,9\n",
		"a.tsv":   "price\tlabel\ttitle\tbody\tbrand\tsize\n1.5\tx\tA title\tthe, body\t Acme \t2\n\ty\t\tb\t\tNaN\n1\tx\tt\tb\t\t3\n",
		"a.jsonl": `{"label":"x","price":1.5,"title":"A title","body":"the, body","brand":"Acme","size":2}` + "\n" + `{"label":"y","body":"b","brand":null}` + "\n" + `{"label":"x","price":1,"title":"t","body":"b","size":3}` + "\n",
	} {
		got, r, err := readText(text, name, opts)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if want := (Fields{Texts: []string{"title", "body"}, Categories: []string{"brand"}, Numbers: []string{"price", "size"}}); !r.Fields().Equal(want) || r.Kind() != Text {
			t.Errorf("%s: %v with the fields %+v, want %+v", name, r.Kind(), r.Fields(), want)
		}
		want := []Example{
			{Label: "x", Text: "A title", Fields: []string{"the, body", "Acme"}, Values: []float64{1.5, 2}},
			{Label: "y", Text: "", Fields: []string{"b", ""}, Values: []float64{math.NaN(), math.NaN()}},
			{Label: "x", Text: "t", Fields: []string{"b", ""}, Values: []float64{1, 3}},
		}
		for i, w := range want {
			g := got[i]
			same := g.Label == w.Label && g.Text == w.Text && reflect.DeepEqual(g.Fields, w.Fields) && len(g.Values) == len(w.Values)
			for n := range w.Values {
				same = same && (g.Values[n] == w.Values[n] || math.IsNaN(g.Values[n]) && math.IsNaN(w.Values[n]))
			}
			if !same {
				t.Errorf("%s: example %d is %+v, want %+v", name, i, g, w)
			}
		}
		again := r.Resolved()
		if again.Text != "title,body" || !reflect.DeepEqual(again.Categories, opts.Categories) || !reflect.DeepEqual(again.Columns, opts.Columns) {
			t.Errorf("%s: resolved to %+v", name, again)
		}
	}
	for text, want := range map[string]string{
		"title,body,brand,price,size,label\na,b,c,1,two,x\n": `"two"`,
		"title,brand,price,size,label\na,c,1,2,x\n":          `no column "body"`,
	} {
		if _, _, err := readText(text, "a.csv", opts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

package dataset

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestDescribe(t *testing.T) {
	for _, tc := range []struct {
		name, file, text string
		opts             Options
		want             string
	}{
		{"usual names", "a.csv", "Text,INTENT\na,b\n", Options{}, `label column "INTENT", text column "Text"`},
		{"the earlier usual name wins", "a.csv", "question,title,target,label\na,b,c,d\n", Options{}, `label column "label", text column "title" (columns "question", "target" left out)`},
		{"data frame with a nameless index", "a.csv", ",w,h,y\n0,1,2,a\n", Options{}, `label column "y", 2 numeric columns w, h (column "" left out)`},
		{"words are left out", "a.csv", "w,name,label\n1,n,a\n", Options{}, `label column "label", 1 numeric column "w" (column "name" left out)`},
		{"glob in file order, label aside", "a.csv", "m2,m1,x,m,m_y\n1,2,3,4,5\n", Options{Label: "m", Columns: []string{"x", "m*"}}, `label column "m", 4 numeric columns x..m_y`},
		{"a name with pattern letters", "a.csv", "x[0],x0,y\n1,2,a\n", Options{Columns: []string{"x[0]"}}, `label column "y", 1 numeric column "x[0]"`},
		{"a feature named like a label", "a.csv", "class,y,x\n1,a,2\n", Options{Columns: []string{"class", "x"}}, `label column "y", 2 numeric columns class, x`},
		{"weight", "a.csv", "class,w,x\n1,1,2\n", Options{Weight: "w"}, `label column "class", 1 numeric column "x", weight column "w"`},
		{"text key must hold text", "a.jsonl", `{"title":5,"body":"t","label":"x"}`, Options{}, `label key "label", text key "body" (key "title" left out)`},
		{"array", "a.jsonl", `{"embedding":[1,2,3],"label":"x"}`, Options{}, `label key "label", 3 numbers in key "embedding"`},
		{"no labels", "a.csv", "text\na\n", Options{Unlabelled: true}, `no labels, text column "text"`},
		{"fastText", "a.ft", "__label__x y", Options{}, `fastText lines, labels begin with __label__`},
		{"plain text", "-", "x, y", Options{Unlabelled: true}, `lines of text`},
		{"LIBSVM", "-", "a 1:2", Options{}, `LIBSVM lines, feature numbers from 1`},
		{"LIBSVM from 0", "-", "a 0:2", Options{ZeroBased: true}, `LIBSVM lines, feature numbers from 0`},
		{"table to predict, known by name", "-", "id,query\n1,x", Options{Unlabelled: true}, `no labels, text column "query" (column "id" left out)`},
		{"table to predict, told", "-", "a,b\n1,2", Options{Unlabelled: true, Columns: []string{"a"}}, `no labels, 1 numeric column "a"`},
		{"tabs", "-", "text\tlabel\na,b\tc", Options{}, `label column "label", text column "text"`},
		{"texts, a category and numbers", "a.csv", "title,body,brand,price,size,label\na,b,c,1,2,x\n", Options{Text: "title, body", Categories: []string{"Brand"}, Columns: []string{"*"}},
			`label column "label", text columns "title", "body", category column "brand", numeric columns "price", "size"`},
		{"a category beside the usual text", "a.csv", "title,brand,label\na,b,x\n", Options{Categories: []string{"brand"}}, `label column "label", text column "title", category column "brand"`},
		{"categories alone", "a.csv", "colour,brand,label\na,b,x\n", Options{Categories: []string{"brand", "colour"}}, `label column "label", category columns "brand", "colour"`},
		{"a name with a comma", "a.csv", "\"a,b\",c,label\na,b,x\n", Options{Text: "a,b"}, `label column "label", text column "a,b" (column "c" left out)`},
		{"many left out", "a.csv", "a,b,c,d,e,f,g,x,y\na,a,a,a,a,a,a,1,2\n", Options{}, `label column "y", 1 numeric column "x" (columns "a", "b", "c", "d", "e" and 2 more left out)`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, r, err := readText(tc.text, tc.file, tc.opts)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimPrefix(r.Describe(), tc.file+": "); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// A header of 100,000 columns, each named, takes no time that grows with its
// square: the test would not end.
func TestManyColumns(t *testing.T) {
	var names []string
	for i := range 100_000 {
		names = append(names, fmt.Sprint("c", i))
	}
	text := "label," + strings.Join(names, ",") + "\na" + strings.Repeat(",1", len(names)) + "\n"
	for _, columns := range [][]string{names, {"c*"}, nil} {
		_, r, err := readText(text, "a.csv", Options{Columns: columns})
		if err != nil || !slices.Equal(r.Columns(), names) {
			t.Errorf("%d columns, %v", r.Width(), err)
		}
	}
}

package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// Texts, categories and numbers of a table train together; predict, evaluate and explain
// find them by their names, wherever they stand.
func TestSeveralColumns(t *testing.T) {
	var rows, other strings.Builder
	rows.WriteString("title,body,brand,price,label\n")
	other.WriteString("{\"price\":2,\"brand\":\"Acme\",\"label\":\"even\",\"body\":\"b\",\"title\":\"lamp\"}\n")
	for i := range 60 {
		price := fmt.Sprint(i % 7)
		if i%9 == 0 {
			price = ""
		}
		fmt.Fprintf(&rows, "item %d,body word%d,%s,%s,%s\n", i%5, i%3, []string{"Acme", "Zeta"}[i%2], price, []string{"even", "odd"}[i%2])
	}
	data, model := file(t, "products.csv", rows.String()), filepath.Join(t.TempDir(), "m.safetensors")
	o := succeed(t, "train", "--data", data, "--text", "title,body", "--categories", "brand", "--features", "price", "--model", model)
	for _, want := range []string{`text columns "title", "body", category column "brand", numeric column "price"`, "price in 7"} {
		if !strings.Contains(o.log, want) {
			t.Errorf("the log of train lacks %q:\n%s", want, o.log)
		}
	}
	json := file(t, "other.jsonl", other.String())
	if o := succeed(t, "predict", "--model", model, json); !strings.HasPrefix(o.out, "even\t") {
		t.Errorf("predict: %q", o.out)
	}
	if o := succeed(t, "evaluate", "--json", "--model", model, "--data", data); parse(t, o.out)["accuracy"] != 1.0 {
		t.Errorf("evaluate: %s", o.out)
	}
	if o := succeed(t, "explain", "--model", model, json); !strings.Contains(o.out, `brand = "Acme"`) || !strings.Contains(o.out, "price at") {
		t.Errorf("explain: %s", o.out)
	}
	for _, tc := range []struct {
		want  string
		input string
	}{{"title", "a sentence\n"}, {"brand", "title,body,price\na,b,1\n"}} {
		if o := callWith(t, tc.input, "predict", "--model", model); o.status != 1 || !strings.Contains(o.log, tc.want) {
			t.Errorf("%q: status %d, %s", tc.input, o.status, o.log)
		}
	}
}

package corpus

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/dataset"
)

var ctx = context.Background()

// doubtful returns n texts for each of six labels, of which every third is shared with
// the next label, and every fifteenth has a label of its own beside it, "other".
func doubtful(t *testing.T, n int) (*Corpus, []dataset.Example) {
	t.Helper()
	names := []string{"card_arrival", "card_lost", "pin_blocked", "pin_change", "transfer_fee", "transfer_pending"}
	c := New(dataset.Text, nil)
	var list []dataset.Example
	for i := range n * len(names) {
		e := dataset.Example{Text: fmt.Sprintf("text %d", i), Label: names[i/n], Weight: 1, Place: dataset.Place{File: "a.jsonl", Line: i + 1}}
		switch {
		case i%15 == 0:
			e.Mix = []dataset.Share{{Label: e.Label, Share: 0.75}, {Label: "other", Share: 0.25}}
		case i%3 == 0:
			e.Mix = []dataset.Share{{Label: e.Label, Share: 0.625}, {Label: names[(i/n+1)%len(names)], Share: 0.375}}
		}
		slices.SortFunc(e.Mix, func(a, b dataset.Share) int { return strings.Compare(a.Label, b.Label) })
		if err := c.Add(e); err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	return c, list
}

func TestDataOfMixes(t *testing.T) {
	c, list := doubtful(t, 15)
	test := len(list)
	for _, e := range []dataset.Example{
		{Text: "a", Label: "pin_change", Weight: 1, Mix: []dataset.Share{{Label: "pin_change", Share: 0.75}, {Label: "never seen", Share: 0.25}}},
		{Text: "b", Label: "pin_change", Weight: 1, Mix: []dataset.Share{{Label: "other", Share: 0.25}, {Label: "pin_change", Share: 0.75}}},
		{Text: "c", Label: "pin_change", Weight: 1, Mix: []dataset.Share{{Label: "pin_change", Share: 1}}},
	} {
		if err := c.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	d, err := c.Data(ctx, dataset.Range(0, test), ClassFiles{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(d.Classes.Labels, "other") || len(d.Classes.Labels) != 7 {
		t.Fatalf("classes %v, want those that only have a share, too", d.Classes.Labels)
	}
	for row, e := range list {
		shares := map[string]float64{}
		d.EachShare(row, func(class int, share float64) { shares[d.Classes.Labels[class]] = share })
		want := map[string]float64{e.Label: 1}
		for _, s := range e.Mix {
			want[s.Label] = s.Share
		}
		if fmt.Sprint(shares) != fmt.Sprint(want) || d.Classes.Labels[d.Class[row]] != e.Label {
			t.Errorf("row %d has the shares %v and class %d, want %v", row, shares, d.Class[row], want)
		}
	}
	other := slices.Index(d.Classes.Labels, "pin_change")
	if got := d.Class[test:]; got[0] != -1 || int(got[1]) != other || int(got[2]) != other || len(d.Truth(test).Class)+len(d.Truth(test+2).Class) != 0 {
		t.Errorf("classes %v of test rows, want -1 for one with a share of an unknown label", got)
	}
	if got := c.LabelsOf(test); fmt.Sprint(got) != "[pin_change never seen]" || fmt.Sprint(c.LabelsOf(1)) != "["+list[1].Label+"]" {
		t.Errorf("labels %v and %v", got, c.LabelsOf(1))
	}
}

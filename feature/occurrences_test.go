package feature

import (
	"strings"
	"testing"

	"github.com/treeloss/treeloss/record"
)

// Each feature of a row occurs as often as it is counted, at places whose letters are its
// own: in scripts with and without spaces, with marks, ligatures and broken bytes.
func TestOccurrences(t *testing.T) {
	texts := []string{
		"Where is my new card? I want my card!",
		"a-b c'est l'été, L'ÉTÉ e\u0301te\u0301",
		"ﬁne ﬁlm ① Ⅷ ½ cup",
		"我的卡在哪里?我的卡 card 卡",
		"บัตรของฉันอยู่ที่ไหน คร้บ",
		"broken \xff\xfe bytes \xc3( here",
		"x", "", "   ", strings.Repeat("long", 100) + " word word",
	}
	table := NewTable(record.Text, nil)
	var rows []int
	for i, text := range texts {
		table.AddText(text)
		rows = append(rows, i)
	}
	set, err := table.Fit(rows, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var c counter
	c.find = set.lookup().find
	for _, text := range texts {
		ids, counts := c.count(text)
		want := map[int32]int{}
		for n, id := range ids {
			want[id] = int(counts[n])
		}
		got := map[int32]int{}
		for _, o := range set.Occurrences(text) {
			got[o.Feature]++
			if o.Start < 0 || o.Start >= o.End || o.End > len(text) {
				t.Fatalf("%q: feature %s at %d to %d", text, set.Name(int(o.Feature)), o.Start, o.End)
			}
			gram := strings.TrimSpace(set.grams[o.Feature][1:])
			at := string(new(analyzer).start(text[o.Start:o.End]))
			if !strings.Contains(strings.Join(strings.Fields(at), " "), gram) && !strings.Contains(at, "\ufffd") && !strings.Contains(gram, " ") {
				t.Errorf("%q: %q is at %q", text, gram, at)
			}
		}
		for id, n := range want {
			if got[id] != n {
				t.Errorf("%q: %s occurs %d times, counted %d", text, set.Name(int(id)), got[id], n)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%q: %d features occur, want %d", text, len(got), len(want))
		}
	}
	numbers := NewTable(record.Numbers, []string{"x"})
	if err := numbers.Add(record.Example{Values: []float64{1}}); err != nil {
		t.Fatal(err)
	}
	if err := numbers.Add(record.Example{Values: []float64{2}}); err != nil {
		t.Fatal(err)
	}
	plain, err := numbers.Fit([]int{0, 1}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if plain.Occurrences("x") != nil {
		t.Error("numbers occur in a text")
	}
}

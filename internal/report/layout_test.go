package report

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// heat is a matrix of n classes with hostile names, two of which form a block.
func heat(n int) *Heat {
	h := &Heat{Name: "heat", Title: "Confusions", Caption: "Which for which.", RowName: "true class", Column: "predicted class", Blocks: []Block{{0, 2, "both " + hostile}}}
	for i := range n {
		h.Labels = append(h.Labels, strings.Repeat("class ", i%9)+hostile)
		h.Totals = append(h.Totals, 10)
		h.Cells = append(h.Cells, Cell{i, i, 6}, Cell{i, (i + 1) % n, 4})
	}
	return h
}

// reliability is a figure with everything that is not in regimes.
func reliability() *Figure {
	return &Figure{Name: "reliability", Title: "Calibration", XLabel: "confidence, %", YLabel: "accuracy, %", Percent: true, PercentX: true, Whole: true, Diagonal: "as sure as right",
		Series: []Series{{Name: "model", X: []float64{0.1, 0.55, 0.97}, Y: []float64{0.2, 0.5, 1}, Low: []float64{0, 0.3, 0.9}, High: []float64{0.5, 0.7, 1}}},
		Bars:   &Bars{Name: "examples", Edges: []float64{0, 0.5, 0.75, 1}, Count: []float64{3, 0, 12}}}
}

// rich is a page with what whole lacks: wide pictures, parts that are folded, warnings, cards.
func rich() *Page {
	wide := Table{Name: "wide", Caption: "Wide", Heads: slices.Repeat([]string{"a long heading"}, 12), Rows: [][]string{slices.Repeat([]string{"12345"}, 12)}}
	cards := Table{Name: "cards", Caption: "Cards", Cards: true, Heads: []string{"class", "text", "p"}, Rows: [][]string{{"a", strings.Repeat("word ", 40) + hostile, "0.5"}}}
	signs := &Chart{Name: "signs", Title: "Signs", Rows: []string{"up", "down", "unsure"}, Signs: &Signs{"better", "worse", "no difference"},
		Series: []Series{{Name: "d", Y: []float64{0.2, -0.1, 0.1}, Low: []float64{0.1, -0.2, -0.1}, High: []float64{0.3, -0.05, 0.3}}}}
	return &Page{Title: "Rich", Lead: []string{"Lead."}, Warnings: []string{"too few " + hostile}, Sections: []Section{
		{Heading: "Open", Pictures: []Picture{heat(40), reliability(), signs}, Tables: []Table{wide, cards}},
		{Heading: "Folded", Closed: true, Short: "In short.", Pictures: []Picture{&Figure{Name: "empty", Title: "Empty", LogX: true, XLabel: "n"}}},
	}}
}

func TestHeat(t *testing.T) {
	for _, n := range []int{2, 5, 26, 77, 150, mostHeat} {
		h := heat(n)
		text := svg(t, h)
		wellFormed(t, text)
		if got := strings.Count(string(text), "<g><title>"); got < 2*n-1 {
			t.Errorf("%d classes: %d titles, want one for each of %d cells", n, got, 2*n)
		}
		s, err := h.scene(true)
		if err != nil {
			t.Fatal(err)
		}
		if s.width > 1140 || s.height > 1200 {
			t.Errorf("%d classes: %v by %v pixels, want what fits a screen", n, s.width, s.height)
		}
		for m := range s.all() {
			length := s.fonts.width(m.label, m.size) // of a label; 0 of all else
			back := length * map[string]float64{"middle": 0.5, "end": 1}[m.anchor]
			for _, q := range m.points {
				low, high, end := q.x-back, q.x-back+length, s.width
				if m.upwards {
					low, high, end = q.y-length, q.y, s.height
				}
				if low < 0 || high > end+1e-9 || q.x > s.width || q.y > s.height {
					t.Errorf("%d classes: %q at %v is not in the picture of %v by %v", n, m.label, q, s.width, s.height)
				}
			}
		}
		if !bytes.Equal(text, svg(t, heat(n))) {
			t.Errorf("%d classes: differs when drawn twice", n)
		}
	}
	h := heat(2)
	h.Labels[1] = "b" // row a: 6 right, 4 as b
	if text := string(svg(t, h)); !strings.Contains(text, "predicted as b: 4 of 10 (40 %)") || !strings.Contains(text, "b, right: 6 of 10 (60 %)") {
		t.Errorf("cells do not tell their counts:\n%s", text)
	}
	var out bytes.Buffer
	if err := h.WriteCSV(&out); err != nil || !strings.Contains(out.String(), "\nb,b,6\n") {
		t.Errorf("the CSV is %q, %v", out.String(), err)
	}
	for _, bad := range []*Heat{
		{Name: "h", Title: "h", Labels: []string{"a"}},
		{Name: "h", Title: "h", Labels: []string{"a"}, Totals: []float64{1}, Cells: []Cell{{0, 1, 1}}},
		{Name: "h", Title: "h", Labels: []string{"a"}, Totals: []float64{1}, Cells: []Cell{{0, 0, math.NaN()}}},
		{Name: "h", Title: "h", Labels: []string{"a"}, Totals: []float64{1}, Blocks: []Block{{0, 2, ""}}},
		{Name: "h", Title: "h", Labels: make([]string, mostHeat+1), Totals: make([]float64, mostHeat+1)},
	} {
		if err := WriteSVG(&out, bad); err == nil {
			t.Errorf("drawn: %+v", bad)
		}
	}
}

// contrast is that of two colours as WCAG 2 defines it.
func contrast(a, b string) float64 {
	light := func(colour string) float64 {
		sum := 0.0
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			v := 0
			for _, c := range colour[1+2*i : 3+2*i] {
				v = 16*v + strings.IndexRune("0123456789abcdef", c)
			}
			x := float64(v) / 255
			if x <= 0.03928 {
				x /= 12.92
			} else {
				x = math.Pow((x+0.055)/1.055, 2.4)
			}
			sum += weight * x
		}
		return sum
	}
	x, y := light(a), light(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// Text can be read on what it stands on, in both styles: contrast 4.5, and 3 for marks.
func TestContrast(t *testing.T) {
	check := func(text, ground ink, least float64) {
		for n, pair := range [][2]string{{palette[text].light, palette[ground].light}, {palette[text].dark, palette[ground].dark}} {
			if c := contrast(pair[0], pair[1]); c < least {
				t.Errorf("%s on %s in style %d has the contrast %.2f, want %v", palette[text].class, palette[ground].class, n, c, least)
			}
		}
	}
	check(words, paper, 4.5)
	check(faint, paper, 4.5)
	check(3, paper, 3)
	check(2, paper, 3)
	for step := range ink(heatSteps) {
		on := words
		if step >= heatSteps-2 {
			on = strong
		}
		check(on, right+step, 4.5)
		check(on, wrong+step, 4.5)
	}
}

// A gain, a loss and what may be chance do not look the same.
func TestSigns(t *testing.T) {
	chart := rich().Sections[0].Pictures[2].(*Chart)
	text := string(svg(t, chart))
	for _, want := range []string{"better", "worse", "no difference"} {
		if !strings.Contains(text, ">"+want+"<") {
			t.Errorf("the legend lacks %q", want)
		}
	}
	marker := regexp.MustCompile(`<title>(\w+), d: .*</title>(?:<path [^>]*>\n)*<(?:path|circle) [^>]* class="([^"]*)"/>\n</g>`)
	found := map[string]string{}
	for _, m := range marker.FindAllStringSubmatch(text, -1) {
		found[m[1]] = m[2]
	}
	if found["up"] != "f3 sp" || found["down"] != "f2 sp" || found["unsure"] != "fp sa" {
		t.Errorf("the markers have the classes %v", found)
	}
}

// A chart whose numbers are all 0 has an axis, too.
func TestAllTheSame(t *testing.T) {
	zero := []float64{0, 0}
	c := &Chart{Name: "c", Title: "c", Rows: []string{"a", "b"}, Zero: true, Signs: &Signs{}, Series: []Series{{Name: "d", Y: zero, Low: zero, High: zero}}}
	if text := svg(t, c); regexp.MustCompile(`="[^"]*(NaN|Inf)`).Match(text) {
		t.Errorf("a place is no number:\n%s", text)
	}
}

// Error bars of several series at one x do not lie on each other, and the logarithmic axis says so.
func TestDodge(t *testing.T) {
	f := regimes()
	bars := regexp.MustCompile(`<path d="M([\d.]+) [\d.]+L([\d.]+) [\d.]+" fill="none" stroke="[^"]*" stroke-width="1" stroke-linejoin="round" class="s[1-6]"/>`)
	seen := map[string]int{}
	for _, m := range bars.FindAllStringSubmatch(string(svg(t, f)), -1) {
		if m[1] == m[2] { // upright
			seen[m[1]]++
		}
	}
	if len(seen) != 60 {
		t.Errorf("60 error bars stand at %d places", len(seen))
	}
	if text := string(svg(t, f)); strings.Count(text, "(logarithmic)") != 2 {
		t.Error("the axes do not say that they are logarithmic")
	}
}

// All links lead to files that Save wrote, and to parts of the page.
func TestLinksResolve(t *testing.T) {
	for _, p := range []*Page{whole(t), rich()} {
		dir := t.TempDir()
		if _, err := p.Save(dir); err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile(filepath.Join(dir, "index.html"))
		if err != nil {
			t.Fatal(err)
		}
		links := regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(string(page), -1)
		if len(links) < 4 {
			t.Errorf("%d links", len(links))
		}
		for _, link := range links {
			if id, ok := strings.CutPrefix(link[1], "#"); ok {
				if !strings.Contains(string(page), `id="`+id+`"`) {
					t.Errorf("no part %q", id)
				}
			} else if info, err := os.Stat(filepath.Join(dir, link[1])); err != nil || info.Size() == 0 {
				t.Errorf("the link to %q: %v", link[1], err)
			}
		}
	}
}

// No line of a section is half empty: narrow parts come in pairs or take the whole line.
func TestBlocks(t *testing.T) {
	small := Table{Caption: "s", Heads: []string{"a", "b"}, Rows: [][]string{{"1", "2"}}}
	wide := rich().Sections[0].Tables[0]
	figure := func(name string) Picture { return &Figure{Name: name, Title: name} }
	for _, tc := range []struct {
		name string
		s    Section
		want string // of each block whether it is half a line or a whole one
	}{
		{"two pictures", Section{Pictures: []Picture{figure("a"), figure("b")}}, "hh"},
		{"one alone", Section{Pictures: []Picture{figure("a")}}, "F"},
		{"with a narrow table", Section{Pictures: []Picture{figure("a")}, Tables: []Table{wide, small}}, "hhF"},
		{"with a wide table", Section{Pictures: []Picture{figure("a")}, Tables: []Table{wide}}, "FF"},
		{"three", Section{Pictures: []Picture{figure("a"), figure("b"), figure("c")}}, "hhF"},
		{"around a wide picture", Section{Pictures: []Picture{figure("a"), heat(30), figure("b")}}, "hhF"},
	} {
		blocks, err := tc.s.blocks()
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, b := range blocks {
			got += map[bool]string{true: "F", false: "h"}[strings.Contains(b.Class, "full")]
		}
		if got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
	if blocks, _ := (&Section{Tables: []Table{wide, small}}).blocks(); blocks[0].Scroll == "" || blocks[1].Scroll != "" {
		t.Errorf("hints for scrolling: %q and %q, want one for the wide table alone", blocks[0].Scroll, blocks[1].Scroll)
	}
}

// A page that cannot be written leaves nothing: no file, no folder, no half of it.
func TestSaveWholeOrNot(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	if _, err := rich().Save(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "late.csv"), 0o777); err != nil { // where a file should go
		t.Fatal(err)
	}
	before, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	changed := rich()
	changed.Title = "Changed"
	changed.Sections = append(changed.Sections, Section{Heading: "Late", Pictures: []Picture{&Figure{Name: "late", Title: "late"}}})
	if _, err := changed.Save(dir); err == nil {
		t.Error("a folder was replaced by a file")
	}
	after, err := os.ReadDir(dir)
	if err != nil || len(after) != len(before) {
		t.Errorf("%d files after a failure, %d before: %v", len(after), len(before), err)
	}
	if page, err := os.ReadFile(filepath.Join(dir, "index.html")); err != nil || strings.Contains(string(page), "Changed") {
		t.Errorf("a failure changed the page: %v", err)
	}
}

// Where bars stand below a plot, they share its axis and are in the CSV file.
func TestBars(t *testing.T) {
	f := reliability()
	text := string(svg(t, f))
	if !strings.Contains(text, "examples from 75 to 100: 12") || !strings.Contains(text, "as sure as right") {
		t.Errorf("the picture lacks bars or the diagonal:\n%s", text)
	}
	var out bytes.Buffer
	if err := f.WriteCSV(&out); err != nil || !strings.Contains(out.String(), "examples,0.875,12,,,") {
		t.Errorf("%v, %s", err, out.String())
	}
	f.Bars.Edges = f.Bars.Edges[1:]
	if err := WriteSVG(&out, f); err == nil {
		t.Error("bars without an edge were drawn")
	}
}

package report

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/covertree"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/metric"
)

const hostile = "<script>alert(1)</script> \"' & ]]> \x00\x01 \ufffe </svg></style> \n\t%s {{.}}"

// regimes is a figure like those of the paper: six losses over powers of two.
func regimes() *Figure {
	f := &Figure{Name: "data-regimes-n", Title: "Accuracy over the number of training examples", Caption: "d = 64, k = 10.",
		XLabel: "training examples n", YLabel: "accuracy", LogX: true, LogY: true}
	for i, name := range []string{"cross entropy", "U-tree", "V-tree", "SimLoss", "hierarchical softmax", "linkage"} {
		s := Series{Name: name}
		for n := 16.0; n <= 8192; n *= 2 {
			y := 0.12 + 0.08*math.Log2(n/16)*(1+0.1*math.Sin(float64(i))) + 0.013*float64(i)
			s.X, s.Y, s.Low, s.High = append(s.X, n), append(s.Y, y), append(s.Low, y-0.02), append(s.High, y+0.02)
		}
		f.Series = append(f.Series, s)
	}
	f.Markers = []Marker{{"V-tree", 100, 0.45, "the paper's value"}, {"cross entropy", 100, 0.325, "the paper's value"}, {"", 100, 0.2, "chance"}}
	return f
}

// gains is a chart with hostile names and a row without a number.
func gains() *Chart {
	return &Chart{Name: "gains", Title: "Gains " + hostile, XLabel: "points", Rows: []string{hostile, "卡片 😀", "missing", strings.Repeat("long ", 40)},
		Percent: true, Stems: true, Series: []Series{
			{Name: "a", Y: []float64{0.1, -0.2, math.NaN(), 0}, Low: []float64{0, -0.3, math.NaN(), math.NaN()}, High: []float64{0.2, -0.1, math.NaN(), math.NaN()}},
			{Name: hostile, Y: []float64{0.3, math.Inf(1), 1e308, -0.1}, Look: 8},
		}}
}

func smallTree(t *testing.T, labels []string) *labeltree.Tree {
	t.Helper()
	space := metric.Func(len(labels), func(i, j int) float64 { return math.Hypot(float64(i%31-j%31), float64(i/31-j/31)) })
	ct, err := covertree.New(space, covertree.Options{Base: 1.3})
	if err != nil {
		t.Fatal(err)
	}
	tree, err := labeltree.V(ct, labels)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func whole(t *testing.T) *Page {
	return &Page{Title: "All " + hostile, Lead: []string{"First.", hostile},
		Sections: []Section{
			{Heading: "Figures", Paragraphs: []string{hostile}, Pictures: []Picture{regimes(), gains()}},
			{Heading: "Tables", Tables: []Table{
				{Name: "table", Caption: "Open", Heads: []string{"class", "count"}, Rows: [][]string{{hostile, "1"}, {"a_b", "2"}}},
				{Caption: "Closed", Heads: []string{"class"}, Rows: [][]string{{"x"}, {"y"}, {"z"}}, Closed: true, Most: 2}}},
			{Heading: "Trees", Tree: smallTree(t, []string{"<script>x</script>", "b & c", "d"})},
			{Heading: "More trees", Tree: smallTree(t, []string{"e", "f"})},
		},
		Facts: []Fact{{"seed", "1"}, {hostile, hostile}}}
}

// wellFormed returns how often each element occurs.
func wellFormed(t *testing.T, text []byte) map[string]int {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(text))
	count := map[string]int{}
	for {
		token, err := d.Token()
		if err == io.EOF {
			return count
		}
		if err != nil {
			t.Fatalf("not well formed: %v", err)
		}
		if e, ok := token.(xml.StartElement); ok {
			count[e.Name.Local]++
		}
	}
}

func svg(t *testing.T, p Picture) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := WriteSVG(&out, p); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestSVG(t *testing.T) {
	for _, p := range []Picture{regimes(), gains()} {
		text := svg(t, p)
		count := wellFormed(t, text)
		if count["script"] > 0 || count["svg"] != 1 || count["title"] < 2 || count["desc"] != 1 {
			t.Errorf("%s has the elements %v", p.about().Name, count)
		}
		if !bytes.Equal(text, svg(t, p)) {
			t.Errorf("%s differs when drawn twice", p.about().Name)
		}
		if regexp.MustCompile(`NaN|Inf|href|url\(|@import`).Match(text) {
			t.Errorf("%s holds a NaN or fetches something", p.about().Name)
		}
	}
	// 6 curves of 10 points: a marker each, three more beside them.
	if n := strings.Count(string(svg(t, regimes())), "<g><title>"); n != 63 {
		t.Errorf("%d points tell their numbers, want 63", n)
	}
}

// All is drawn inside the picture: texts, by their measured width, and points.
func TestNothingIsCut(t *testing.T) {
	for _, p := range []Picture{regimes(), gains(), &Figure{Name: "b", Title: strings.Repeat("many words ", 20), YLabel: strings.Repeat("y", 300), XLabel: "x",
		Series: []Series{{Name: strings.Repeat("series ", 30), X: []float64{1, 1e15}, Y: []float64{-1e-7, 1e14}}}}} {
		for _, own := range []bool{false, true} {
			s, err := p.scene(own)
			if err != nil {
				t.Fatal(err)
			}
			for m := range s.all() {
				for _, q := range m.points {
					left, right := q.x, q.x
					if width := s.fonts.width(m.label, m.size); m.label != "" {
						left -= width * map[string]float64{"middle": 0.5, "end": 1}[m.anchor]
						right = left + width
					}
					if left < 0 || right > s.width || q.y < 0 || q.y > s.height {
						t.Errorf("%s: %q at %v is not in the picture of %v by %v", p.about().Name, m.label, q, s.width, s.height)
					}
				}
			}
		}
	}
}

// all yields all marks, those inside of hints too.
func (s *scene) all() func(yield func(mark) bool) {
	return func(yield func(mark) bool) {
		for _, m := range s.marks {
			for _, inside := range m.inside {
				if !yield(inside) {
					return
				}
			}
			if !yield(m) {
				return
			}
		}
	}
}

func TestPNG(t *testing.T) {
	for _, p := range []Picture{regimes(), gains()} {
		var first, again bytes.Buffer
		if err := WritePNG(&first, p); err != nil {
			t.Fatal(err)
		}
		if err := WritePNG(&again, p); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first.Bytes(), again.Bytes()) {
			t.Errorf("%s differs when drawn twice", p.about().Name)
		}
		picture, err := png.Decode(&first)
		if err != nil {
			t.Fatal(err)
		}
		s, err := p.scene(true)
		if err != nil {
			t.Fatal(err)
		}
		if size := picture.Bounds().Size(); size.X != int(2*s.width) || math.Abs(float64(size.Y)-2*s.height) > 1 {
			t.Errorf("%s: %v dots, want twice %v by %v", p.about().Name, size, s.width, s.height)
		}
		// A loose look: mostly white, some ink, and of each series some.
		second := map[string]int{"gains": 8, "data-regimes-n": 2}[p.about().Name]
		for _, look := range []int{1, second} {
			if n := count(picture, ink(look)); n < 20 {
				t.Errorf("%s: %d dots have the colour of series %d", p.about().Name, n, look)
			}
		}
		if n := count(picture, paper); n < picture.Bounds().Dx()*picture.Bounds().Dy()/2 {
			t.Errorf("%s: only %d dots are white", p.about().Name, n)
		}
	}
}

func count(picture image.Image, i ink) int {
	r, g, b, _ := rgb(i, 0).RGBA()
	n := 0
	for y := range picture.Bounds().Dy() {
		for x := range picture.Bounds().Dx() {
			if r1, g1, b1, _ := picture.At(x, y).RGBA(); r1 == r && g1 == g && b1 == b {
				n++
			}
		}
	}
	return n
}

func TestCSVRoundTrip(t *testing.T) {
	f := regimes()
	f.Series[0].Y[3], f.Series[0].Low[4] = math.NaN(), math.Inf(-1)
	f.Series[1].Name = "comma, \"quote\"\nline"
	var out bytes.Buffer
	if err := f.WriteCSV(&out); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"series", "x", "y", "low", "high", "marker"}; !slices.Equal(rows[0], want) {
		t.Errorf("heads %q, want %q", rows[0], want)
	}
	number := func(text string) float64 {
		if text == "" {
			return math.NaN()
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Error(err)
		}
		return v
	}
	at := 1
	for _, s := range f.Series {
		for i := range s.X {
			row := rows[at]
			at++
			for j, want := range []float64{s.X[i], s.Y[i], s.Low[i], s.High[i]} {
				if got := number(row[j+1]); row[0] != s.Name || got != want && finite(want) || finite(got) != finite(want) {
					t.Errorf("row %q, want %v of %q", row, want, s.Name)
				}
			}
		}
	}
	if len(rows) != at+3 || rows[at][5] != "the paper's value" || rows[at][2] != "0.45" {
		t.Errorf("%d rows, the first marker is %q", len(rows), rows[at])
	}
	out.Reset()
	if err := (&Chart{Name: "c", Title: "c", Rows: []string{"a,b", "c"}, Series: []Series{{Name: "s", Y: []float64{0.1, math.NaN()}}}}).WriteCSV(&out); err != nil {
		t.Fatal(err)
	}
	if want := "series,row,x,low,high\ns,\"a,b\",0.1,,\ns,c,,,\n"; out.String() != want {
		t.Errorf("chart:\n%s, want\n%s", out.String(), want)
	}
}

// Nothing that is in a series makes a picture fail; what cannot be drawn is
// left out and breaks the curve.
func TestStrangeNumbers(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, tc := range []struct {
		name   string
		series Series
		log    bool
		want   int // points drawn
		curves int
	}{
		{"empty", Series{}, false, 0, 0},
		{"one point", Series{X: []float64{3}, Y: []float64{4}}, false, 1, 0},
		{"one point at 0", Series{X: []float64{0}, Y: []float64{0}}, false, 1, 0},
		{"one point, logarithms", Series{X: []float64{3}, Y: []float64{4}}, true, 1, 0},
		{"a gap", Series{X: []float64{1, 2, 3, 4, 5}, Y: []float64{1, 2, nan, 3, 4}}, false, 4, 2},
		{"all NaN", Series{X: []float64{1, 2}, Y: []float64{nan, nan}}, false, 0, 0},
		{"infinities", Series{X: []float64{1, inf, 3}, Y: []float64{1, 2, -inf}}, false, 1, 0},
		{"0 and below on logarithms", Series{X: []float64{0, 1, 2, 4}, Y: []float64{1, -1, 2, 3}}, true, 2, 1},
		{"0 alone on logarithms", Series{X: []float64{0}, Y: []float64{1}}, true, 0, 0},
		{"huge", Series{X: []float64{-1e299, 1e299}, Y: []float64{1e308, -1e308}}, false, 0, 0},
		{"large", Series{X: []float64{-1e299, 1e299}, Y: []float64{1e250, -1e250}}, false, 2, 1},
		{"tiny", Series{X: []float64{5e-324, 1}, Y: []float64{1e-200, 1e200}}, true, 1, 0},
		{"wide logarithms", Series{X: []float64{1e-200, 1}, Y: []float64{1e-200, 1e200}}, true, 2, 1},
		{"nearly equal", Series{X: []float64{1, 1 + 1e-15}, Y: []float64{1e15, 1e15 + 1}}, false, 2, 1},
		{"interval of NaN", Series{X: []float64{1, 2}, Y: []float64{1, 2}, Low: []float64{nan, -inf}, High: []float64{nan, inf}}, false, 2, 1},
		{"interval below 0 on logarithms", Series{X: []float64{1, 2}, Y: []float64{1, 2}, Low: []float64{-1, 1}, High: []float64{3, 3}}, true, 2, 1},
	} {
		for _, band := range []bool{false, true} {
			tc.series.Name = "s"
			f := &Figure{Name: "a", Title: "a", LogX: tc.log, LogY: tc.log, Band: band, Series: []Series{tc.series}}
			text := string(svg(t, f))
			wellFormed(t, []byte(text))
			if n := strings.Count(text, "<g><title>"); n != tc.want {
				t.Errorf("%s: %d points, want %d", tc.name, n, tc.want)
			}
			if n := strings.Count(text, `stroke-width="1.8"`) - 1; n != tc.curves {
				t.Errorf("%s: %d curves, want %d", tc.name, n, tc.curves)
			}
			if strings.Contains(text, "no data") != (tc.want == 0) {
				t.Errorf("%s: says that there is no data: %v", tc.name, tc.want != 0)
			}
			if regexp.MustCompile(`="[^"]*(NaN|Inf)`).MatchString(text) {
				t.Errorf("%s: a place is no number:\n%s", tc.name, text)
			}
			if err := WritePNG(io.Discard, f); err != nil {
				t.Errorf("%s: %v", tc.name, err)
			}
		}
		c := &Chart{Name: "a", Title: "a", Series: []Series{{Name: "s", Y: tc.series.Y, Low: tc.series.Low, High: tc.series.High}}}
		for i := range tc.series.Y {
			c.Rows = append(c.Rows, fmt.Sprint(i))
		}
		wellFormed(t, svg(t, c))
	}
}

func TestPage(t *testing.T) {
	p := whole(t)
	var first, second bytes.Buffer
	if err := p.WriteHTML(&first); err != nil {
		t.Fatal(err)
	}
	if err := p.WriteHTML(&second); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the page differs when written twice")
	}
	text := first.String()
	// As XML but for what HTML leaves open.
	closed := regexp.MustCompile(`<(meta [^>]*|wbr)>`).ReplaceAllString(strings.Replace(text, "<!DOCTYPE html>\n", "", 1), "<$1/>")
	count := wellFormed(t, []byte(strings.ReplaceAll(closed, "<details open>", `<details open="">`)))
	for element, want := range map[string]int{"script": 0, "link": 0, "img": 0, "svg": 4, "table": 2, "caption": 2, "details": 3, "metadata": 0, "h1": 1, "figure": 2, "figcaption": 1, "main": 1} {
		if count[element] != want {
			t.Errorf("%d elements %s, want %d", count[element], element, want)
		}
	}
	for _, unwanted := range []string{"<script", "src=", "url(", "@import", "http-equiv"} {
		if strings.Contains(text, unwanted) {
			t.Errorf("the page holds %q", unwanted)
		}
	}
	if links := regexp.MustCompile(`https?://[^"]*`).FindAllString(strings.ReplaceAll(text, "http://www.w3.org/2000/svg", ""), -1); links != nil {
		t.Errorf("the page links to %v", links)
	}
	for _, wanted := range []string{`<html lang="en">`, `scope="col"`, `scope="row"`, `role="img"`, "a_<wbr>b", "1 more rows", "prefers-color-scheme: dark", "&lt;script&gt;", "%s {{.}}"} {
		if !strings.Contains(text, wanted) {
			t.Errorf("the page lacks %q", wanted)
		}
	}
}

func TestThousandClasses(t *testing.T) {
	labels := make([]string, 1000)
	table := Table{Caption: "classes", Heads: []string{"class", "recall"}, Closed: true}
	c := &Chart{Name: "c", Title: "classes", Rows: labels, Series: []Series{{Name: "s"}}}
	for i := range labels {
		labels[i] = fmt.Sprintf("class number %d", i)
		table.Rows = append(table.Rows, []string{labels[i], "1"})
		c.Series[0].Y = append(c.Series[0].Y, float64(i))
	}
	p := &Page{Title: "t", Sections: []Section{{Heading: "h", Tables: []Table{table}, Tree: smallTree(t, labels)}}}
	var out bytes.Buffer
	if err := p.WriteHTML(&out); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "class number 999"); n != 3 { // the table; a name and a hint in the tree
		t.Errorf("the last class occurs %d times, want 3", n)
	}
	if err := WriteSVG(io.Discard, c); err == nil || !strings.Contains(err.Error(), "want at most") {
		t.Errorf("a chart of 1,000 rows: %v", err)
	}
}

func TestSave(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(other, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	p := whole(t)
	for range 2 { // the second time over the first
		names, err := p.Save(dir)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"index.html", "data-regimes-n.svg", "data-regimes-n.png", "data-regimes-n.csv", "gains.svg", "gains.png", "gains.csv", "table.csv", "tree.svg", "tree-2.svg"}
		if !slices.Equal(names, want) {
			t.Errorf("files %v, want %v", names, want)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != len(want)+1 {
			t.Errorf("%d files in the folder, want %d: %v, %v", len(entries), len(want)+1, entries, err)
		}
	}
	if text, err := os.ReadFile(other); err != nil || string(text) != "mine" {
		t.Errorf("another file holds %q, %v", text, err)
	}
	if svg, err := os.ReadFile(filepath.Join(dir, "tree.svg")); err != nil || !strings.Contains(string(svg), "<title>Tree of 3 classes</title>") {
		t.Errorf("tree.svg is no picture of the tree: %v", err)
	}
	// A page that cannot be drawn leaves everything as it was.
	before, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	p.Title = "new"
	p.Sections[3].Pictures = []Picture{&Chart{Name: "late", Title: "x", Rows: []string{"a"}, Series: []Series{{Name: "s"}}}}
	if _, err := p.Save(dir); err == nil {
		t.Error("a chart without numbers for its rows was drawn")
	}
	if after, err := os.ReadFile(filepath.Join(dir, "index.html")); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the failure changed the page: %v", err)
	}
	if _, err := (&Page{Title: "t"}).Save(filepath.Join(dir, "no", "where")); err == nil {
		t.Error("a folder below none was made")
	}
	if _, err := (&Page{Title: "t"}).Save(other); err == nil {
		t.Error("a page was written into a file as if it were a folder")
	}
}

func TestErrors(t *testing.T) {
	ok := func() *Figure { return &Figure{Name: "a", Title: "a"} }
	chart := &Chart{Name: "a", Title: "a"}
	one := []float64{1}
	for _, tc := range []struct {
		name string
		page Page
		want string
	}{
		{"no title", Page{}, "no title"},
		{"no heading", Page{Title: "t", Sections: []Section{{}}}, "no heading"},
		{"nil picture", Page{Title: "t", Sections: []Section{{Heading: "h", Pictures: []Picture{nil}}}}, "nil picture"},
		{"path", pageOf(&Figure{Name: "../a", Title: "a"}), `'.'`},
		{"no name", pageOf(&Figure{Title: "a"}), "0 characters"},
		{"no figure title", pageOf(&Figure{Name: "a"}), "no title"},
		{"twice", pageOf(ok(), chart), `named "a"`},
		{"index", pageOf(&Figure{Name: "index", Title: "a"}), "that of the page"},
		{"uneven series", pageOf(&Figure{Name: "a", Title: "a", Series: []Series{{Name: "s", X: one}}}), "0 numbers, 0 low and 0 high for 1 places"},
		{"low without high", pageOf(&Figure{Name: "a", Title: "a", Series: []Series{{Name: "s", X: one, Y: one, Low: one}}}), "1 low and 0 high"},
		{"series without a name", pageOf(&Figure{Name: "a", Title: "a", Series: []Series{{}}}), "name of its own"},
		{"one series twice", pageOf(&Figure{Name: "a", Title: "a", Series: []Series{{Name: "s"}, {Name: "s"}}}), "name of its own"},
		{"look", pageOf(&Figure{Name: "a", Title: "a", Series: []Series{{Name: "s", Look: 9}}}), "0 to 8"},
		{"marker of none", pageOf(&Figure{Name: "a", Title: "a", Markers: []Marker{{Series: "s"}}}), "not there"},
		{"chart", pageOf(&Chart{Name: "a", Title: "a", Rows: []string{"r"}, Series: []Series{{Name: "s"}}}), "0 numbers"},
		{"chart series without a name", pageOf(&Chart{Name: "a", Title: "a", Series: []Series{{}}}), "name of its own"},
		{"chart look", pageOf(&Chart{Name: "a", Title: "a", Series: []Series{{Name: "s", Look: -1}}}), "0 to 8"},
		{"uneven table", Page{Title: "t", Sections: []Section{{Heading: "h", Tables: []Table{{Caption: "c", Heads: []string{"a"}, Rows: [][]string{{}}}}}}}, "0 cells"},
		{"table without a caption", Page{Title: "t", Sections: []Section{{Heading: "h", Tables: []Table{{}}}}}, "without a caption"},
		{"table's name", Page{Title: "t", Sections: []Section{{Heading: "h", Tables: []Table{{Caption: "c", Name: "A"}}}}}, `'A'`},
	} {
		if _, err := tc.page.Save(filepath.Join(t.TempDir(), "x")); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q in it", tc.name, err, tc.want)
		}
		var out bytes.Buffer
		if err := tc.page.WriteHTML(&out); err == nil || out.Len() > 0 {
			t.Errorf("%s: WriteHTML returned %v and wrote %d bytes", tc.name, err, out.Len())
		}
	}
}

func pageOf(p ...Picture) Page {
	return Page{Title: "t", Sections: []Section{{Heading: "h", Pictures: p}}}
}

// Whatever the numbers, a picture is well formed and all of it is inside.
func FuzzFigure(f *testing.F) {
	f.Add(1.0, 2.0, 3.0, 0.5, 2.5, 10.0, byte(0))
	f.Add(16.0, 1e-5, 8192.0, 0.0, 1.0, 1e9, byte(7))
	f.Add(-1e290, 1e290, 0.0, math.Inf(-1), math.NaN(), 5e-324, byte(9))
	f.Fuzz(func(t *testing.T, a, b, c, d, e, g float64, flags byte) {
		figure := &Figure{Name: "f", Title: "f", LogX: flags&1 > 0, LogY: flags&2 > 0, Percent: flags&4 > 0, Zero: flags&8 > 0, Band: flags&16 > 0,
			Series:  []Series{{Name: "s", X: []float64{a, b, c}, Y: []float64{d, e, g}, Low: []float64{e, d, a}, High: []float64{g, a, b}}},
			Markers: []Marker{{"s", g, a, "m"}, {"", c, d, "n"}}}
		chart := &Chart{Name: "c", Title: "c", Rows: []string{"x", "y", "z"}, Percent: flags&4 > 0, Zero: flags&8 > 0, Stems: flags&16 > 0,
			Series: []Series{{Name: "s", Y: []float64{d, e, g}, Low: []float64{e, d, a}, High: []float64{g, a, b}}}}
		for _, p := range []Picture{figure, chart} {
			wellFormed(t, svg(t, p))
			s, err := p.scene(false)
			if err != nil {
				t.Fatal(err)
			}
			for m := range s.all() {
				for _, q := range m.points {
					if !(q.x >= 0 && q.x <= s.width && q.y >= 0 && q.y <= s.height) {
						t.Errorf("%s: a mark at %v, outside of the picture", p.about().Name, q)
					}
				}
			}
		}
	})
}

package explorer

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/treeloss/treeloss/internal/pagetest"
)

// saved writes the files of a page into a folder and returns its address.
func saved(t testing.TB, e *Explorer) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "page")
	if err := e.Save(context.Background(), dir); err != nil {
		t.Fatal(err)
	}
	return "file://" + filepath.Join(dir, "index.html")
}

// BenchmarkPage opens the files of 20,000 classes, then zooms and pans the tree and the map
// over 120 frames each.
func BenchmarkPage(b *testing.B) {
	for _, taxonomy := range []bool{true, false} {
		for _, k := range []int{20_000, 100_000} {
			b.Run(fmt.Sprintf("classes=%d/taxonomy=%v", k, taxonomy), func(b *testing.B) {
				url := saved(b, synthetic(b, k, taxonomy))
				browser := pagetest.Open(b)
				for b.Loop() {
					p := browser.Page(url, 1280, 800, false)
					p.Wait("state.m && T.drawn > 0")
					number := func(script string) float64 {
						x, err := strconv.ParseFloat(p.Eval(script), 64)
						if err != nil {
							b.Fatal(script, err)
						}
						return x
					}
					b.ReportMetric(number("performance.getEntriesByName('first-picture')[0].startTime"), "ms/first")
					b.ReportMetric(number(`(async () => {
						const frame = () => new Promise(requestAnimationFrame), start = performance.now();
						for (let i = 0; i < 120; i++) { if (i < 60) treeZoom(1.1, 300 + i); else { T.top += 6 / T.scale; treeLimits(state.m); redraw(); } await frame(); }
						return 120e3 / (performance.now() - start);
					})()`), "tree-frames/s")
					b.ReportMetric(number(`(() => { const took = []; for (let i = 0; i < 41; i++) { const start = performance.now(); drawTree(); took.push(performance.now() - start); } return took.sort((a, b) => a - b)[20]; })()`), "tree-ms/draw")
					p.Eval("setView('map')")
					p.Wait("state.m.cells && C.drawn > 0")
					b.ReportMetric(number(`(async () => {
						const frame = () => new Promise(requestAnimationFrame), start = performance.now();
						for (let i = 0; i < 120; i++) { if (i < 60) mapZoom(1.06, 400, 400); else { C.x += 4 / C.s; C.y += 4 / C.s; mapLimits(state.m); redraw(); } await frame(); }
						return 120e3 / (performance.now() - start);
					})()`), "map-frames/s")
					b.ReportMetric(number(`(() => { const took = []; for (let i = 0; i < 41; i++) { const start = performance.now(); drawMap(); took.push(performance.now() - start); } return took.sort((a, b) => a - b)[20]; })()`), "map-ms/draw")
				}
			})
		}
	}
}

// The main paths, in a real browser, on files from a disk: search, click, two classes, keys,
// folding, the map and a cell of it. Names and texts that would be HTML stay text.
func TestInBrowser(t *testing.T) {
	e, _, _ := measuredSmall(t, 24)
	url := saved(t, e)
	browser := pagetest.Open(t)
	p := browser.Page(url, 1280, 800, false)
	p.Wait("state.m && T.drawn > 0")
	title := `document.querySelector("#details h2").textContent`
	expect := func(what, script, want string) {
		t.Helper()
		got := p.Eval(script)
		if text, err := strconv.Unquote(got); err == nil {
			got = strconv.Quote(text)
		}
		if got != want {
			t.Errorf("%s: %s is %s, want %s", what, script, got, want)
		}
	}
	number := func(script string) float64 {
		t.Helper()
		x, err := strconv.ParseFloat(p.Eval(script), 64)
		if err != nil {
			t.Fatal(script, err)
		}
		return x
	}
	expect("start", `$("name").textContent`, `"small <model>"`)
	expect("start", `$("about").textContent`, `"24 classes · 145 test examples of test.jsonl · tree of the model"`)

	p.Press("/")
	p.Type("CLASS_09")
	p.Wait(`!$("found").hidden`)
	expect("search", `$("found").textContent`, `"class_09 of group_2"`)
	p.Press("ArrowDown")
	p.Press("Enter")
	p.Wait(title + ` === "class_09 of group_2"`)
	p.Wait(`/Strongest features/.test($("details").textContent)`)

	// A click at the label of a class, and one with Shift at another.
	at := func(class int, shift bool) {
		t.Helper()
		p.Wait(fmt.Sprintf("T.hits.some(x => x.v === state.m.nodeOf[%d])", class))
		y := number(fmt.Sprintf("(() => { const x = T.hits.find(x => x.v === state.m.nodeOf[%d]), r = $('tree').getBoundingClientRect(); return r.top + (x.a + x.b) / 2; })()", class))
		p.Click(number("$('tree').getBoundingClientRect().left + T.x1 + 60"), y, shift)
	}
	at(10, false)
	p.Wait(title + ` === "class_10 of group_2"`)
	p.Wait(`/Predicted as another class/.test($("details").textContent)`)
	at(11, true)
	p.Wait(title + ` === "class_10 of group_2 and not class_11 of group_2?"`)
	p.Wait(`/Features for class_10/.test($("details").textContent)`)
	p.Eval(`pair(10, 20)`) // never confused: their features need the model
	p.Wait(`/need the model/.test($("details").textContent)`)

	// Hostile names are text wherever they are.
	for c := range hostile {
		p.Eval(fmt.Sprintf("choose(state.m.nodeOf[%d]); reveal(state.m, state.m.nodeOf[%[1]d])", c))
		p.Wait(`/answers, the surest first/.test($("details").textContent)`)
	}
	expect("hostile", `document.querySelectorAll("img, aside b, aside i, main script").length + Number("hacked" in window)`, "0")
	expect("hostile", `/[\u202a-\u202e\u2066-\u2069]/.test(document.body.textContent)`, "false")
	expect("long", `Math.max(...[...document.querySelectorAll("#details bdi")].map(x => x.textContent.length)) <= 300`, "true")

	// Keys on the tree.
	p.Eval(`choose(state.m.nodeOf[12]); $("tree").focus()`)
	p.Press("ArrowDown")
	p.Wait(title + ` === "class_13 of group_3"`)
	p.Press("ArrowLeft")
	p.Wait(title + ` === "group 3 <i>"`)
	p.Press(" ")
	p.Wait("state.m.closed.size === 1")
	p.Wait("T.hits.some(x => x.v === state.chosen)")
	p.Press("ArrowRight") // unfolds
	p.Wait("state.m.closed.size === 0 && state.m.cls[state.chosen] === 12")
	p.Press("ArrowLeft")
	p.Press("Enter")
	p.Wait("T.focus === state.chosen || T.scale === tallest")
	p.Wait(`/group 3 <i>/.test($("said").textContent)`)

	// Colours.
	p.Eval(`$("colour").value = "support"; $("colour").dispatchEvent(new Event("change"))`)
	expect("legend", `/^Support/.test($("legend").textContent)`, "true")

	// The map: a cell off the diagonal has its examples, and keys go through cells.
	p.Eval(`$("tab-map").click()`)
	p.Wait("state.m.cells && C.drawn > 0")
	x := number("(() => { const r = $('map').getBoundingClientRect(); return r.left + C.left + (state.m.rowOf[11] + .5 - C.x) * C.s; })()")
	y := number("(() => { const r = $('map').getBoundingClientRect(); return r.top + C.top + (state.m.rowOf[10] + .5 - C.y) * C.s; })()")
	p.Click(x, y, false)
	p.Wait(title + ` === "class_10 of group_2 predicted as class_11 of group_2"`)
	p.Wait(`document.querySelectorAll("#details .example").length > 0`)
	p.Eval(`$("map").focus()`)
	p.Press("ArrowUp")
	p.Press("Enter")
	p.Wait(title + ` === "class_09 of group_2 predicted as class_11 of group_2"`)
	p.Wait(`/No example of this cell/.test($("details").textContent)`)
	for _, c := range p.Complaints() {
		t.Errorf("the browser complains: %s", c)
	}

	// A telephone, light and dark: nothing is wider than the screen.
	for _, dark := range []bool{false, true} {
		p := browser.Page(url, 400, 800, dark)
		p.Wait("state.m && T.drawn > 0")
		p.Eval("pair(0, 5)")
		p.Wait(`/Confused/.test($("details").textContent)`)
		if got := p.Eval("document.documentElement.scrollWidth"); got != "400" {
			t.Errorf("dark %v: the page is %s wide on a screen of 400", dark, got)
		}
		// Each control has a name for those who do not see it.
		if got := p.Eval(`[...document.querySelectorAll("button, input, select, textarea, canvas")].filter(x => !(x.textContent.trim() || x.ariaLabel || x.labels?.length)).map(x => x.outerHTML)`); got != "[]" {
			t.Errorf("controls without a name: %s", got)
		}
		for _, c := range p.Complaints() {
			t.Errorf("the browser complains: %s", c)
		}
	}
}

// However many classes there are, a frame draws what is in view.
func TestDrawsWhatIsInView(t *testing.T) {
	browser := pagetest.Open(t)
	for _, taxonomy := range []bool{true, false} {
		p := browser.Page(saved(t, synthetic(t, 5000, taxonomy)), 1280, 800, true)
		p.Wait("state.m && T.drawn > 0")
		for _, script := range []string{"T.drawn", "treeZoom(8, 300), drawTree(), T.drawn", "treeZoom(1e9, 300), drawTree(), T.drawn"} {
			n, err := strconv.Atoi(p.Eval(script))
			if err != nil || n < 10 || n > 4000 {
				t.Errorf("taxonomy %v: %s is %d, want what fits into a window", taxonomy, script, n)
			}
		}
		p.Eval("setView('map')")
		p.Wait("state.m.cells && C.drawn > 0")
		if n, err := strconv.Atoi(p.Eval("mapZoom(50, 400, 400), drawMap(), C.drawn")); err != nil || n > 4000 {
			t.Errorf("taxonomy %v: the map draws %d cells and names", taxonomy, n)
		}
	}
}

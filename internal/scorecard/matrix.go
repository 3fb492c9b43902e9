package scorecard

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/treeloss/treeloss/evaluate"
	"github.com/treeloss/treeloss/internal/console"
	"github.com/treeloss/treeloss/internal/report"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/metric"
	"github.com/treeloss/treeloss/score"
)

// Sizes of what is drawn of a matrix, in classes.
const (
	wholeMatrix  = 160  // up to which all of it is drawn
	groupsDrawn  = 60   // else at most so many groups
	zoomFrom     = 35   // from which on cells have no numbers, and a part is drawn larger
	zoomClasses  = 12   // in that part
	joinedMost   = 2000 // up to which classes without a tree are put in an order
	matrixInCSV  = 3000 // up to which the whole matrix is a file
	listMistakes = 15   // in the table
)

// confusions shows what was predicted as what: all of the matrix, or sums over groups; parts
// of it with numbers; a list; and the whole as a file.
func (c *Card) confusions(m *evaluate.Matrix) report.Section {
	tree, order := arranged(m)
	s := report.Section{Heading: "Confusions", Pictures: []report.Picture{c.overview(m, tree, order)}}
	place := make([]int, len(order)) // of each class in the order
	for at, class := range order {
		place[class] = at
	}
	if len(order) >= zoomFrom {
		taken, parts := map[int]bool{}, 1
		if len(order) > wholeMatrix {
			parts = 3
		}
		for n := range parts { // with the table of mistakes they fill lines of two
			part := mostMistaken(m, taken)
			if len(part) < 2 {
				break
			}
			slices.SortFunc(part, func(a, b int) int { return cmp.Compare(place[a], place[b]) })
			name, title := "zoom", "The classes most mistaken for each other"
			if n > 0 {
				name, title = fmt.Sprintf("zoom-%d", n+1), "The next most mistaken for each other"
			}
			s.Pictures = append(s.Pictures, heat(m, part, name, title, "A part of the matrix, with the numbers of examples. Shares are of all examples of a class, those predicted as a class outside of this part among them."))
		}
	}
	all := report.Table{Name: "mistakes", Caption: "Most frequent mistakes", Most: listMistakes, Heads: []string{"class", "predicted as", "examples", "% of the class"},
		File: [][]string{{"label", "predicted", "examples", "share"}}}
	for _, x := range m.Mistakes {
		row, share := []string{m.Labels[x.True], m.Labels[x.Predicted], strconv.Itoa(x.Count)}, float64(x.Count)/float64(m.Support[x.True])
		all.Rows = append(all.Rows, append(slices.Clone(row), console.Points(share)))
		all.File = append(all.File, append(row, exact(share)))
	}
	if len(all.Rows) > 0 {
		s.Tables = append(s.Tables, all)
	}
	if len(order) <= matrixInCSV {
		s.Files = append(s.Files, report.File{Name: "confusions.csv", About: "The whole matrix as CSV, in this order", Write: func(w io.Writer) error { return m.WriteCSV(w, order) }})
	}
	return s
}

// arranged returns a tree over the classes and their order in it: that of the model or
// the taxonomy, else one that joins classes which are mistaken for each other, by average
// linkage over the distance
//
//	d(i, j) = 1 - (n_ij + n_ji) / (s_i + s_j)
//
// of n_ij examples of class i predicted as j, and s_i of class i in all. The tree is nil if
// there is none and the classes are too many to join.
func arranged(m *evaluate.Matrix) (*labeltree.Tree, []int) {
	k := len(m.Labels)
	if m.Tree != nil || k > joinedMost || k < 2 {
		return m.Tree, m.Order()
	}
	together := make(map[[2]int]int, len(m.Mistakes))
	for _, x := range m.Mistakes {
		together[[2]int{min(x.True, x.Predicted), max(x.True, x.Predicted)}] += x.Count
	}
	space := metric.Func(k, func(i, j int) float64 {
		if i == j {
			return 0
		}
		return 1 - float64(together[[2]int{min(i, j), max(i, j)}])/float64(max(1, m.Support[i]+m.Support[j]))
	})
	tree, err := labeltree.Linkage(space, m.Labels)
	if err != nil {
		return nil, m.Order()
	}
	joined := *m // the matrix of the caller goes on without a tree: no severity by this one
	joined.Tree = tree
	return tree, joined.Order()
}

// overview draws the whole matrix, of many classes by groups of them.
func (c *Card) overview(m *evaluate.Matrix, tree *labeltree.Tree, order []int) report.Picture {
	caption := "Rows are true classes, columns predicted ones"
	switch {
	case m.Tree != nil:
		caption += ", both in the order of the tree"
	case tree != nil:
		caption += "; classes that are mistaken for each other are neighbours"
	}
	caption += ". The colour is the share of the examples of the true class: blue for right answers, orange for mistakes. Point at a cell for its numbers."
	if len(order) <= wholeMatrix {
		h := heat(m, order, "confusions-map", "What was predicted as what", caption)
		h.Blocks = blocks(m, tree, order)
		return h
	}
	// Along a tree groups are smaller than they may be, hence more: larger ones until they fit.
	least := len(order)/groupsDrawn + 1
	runs := groups(tree, m.Labels, order, least)
	for len(runs) > groupsDrawn {
		least += least/4 + 1
		runs = groups(tree, m.Labels, order, least)
	}
	h := &report.Heat{Name: "confusions-map", Title: "What was predicted as what, by groups of classes", RowName: "true group", Column: "predicted group",
		Caption: fmt.Sprintf("%s classes in %d groups of neighbours. %s On the diagonal are answers within the right group, which need not be the right class.", thousands(len(order)), len(runs), caption)}
	group := make([]int, len(order)) // of each class
	counts := map[[2]int]int{}
	for i, run := range runs {
		h.Labels, h.Totals = append(h.Labels, run.name), append(h.Totals, 0)
		for _, class := range run.classes {
			group[class] = i
			h.Totals[i] += float64(m.Support[class])
			counts[[2]int{i, i}] += m.Right[class]
		}
	}
	for _, x := range m.Mistakes {
		counts[[2]int{group[x.True], group[x.Predicted]}] += x.Count
	}
	for i := range runs {
		for j := range runs {
			if n := counts[[2]int{i, j}]; n > 0 {
				h.Cells = append(h.Cells, report.Cell{Row: i, Column: j, Count: float64(n)})
			}
		}
	}
	return h
}

// heat draws the part of a matrix that is about some classes, in their order. Totals are
// those of all examples, so that the shares of a row add up to less than 1 in a part.
func heat(m *evaluate.Matrix, classes []int, name, title, caption string) *report.Heat {
	h := &report.Heat{Name: name, Title: title, Caption: caption, RowName: "true class", Column: "predicted class"}
	place := map[int]int{}
	for i, class := range classes {
		place[class] = i
		h.Labels, h.Totals = append(h.Labels, m.Labels[class]), append(h.Totals, float64(m.Support[class]))
		if m.Right[class] > 0 {
			h.Cells = append(h.Cells, report.Cell{Row: i, Column: i, Count: float64(m.Right[class])})
		}
	}
	for _, x := range m.Mistakes {
		row, ok := place[x.True]
		column, okToo := place[x.Predicted]
		if ok && okToo {
			h.Cells = append(h.Cells, report.Cell{Row: row, Column: column, Count: float64(x.Count)})
		}
	}
	return h
}

// mostMistaken returns up to zoomClasses classes that are mistaken for each other: the most
// frequent pair, then again and again the class with the most mistakes to and from those
// that are in, or the next pair where there is none. Classes that are taken are left
// out, and those returned are taken. A class is added for two mistakes or more: one may be
// chance. Ties go to the smaller number, as maps have no order. It takes time in proportion
// to the distinct mistakes, and zoomClasses times their classes.
func mostMistaken(m *evaluate.Matrix, taken map[int]bool) (part []int) {
	links := map[int][]score.Confusion{} // of each class, both ways
	counts := map[[2]int]int{}
	for _, x := range m.Mistakes {
		links[x.True], links[x.Predicted] = append(links[x.True], x), append(links[x.Predicted], x)
		counts[[2]int{min(x.True, x.Predicted), max(x.True, x.Predicted)}] += x.Count
	}
	pairs := slices.SortedFunc(maps.Keys(counts), func(a, b [2]int) int {
		return cmp.Or(counts[b]-counts[a], slices.Compare(a[:], b[:]))
	})
	gain := map[int]int{} // mistakes between a class outside and those inside
	add := func(class int) {
		part, taken[class] = append(part, class), true
		delete(gain, class)
		for _, x := range links[class] {
			if other := x.True + x.Predicted - class; !taken[other] {
				gain[other] += x.Count
			}
		}
	}
	for _, pair := range pairs {
		if taken[pair[0]] || taken[pair[1]] || len(part)+2 > zoomClasses {
			continue
		}
		add(pair[0])
		add(pair[1])
		for len(part) < zoomClasses && len(gain) > 0 {
			next := -1
			for class, n := range gain {
				if next < 0 || n > gain[next] || n == gain[next] && class < next {
					next = class
				}
			}
			if gain[next] < 2 {
				break // the next pair has more
			}
			add(next)
		}
	}
	return part
}

// run is classes that are neighbours.
type run struct {
	name    string
	classes []int
}

// groups cuts the classes into runs of at most so many, along the tree: a run is one
// subtree, or children of one node that follow each other. Without a tree it is a piece of
// the order.
func groups(t *labeltree.Tree, labels []string, order []int, most int) (list []run) {
	if t == nil {
		for from := 0; from < len(order); from += most {
			part := order[from:min(from+most, len(order))]
			list = append(list, run{rangeName(labels, part), part})
		}
		return list
	}
	// Subtrees that follow each other gather in pending until one more would be too many. A
	// group never reaches over the end of a node whose classes were cut: flush.
	var pending run
	subtrees := 0 // in pending
	flush := func() {
		if len(pending.classes) > 0 {
			if subtrees != 1 || pending.name == "" {
				pending.name = rangeName(labels, pending.classes)
			}
			list = append(list, pending)
		}
		pending, subtrees = run{}, 0
	}
	add := func(name string, classes []int) {
		if len(pending.classes)+len(classes) > most {
			flush()
		}
		pending.name, pending.classes = name, slices.Concat(pending.classes, classes)
		subtrees++
	}
	var cut func(v int)
	cut = func(v int) {
		below := slices.Clone(t.ClassesBelow(v)) // the tree's own memory is not sorted by node
		slices.SortFunc(below, func(a, b int) int { return t.Node(a) - t.Node(b) })
		if len(below) <= most {
			add(realName(t, v), below)
			return
		}
		flush()
		if class := t.Class(v); class >= 0 {
			add(labels[class], []int{class})
		}
		for _, child := range t.Children(v) {
			cut(child)
		}
		flush()
	}
	cut(0)
	flush()
	return list
}

// realName is the name of a node, "" if it was made up.
func realName(t *labeltree.Tree, v int) string {
	if t.MadeUp(v) {
		return ""
	}
	return t.Name(v)
}

// rangeName names classes by the first and the last of them.
func rangeName(labels []string, classes []int) string {
	first := labels[classes[0]]
	if len(classes) == 1 {
		return first
	}
	return first + " … " + labels[classes[len(classes)-1]]
}

// Numbers of blocks that are worth drawing.
const (
	fewBlocks  = 2
	manyBlocks = 40
)

// blocks are the groups of a taxonomy below its root, which have names; of another tree
// groups for orientation, where the classes are too many to be named.
func blocks(m *evaluate.Matrix, t *labeltree.Tree, order []int) (list []report.Block) {
	if t == nil {
		return nil
	}
	var runs []run
	for _, child := range t.Children(0) {
		if name := realName(t, child); name != "" && !t.IsLeaf(child) {
			runs = append(runs, run{name, t.ClassesBelow(child)})
		}
	}
	if len(runs) < fewBlocks || len(runs) > manyBlocks {
		if len(order) <= 88 { // all are named
			return nil
		}
		runs = groups(t, m.Labels, order, len(order)/16+1)
	}
	place := make([]int, len(order))
	for at, class := range order {
		place[class] = at
	}
	for _, r := range runs {
		from, to := len(order), 0
		for _, class := range r.classes {
			from, to = min(from, place[class]), max(to, place[class]+1)
		}
		list = append(list, report.Block{From: from, To: to, Name: r.name})
	}
	return list
}

// severityRows is the number of heights that are shown as rows of their own; taxonomies
// have fewer, and of a binary tree the rest counts as the last one.
const severityRows = 12

// severity shows how far from the truth mistakes are, by the height of the lowest common
// ancestor (Bertinetto et al. 2020), and how hedged answers do. What chance gives is exact:
// each mistake on class a spread over the k-1 others,
//
//	chance(h) = Σ_a wrong_a |{b ≠ a: height(lca(a, b)) = h}| / (k-1)
//
// in O(k²) lookups, hence up to joinedMost classes only. Without it a mean height says
// little: in a star all mistakes have height 1.
func (c *Card) severity(m *evaluate.Matrix) report.Section {
	t := m.Tree
	height := score.Heights(t)
	at := func(a, b int) int {
		return min(int(height[t.LCA(t.Node(a), t.Node(b))]), severityRows)
	}
	found, chance := make([]float64, severityRows+1), make([]float64, severityRows+1)
	mistakes, most := 0.0, 0
	wrong := make([]float64, len(m.Labels))
	for _, x := range m.Mistakes {
		found[at(x.True, x.Predicted)] += float64(x.Count)
		wrong[x.True] += float64(x.Count)
		mistakes += float64(x.Count)
	}
	if len(m.Labels) <= joinedMost {
		for a, n := range wrong {
			for b := range wrong {
				if a != b && n > 0 {
					chance[at(a, b)] += n / float64(len(wrong)-1)
				}
			}
		}
	}
	for h := range found {
		if found[h]+chance[h] > 0 {
			most = h
		}
	}
	chart := &report.Chart{Name: "severity", Title: "How far mistakes are from the right class", XLabel: "% of the mistakes", Percent: true, Stems: true,
		Caption: "By the height of the lowest common ancestor of the right and the predicted class: 1 is the same group at the bottom of the tree, the largest is only the root in common. Beside it a wrong class drawn at random."}
	model, random := report.Series{Name: "this model", Look: 3}, report.Series{Name: "a random wrong class", Look: 6}
	for h := 1; h <= most; h++ {
		name := fmt.Sprintf("height %d", h)
		if h == severityRows {
			name += " and more"
		}
		chart.Rows = append(chart.Rows, name)
		model.Y, random.Y = append(model.Y, found[h]/max(1, mistakes)), append(random.Y, chance[h]/max(1, mistakes))
	}
	chart.Series = []report.Series{model}
	if len(m.Labels) <= joinedMost {
		chart.Series = append(chart.Series, random)
	}
	s := report.Section{Heading: "Severity of mistakes", Paragraphs: []string{c.severityText(mistakes)}, Pictures: []report.Picture{chart}}
	if hedged := c.Evaluation.Hedging(); len(hedged) > 0 {
		figure, table := hedging(hedged)
		s.Pictures, s.Tables = append(s.Pictures, figure), append(s.Tables, table)
	}
	return s
}

// severityText says the mean.
func (c *Card) severityText(mistakes float64) string {
	r := c.Result
	if mistakes == 0 {
		return "No example was predicted as another class."
	}
	text := fmt.Sprintf("The mean height is %s", decimals(r.Report.MistakeSeverity))
	if i, ok := r.Intervals["mistake_severity"]; ok {
		text += fmt.Sprintf(" (95 %% interval %s to %s)", decimals(i.Low), decimals(i.High))
	}
	return text + fmt.Sprintf(" at an accuracy of %s %%: the two belong together, as many small mistakes lower the mean.", console.Points(r.Report.Accuracy))
}

// hedging shows what answers are worth that name a group where a class is too unsure (Deng
// et al. 2012): how often they are right, and the information that they carry.
func hedging(list []evaluate.Hedged) (report.Picture, report.Table) {
	// The confidence of the request may be one of those of the figure: a point once.
	slices.SortStableFunc(list, func(a, b evaluate.Hedged) int { return cmp.Compare(a.Confidence, b.Confidence) })
	list = slices.CompactFunc(list, func(a, b evaluate.Hedged) bool { return a.Confidence == b.Confidence })
	f := &report.Figure{Name: "hedging", Title: "Hedged answers: a group where the class is unsure", XLabel: "confidence that is asked for, %", YLabel: "%", Percent: true, PercentX: true, Whole: true,
		Diagonal: "right as often as asked for",
		Caption:  "The answer is the deepest node of the tree that is as probable as asked for. The more is asked for, the more answers are groups; they should be right at least as often as the line says."}
	right, single, information := report.Series{Name: "right", Look: 3}, report.Series{Name: "a single class", Look: 2}, report.Series{Name: "information", Look: 4}
	t := report.Table{Name: "hedging-numbers", Caption: "Hedged answers, in %", Heads: []string{"confidence", "right", "a single class", "right of these", "only the root", "information"}}
	value := func(s *report.Series, x float64, y *float64) {
		if y != nil {
			s.X, s.Y = append(s.X, x), append(s.Y, *y)
		}
	}
	for _, h := range list {
		x := h.Answers
		value(&right, h.Confidence, x.Accuracy)
		value(&single, h.Confidence, x.ClassShare)
		value(&information, h.Confidence, x.InformationShare)
		t.Rows = append(t.Rows, []string{strconv.FormatFloat(100*h.Confidence, 'g', 4, 64), percentOf(x.Accuracy), percentOf(x.ClassShare), percentOf(x.ClassAccuracy), percentOf(x.RootShare), percentOf(x.InformationShare)})
	}
	f.Series = []report.Series{right, single, information}
	return f, t
}

// Confidences are those at which a card shows hedged answers, for evaluate.Options.
func Confidences() []float64 { return []float64{0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99} }

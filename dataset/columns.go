package dataset

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/treeloss/treeloss/internal/input"
)

// The usual names, in lower case. Earlier ones win.
const (
	labelNames = "label labels class category intent target y species emoji tag topic genre"
	textNames  = "text sentence utterance query review tweet content message title question description " +
		"body comment document phrase headline abstract prompt input"
	listNames = "features x embedding vector values"

	// Of several labels, before those of one.
	severalNames = "labels tags categories topics genres classes"
)

// isID reports whether a column of this name numbers the rows. Spreadsheets
// and data frames write such a column without a name or as "Unnamed: 0". As a feature it
// would tell the classes of a sorted file, and nothing of another.
func isID(name string) bool {
	switch strings.ToLower(name) {
	case "", "id", "index", "row", "rowid", "row_id", "uid", "guid", "unnamed: 0":
		return true
	}
	return false
}

// column is a column of a table or a key of JSON objects, as the first record
// shows it.
type column struct {
	name  string
	holds holding
}

// holding is what a column holds in the first record.
type holding int

const (
	words  holding = iota
	number         // or, in CSV and TSV, nothing
	truth          // JSON true or false
	list           // JSON array, Parquet list of numbers
	soft           // JSON object of numbers
	other          // JSON object or null, other Parquet columns
)

// choice is which column plays which part; -1 is none.
type choice struct {
	label, weight, id int
	texts, categories []int // of texts the first is Example.Text
	numbers           []int
	list              bool  // numbers is one column with lists
	left              []int // columns beside a text, id columns and columns without numbers, passed over
}

// chooser finds the parts of the columns.
type chooser struct {
	cols        []column
	opts        Options
	noun        string         // "column" or "key"
	typed       bool           // what a column holds is known, not guessed from the first row
	first, last map[string]int // name to the columns that have it; they differ if several do
}

// newChooser takes the columns in file order. Names are put into maps once, since a
// table may have a million columns and Options.Columns may name each of them.
func newChooser(cols []column, opts Options, noun string, typed bool) *chooser {
	c := &chooser{cols: cols, opts: opts, noun: noun, typed: typed, first: make(map[string]int, len(cols)), last: make(map[string]int, len(cols))}
	for i, col := range cols {
		if _, twice := c.first[col.name]; !twice {
			c.first[col.name] = i
		}
		c.last[col.name] = i
	}
	return c
}

// choose returns the parts, or a message that says what cannot be found or is
// asked for twice. Columns that the options name are taken out first; the label is looked
// for among the others, and the text, or else the numbers, among what is left then.
func (c *chooser) choose() (got choice, err error) {
	got = choice{label: -1, weight: -1, id: -1}
	if err := c.fields(&got); err != nil {
		return got, err
	}
	if c.opts.Weight != "" {
		if got.weight, err = c.find(c.opts.Weight, "Options.Weight"); err != nil {
			return got, err
		}
	}
	if c.opts.ID != "" {
		if got.id, err = c.find(c.opts.ID, "Options.ID"); err != nil {
			return got, err
		}
	}
	if got.label, err = c.label(got); err != nil {
		return got, err
	}
	if err := c.apart(got); err != nil {
		return got, err
	}
	if len(c.opts.Columns) > 0 {
		if got, err = c.namedNumbers(got); err != nil || !got.textual() {
			return got, err
		}
		if err := c.apart(got); err != nil {
			return got, err
		}
		if got.list {
			return got, fmt.Errorf("Options.Columns names a %s of lists beside a text; name %ss with one number each", c.noun, c.noun)
		}
	}
	if len(got.texts) == 0 && len(c.opts.Columns) == 0 {
		taken := got.taken()
		if i := c.usual(textNames, func(i int) bool { return !taken[i] && (c.cols[i].holds == words || !c.typed) }); i >= 0 {
			got.texts = []int{i}
		}
	}
	if !got.textual() {
		return c.foundNumbers(got)
	}
	taken := got.taken()
	for i := range c.cols {
		if !taken[i] {
			got.left = append(got.left, i)
		}
	}
	for _, i := range got.texts {
		if err := c.unique(i); err != nil {
			return got, err
		}
	}
	return got, nil
}

// textual tells whether there are texts or categories, and not numbers alone.
func (g choice) textual() bool { return len(g.texts)+len(g.categories) > 0 }

// several tells whether there is more than one text.
func (g choice) several() bool {
	return g.textual() && (len(g.texts) != 1 || len(g.categories)+len(g.numbers) > 0)
}

// taken returns the columns that play a part, a set: one of a million columns is looked up
// in one step. It has -1, too, where a part has no column.
func (g choice) taken() map[int]bool {
	set := make(map[int]bool)
	for _, i := range slices.Concat([]int{g.label, g.weight, g.id}, g.texts, g.categories, g.numbers) {
		set[i] = true
	}
	return set
}

// fields finds the texts and categories that the options name.
func (c *chooser) fields(got *choice) error {
	names := []string{c.opts.Text}
	if _, whole := c.first[c.opts.Text]; !whole { // a name may hold a comma
		names = strings.Split(c.opts.Text, ",")
	}
	if c.opts.Text == "" {
		names = nil
	}
	for _, part := range []struct {
		names  []string
		option string
		to     *[]int
	}{{names, "Options.Text", &got.texts}, {c.opts.Categories, "Options.Categories", &got.categories}} {
		for _, name := range part.names {
			i, err := c.find(strings.TrimSpace(name), part.option)
			if err != nil {
				return err
			}
			*part.to = append(*part.to, i)
		}
	}
	return nil
}

// apart refuses a column that is to play two parts. An id may be the label, too, or a number.
func (c *chooser) apart(got choice) error {
	seen := make(map[int]bool)
	for _, i := range slices.Concat([]int{got.label, got.weight}, got.texts, got.categories, got.numbers) {
		if i >= 0 && seen[i] {
			return fmt.Errorf("%s %q is asked for as two of label, text, category, number, weight and id; name it once", c.noun, c.cols[i].name)
		}
		seen[i] = true
	}
	if i := got.id; i >= 0 && i != got.label && seen[i] && !slices.Contains(got.numbers, i) {
		return fmt.Errorf("%s %q is asked for as an id and as another part; name another", c.noun, c.cols[i].name)
	}
	return nil
}

// label returns the label's column, -1 if it is missing and may be.
func (c *chooser) label(got choice) (int, error) {
	if name := c.opts.Label; name != "" {
		i, err := c.find(name, "Options.Label")
		occurs := slices.ContainsFunc(c.cols, func(col column) bool { return strings.EqualFold(col.name, name) })
		if err != nil && c.opts.Unlabelled && !occurs {
			return -1, nil
		}
		return i, err
	}
	taken := got.taken()
	free := func(i int) bool {
		return !taken[i] && !slices.Contains(c.opts.Columns, c.cols[i].name)
	}
	several := func(holds holding) int {
		return c.usual(severalNames+" "+labelNames, func(i int) bool { return c.cols[i].holds == holds && c.noun == "key" && free(i) })
	}
	if i := several(list); i >= 0 && !c.opts.single() {
		return i, c.unique(i)
	}
	i := c.usual(labelNames, func(i int) bool { return c.cols[i].holds < list && free(i) })
	if i < 0 && c.opts.Several() {
		i = c.usual(severalNames, func(i int) bool { return c.cols[i].holds < list && free(i) })
		if i < 0 { // perhaps null, as the first example has no label
			i = several(other)
		}
	}
	if i < 0 { // an object may be data about the row: a plain label goes before
		i = c.usual(labelNames, func(i int) bool { return c.cols[i].holds == soft && free(i) })
	}
	switch {
	case i >= 0:
		return i, c.unique(i)
	case c.opts.Unlabelled:
		return -1, nil
	}
	if i := several(list); i >= 0 {
		return -1, fmt.Errorf("key %q holds an array, perhaps of %w", c.cols[i].name, ErrSeveralLabels)
	}
	if i := c.usual(labelNames, free); i >= 0 && c.noun == "key" {
		return -1, fmt.Errorf("key %q holds null or an object here, want a label; fill it in, or name another key with Options.Label", c.cols[i].name)
	}
	return -1, fmt.Errorf("no label %s found: %s; name it with Options.Label", c.noun, c.all())
}

// namedNumbers expands Options.Columns.
func (c *chooser) namedNumbers(got choice) (choice, error) {
	others := got.taken()
	taken := make([]bool, len(c.cols))
	for _, pattern := range c.opts.Columns {
		matches, err := c.match(pattern, got, others)
		if err != nil {
			return got, err
		}
		for _, i := range matches {
			if err := c.unique(i); err != nil {
				return got, err
			}
			if !taken[i] {
				taken[i] = true
				got.numbers = append(got.numbers, i)
			}
			got.list = got.list || c.cols[i].holds == list
		}
	}
	if got.list && len(got.numbers) > 1 {
		return got, fmt.Errorf("Options.Columns has %s, one with an array; name keys with numbers, or the one with the array", input.Plural(len(got.numbers), c.noun))
	}
	return got, nil
}

// match returns the columns that an entry of Options.Columns stands for: the
// one of that name, else those that fit it as a pattern, else the one of that
// name in another case.
func (c *chooser) match(pattern string, got choice, others map[int]bool) ([]int, error) {
	if i, ok := c.first[pattern]; ok {
		if i == got.label || i == got.weight {
			return nil, fmt.Errorf("%s %q is named in Options.Columns and is the label or the weight; leave it out of one", c.noun, pattern)
		}
		return []int{i}, nil
	}
	var found []int
	if strings.ContainsAny(pattern, `*?[\`) { // else comparing names is wasted
		for i, col := range c.cols {
			fits, err := path.Match(pattern, col.name)
			if err != nil {
				return nil, fmt.Errorf("Options.Columns %q is no pattern: want names with *, ? and [a-z]", pattern)
			}
			if fits && !others[i] {
				found = append(found, i)
			}
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	i, err := c.find(pattern, "Options.Columns")
	return []int{i}, err
}

// foundNumbers takes every column that looks like a feature: one with a list of numbers by a
// usual name, else all that hold a number in the first record and are no ids.
func (c *chooser) foundNumbers(got choice) (choice, error) {
	free := func(i int) bool { return i != got.label && i != got.weight && i != got.id }
	if i := c.usual(listNames, func(i int) bool { return free(i) && c.cols[i].holds == list }); i >= 0 {
		got.numbers, got.list = []int{i}, true
		return got, c.unique(i)
	}
	for i, col := range c.cols {
		switch {
		case !free(i):
		case isID(col.name) || col.holds != number:
			got.left = append(got.left, i)
		default:
			if err := c.unique(i); err != nil {
				return got, err
			}
			got.numbers = append(got.numbers, i)
		}
	}
	if len(got.numbers) == 0 {
		return got, fmt.Errorf("neither a text %s nor one with numbers found: %s; name the text with Options.Text, or numbers with Options.Columns", c.noun, c.all())
	}
	return got, nil
}

// find returns the column of that name, exact or else but for case. A name that two columns
// have, or differ from in case only, is an error: which one is meant cannot be guessed.
func (c *chooser) find(name, option string) (int, error) {
	if i, ok := c.first[name]; ok {
		return i, c.unique(i)
	}
	found := -1
	for i, col := range c.cols {
		if !strings.EqualFold(col.name, name) {
			continue
		}
		if found >= 0 {
			return -1, c.twice(name, found, i)
		}
		found = i
	}
	if found < 0 {
		return -1, fmt.Errorf("no %s %q: %s; name one of them with %s", c.noun, name, c.all(), option)
	}
	return found, nil
}

// usual returns the column with the first of the usual names that a fitting column has, or
// -1. The order is that of the names, not that of the columns: label goes before class.
func (c *chooser) usual(names string, fits func(i int) bool) int {
	for name := range strings.FieldsSeq(names) {
		for i, col := range c.cols {
			if strings.EqualFold(col.name, name) && fits(i) {
				return i
			}
		}
	}
	return -1
}

// unique refuses a column that shares its name with another.
func (c *chooser) unique(i int) error {
	name := c.cols[i].name
	if c.first[name] == c.last[name] {
		return nil
	}
	return c.twice(name, c.first[name], c.last[name])
}

// twice says that columns i and j, from 0, have one name, with their places from 1.
func (c *chooser) twice(name string, i, j int) error {
	return fmt.Errorf("%s %q occurs twice, as %d and %d; rename one", c.noun, name, i+1, j+1)
}

// all lists the columns for a message, with the likely reason for a strange list.
func (c *chooser) all() string {
	s := fmt.Sprintf("the %ss are %s", c.noun, clipped(c.cols, Range(0, len(c.cols)), 20))
	if c.typed {
		return s
	}
	if len(c.cols) == 1 && strings.ContainsAny(c.cols[0].name, ",;\t|") {
		return s + " (is another separator in use? want commas, semicolons or tabs in .csv, tabs in .tsv; a first line such as sep=| names another)"
	}
	if slices.ContainsFunc(c.cols, func(col column) bool {
		_, err := parseNumber([]byte(col.name))
		return err == nil || len(strings.Fields(col.name)) > 2 // a number or a sentence
	}) {
		return s + " (is the header missing? the first line must name the columns)"
	}
	return s
}

// clipped lists the names of some columns, the first most of them.
func clipped(cols []column, which []int, most int) string {
	var names []string
	for _, i := range which[:min(len(which), most)] {
		names = append(names, input.Clip(cols[i].name))
	}
	return input.Some(names, most, len(which))
}

// parts is what a source gives, in names.
type parts struct {
	kind       Kind
	labelName  string // columns by name, "" where there is none
	textName   string
	weightName string
	mixed      bool     // the first label is a distribution
	columns    []string // numeric columns by name; nil where they have none, or stand beside a text
	fields     Fields   // of a text and more; zero: a text alone
	width      int      // numeric columns
	about      string   // the choice in words
	encoding   string   // of the file; "" for UTF-8
	separator  string   // of CSV, in words; "" for commas
	decimal    *byte    // where the separator is no comma: the decimal mark of the numbers so far, 0 for none; nil elsewhere
}

// layout says how the file was written, "" for the usual way.
func (p parts) layout() string {
	var found []string
	if p.encoding != "" {
		found = append(found, p.encoding)
	}
	if p.separator != "" {
		found = append(found, "separated by "+p.separator)
	}
	if p.decimal != nil && *p.decimal == ',' {
		found = append(found, "with decimal commas")
	}
	return strings.Join(found, ", ")
}

// what implements source.
func (p parts) what() parts { return p }

// describe puts a choice into names and words.
func describe(cols []column, c choice, noun string) parts {
	name := func(i int) string {
		if i < 0 {
			return ""
		}
		return cols[i].name
	}
	text := -1
	if len(c.texts) > 0 {
		text = c.texts[0]
	}
	p := parts{labelName: name(c.label), textName: name(text), weightName: name(c.weight), mixed: c.label >= 0 && cols[c.label].holds == soft}
	p.about = labelPart(p, noun)
	if c.textual() {
		var f Fields
		for _, part := range []struct {
			what    string
			columns []int
			names   *[]string
		}{{"text", c.texts, &f.Texts}, {"category", c.categories, &f.Categories}, {"numeric", c.numbers, &f.Numbers}} {
			for _, i := range part.columns {
				*part.names = append(*part.names, cols[i].name)
			}
			if n := len(part.columns); n > 0 {
				p.about += fmt.Sprintf(", %s %s %s", part.what, strings.TrimPrefix(input.Plural(n, noun), fmt.Sprint(n, " ")), clipped(cols, part.columns, 5))
			}
		}
		if f.Several() {
			p.fields = f
		}
	} else {
		p.kind, p.width = Numbers, len(c.numbers)
		for _, i := range c.numbers {
			p.columns = append(p.columns, cols[i].name)
		}
		p.about += fmt.Sprintf(", %s %s", input.Plural(p.width, "numeric "+noun), between(p.columns))
	}
	if c.weight >= 0 {
		p.about += fmt.Sprintf(", weight %s %q", noun, p.weightName)
	}
	switch n := len(c.left); {
	case n == 1:
		p.about += fmt.Sprintf(" (%s %s left out)", noun, clipped(cols, c.left, 1))
	case n > 1:
		p.about += fmt.Sprintf(" (%ss %s left out)", noun, clipped(cols, c.left, 5))
	}
	return p
}

// labelPart says which column is the label.
func labelPart(p parts, noun string) string {
	switch {
	case p.labelName == "":
		return "no labels"
	case p.mixed:
		return fmt.Sprintf("label %s %q (soft labels)", noun, p.labelName)
	}
	return fmt.Sprintf("label %s %q", noun, p.labelName)
}

// between shortens a list of names, of which there is at least one, for people.
func between(names []string) string {
	switch n := len(names); n {
	case 1:
		return input.Clip(names[0])
	case 2:
		return names[0] + ", " + names[1]
	default:
		return names[0] + ".." + names[n-1]
	}
}

// agree refuses a file that holds something else than the first. Names of numeric columns are
// not compared: Resolved asks for those of the first by name.
func (p parts) agree(name string, q parts, file string) error {
	switch {
	case p.kind != q.kind:
		return input.Refuse(file, 0, 0, "holds %s, but %s holds %s; train on one kind at a time", q.kind, name, p.kind)
	case p.width != q.width:
		return input.Refuse(file, 0, 0, "has %s, but %s has %d; bring the same columns", input.Plural(q.width, "numeric column"), name, p.width)
	case !p.fields.Equal(q.fields):
		return input.Refuse(file, 0, 0, "has other columns of texts, categories or numbers than %s; bring the same", name)
	case (p.weightName == "") != (q.weightName == ""):
		return input.Refuse(file, 0, 0, "only one of it and %s has weights", name)
	}
	return nil
}

package feature

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/matrix"
)

func fit(tb testing.TB, t *Table, rows ...int) *Set {
	tb.Helper()
	s, err := t.Fit(rows, Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func rowsOf(tb testing.TB, s *Set, t *Table, rows ...int) matrix.Matrix {
	tb.Helper()
	m, err := s.Matrix(t, rows)
	if err != nil {
		tb.Fatal(err)
	}
	if err := m.Check(); err != nil {
		tb.Fatal(err)
	}
	return m
}

// named returns a sparse row as a map from feature names.
func named(s *Set, index []int32, value []float32) map[string]float64 {
	out := make(map[string]float64)
	for n, j := range index {
		out[s.Name(int(j))] = float64(value[n])
	}
	return out
}

func TestTfidfByHand(t *testing.T) {
	table, rows := tableOf([]string{"as as as bs", "bs", ""})
	s := fit(t, table, rows...)
	m := rowsOf(t, s, table, rows...).(*matrix.Sparse)

	// Three texts. "as" and its n-grams occur in one, "bs" and its in two; "s ", a
	// gram of both, in two, and four times in the first.
	rare, common := 1+math.Log(4.0/2), 1+math.Log(4.0/3)
	often := 1 + math.Log(3) // as occurs three times,
	twice := 1 + math.Log(2) // "as as" twice,
	ends := 1 + math.Log(4)  // "s " four times
	chars := math.Sqrt(5*often*often*rare*rare + 5*common*common + ends*ends*common*common)
	words := math.Sqrt(often*often*rare*rare + twice*twice*rare*rare + common*common + rare*rare)
	want := map[string]float64{
		`letters "s "`: ends * common / chars,
		`word "as"`:    often * rare / words, `word "as as"`: twice * rare / words, `word "bs"`: common / words, `word "as bs"`: rare / words,
	}
	for _, gram := range []string{" a", "as", " as", "as ", " as "} {
		want["letters "+strconv.Quote(gram)] = often * rare / chars
	}
	for _, gram := range []string{" b", "bs", " bs", "bs ", " bs "} {
		want["letters "+strconv.Quote(gram)] = common / chars
	}
	got := named(s, m.Index[:m.Start[1]], m.Value[:m.Start[1]])
	if len(got) != len(want) {
		t.Errorf("%d features, want %d: %v", len(got), len(want), got)
	}
	for name, v := range want {
		if math.Abs(got[name]-v) > 1e-6 {
			t.Errorf("%s is %v, want %v", name, got[name], v)
		}
	}
	if index, _ := m.Row(2); len(index) != 0 {
		t.Errorf("an empty text has features %v", index)
	}
}

// Every row of real texts against the definition, with the slow n-grams.
func TestTfidfByBruteForce(t *testing.T) {
	texts := readTexts(t, "banking77/train.csv")[:400]
	table, _ := tableOf(texts)
	fitted := []int{5, 7, 100, 101, 102, 350, 399}
	s := fit(t, table, fitted...)
	df := make(map[string]int)
	for _, i := range fitted {
		for gram := range slowGrams(texts[i]) {
			df[gram]++
		}
	}
	if s.Dim() != len(df) {
		t.Fatalf("%d features, want %d", s.Dim(), len(df))
	}
	m := rowsOf(t, s, table, 0, 5, 399).(*matrix.Sparse)
	for n, i := range []int{0, 5, 399} {
		want := make(map[string]float64)
		squares := make(map[byte]float64)
		for gram, count := range slowGrams(texts[i]) {
			if df[gram] > 0 {
				v := (1 + math.Log(float64(count))) * (1 + math.Log(float64(1+len(fitted))/float64(1+df[gram])))
				want[gram] = v
				squares[gram[0]] += v * v
			}
		}
		index, value := m.Row(n)
		if len(index) != len(want) {
			t.Fatalf("text %d: %d features, want %d", i, len(index), len(want))
		}
		for n, j := range index {
			gram := s.grams[j]
			if v := want[gram] / math.Sqrt(squares[gram[0]]); math.Abs(float64(value[n])-v) > 1e-6 {
				t.Errorf("text %d: %q is %v, want %v", i, gram, value[n], v)
			}
		}
	}
}

func TestMinRows(t *testing.T) {
	table, rows := tableOf([]string{"as bo", "as cy", "as"})
	s, err := table.Fit(rows, Options{MinRows: 2})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"c a", "c as", "c as ", "cas", "cas ", "cs ", "was"}; !slices.Equal(s.grams, want) {
		t.Errorf("n-grams of two texts or more: %q, want %q", s.grams, want)
	}
	if _, err := table.Fit(rows, Options{MinRows: 4}); err == nil || !strings.Contains(err.Error(), "no n-gram occurs in 4 texts") {
		t.Errorf("error %v", err)
	}
}

// The bound drops the rarest n-grams, all of those that are as rare.
func TestMaxFeatures(t *testing.T) {
	table, rows := tableOf([]string{"as bo", "as cy", "as bo", "do"})
	for _, tc := range []struct{ most, features, minRows int }{
		{0, 29, 1}, {29, 29, 1}, {28, 15, 2}, {15, 15, 2}, {14, 8, 3}, {1, 8, 3},
	} {
		s, err := table.Fit(rows, Options{MaxFeatures: tc.most})
		if err != nil {
			t.Fatal(err)
		}
		if s.Dim() != tc.features || s.MinRows() != tc.minRows {
			t.Errorf("at most %d: %d features of %d rows or more, want %d of %d", tc.most, s.Dim(), s.MinRows(), tc.features, tc.minRows)
		}
	}
}

// randomTable returns a table of a kind and the records in it.
func randomTable(tb testing.TB, kind dataset.Kind, n int, seed uint64) (*Table, []dataset.Example) {
	tb.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	words := strings.Fields("my Card card's has NOT arrived yet 10 € 👍 why? größe")
	columns := []string{"x", "y", "z"}
	table := NewTable(kind, columns)
	var examples []dataset.Example
	for range n {
		var e dataset.Example
		switch kind {
		case dataset.Text:
			for range r.IntN(9) {
				e.Text += words[r.IntN(len(words))] + " "
			}
		case dataset.Numbers:
			e.Values = []float64{r.NormFloat64(), 1e30 * r.NormFloat64(), 7}
		default:
			for j := range int32(20) {
				if r.IntN(4) == 0 {
					e.Index, e.Values = append(e.Index, j), append(e.Values, r.NormFloat64())
				}
			}
		}
		if err := table.Add(e); err != nil {
			tb.Fatal(err)
		}
		examples = append(examples, e)
	}
	return table, examples
}

func kinds() []dataset.Kind { return []dataset.Kind{dataset.Text, dataset.Numbers, dataset.Sparse} }

func TestRowEqualsMatrix(t *testing.T) {
	for _, kind := range kinds() {
		t.Run(kind.String(), func(t *testing.T) {
			table, examples := randomTable(t, kind, 60, 3)
			s := fit(t, table, 1, 4, 9, 16, 25)
			all := make([]int, len(examples))
			for i := range all {
				all[i] = i
			}
			m := rowsOf(t, s, table, all...)
			rower := NewRower(s)
			for i, e := range examples {
				index, value, err := rower.Row(e)
				if err != nil {
					t.Fatal(err)
				}
				var wantIndex []int32
				var want []float32
				switch m := m.(type) {
				case *matrix.Sparse:
					wantIndex, want = m.Row(i)
					if index == nil {
						t.Errorf("record %d: the index of a sparse row is nil", i)
					}
				case *matrix.Dense:
					want = m.Row(i)
					if index != nil {
						t.Errorf("record %d: a dense row has index %v", i, index)
					}
				}
				if !slices.Equal(index, wantIndex) || !slices.Equal(value, want) {
					t.Fatalf("record %d: row %v %v, want %v %v", i, index, value, wantIndex, want)
				}
			}
		})
	}
}

// What the other rows hold, and where the fitted ones stand, must not matter.
func TestFitSeesItsRowsOnly(t *testing.T) {
	for _, kind := range kinds() {
		t.Run(kind.String(), func(t *testing.T) {
			alone, examples := randomTable(t, kind, 8, 5)
			crowd, _ := randomTable(t, kind, 50, 6)
			var rows []int
			for _, e := range slices.Backward(examples) {
				rows = append(rows, crowd.Rows())
				if err := crowd.Add(e); err != nil {
					t.Fatal(err)
				}
			}
			slices.Reverse(rows)
			want, got := fit(t, alone, 0, 1, 2, 3, 4, 5, 6, 7), fit(t, crowd, rows...)
			if got.dim != want.dim || !slices.Equal(got.grams, want.grams) || !slices.Equal(got.idf, want.idf) ||
				!slices.Equal(got.mean, want.mean) || !slices.Equal(got.scale, want.scale) {
				t.Errorf("fitted among others: %d features, alone: %d", got.dim, want.dim)
			}
			a, b := rowsOf(t, want, alone, 0, 1, 2), rowsOf(t, got, crowd, rows[:3]...)
			if !reflect.DeepEqual(a, b) {
				t.Errorf("rows %v, want %v", b, a)
			}
			// Features of one table applied to another.
			if c := rowsOf(t, want, crowd, rows[:3]...); !reflect.DeepEqual(a, c) {
				t.Errorf("rows of another table %v, want %v", c, a)
			}
			// A table that has grown since.
			if err := alone.Add(examples[0]); err != nil {
				t.Fatal(err)
			}
			if c := rowsOf(t, want, alone, 0, 1, 2); !reflect.DeepEqual(a, c) {
				t.Errorf("rows after the table has grown %v, want %v", c, a)
			}
		})
	}
}

func TestNumbersAreStandardised(t *testing.T) {
	table := NewTable(dataset.Numbers, []string{"normal", "constant", "huge", "tiny", "far"})
	r := rand.New(rand.NewPCG(1, 2))
	rows := make([]int, 100)
	for i := range rows {
		rows[i] = i
		values := []float64{r.NormFloat64(), 0.1, 3.4e38 * (2*r.Float64() - 1), 1e-44 * float64(r.IntN(9)), 1.7e9 + 1000*r.NormFloat64()}
		if err := table.Add(dataset.Example{Values: values}); err != nil {
			t.Fatal(err)
		}
	}
	s := fit(t, table, rows...)
	m := rowsOf(t, s, table, rows...).(*matrix.Dense)
	for j, name := range s.Columns() {
		var sum, squares float64
		for _, i := range rows {
			v := float64(m.Row(i)[j])
			sum, squares = sum+v, squares+v*v
		}
		want := 1.0
		if name == "constant" {
			want = 0
		}
		if mean, variance := sum/100, squares/100; math.Abs(mean) > 1e-6 || math.Abs(variance-want) > 1e-5 {
			t.Errorf("column %s has mean %v and variance %v, want 0 and %v", name, mean, variance, want)
		}
	}
	_, value, err := NewRower(s).Row(dataset.Example{Values: []float64{-3e38, 3e38, 3e38, 3e38, -3e38}})
	if err != nil {
		t.Fatal(err)
	}
	if value[0] != -maxDeviations || value[1] != 0 || value[3] != maxDeviations {
		t.Errorf("numbers far from all training rows become %v, want at most %v in size", value, maxDeviations)
	}
}

func TestNumericColumnsMatchByName(t *testing.T) {
	table := NewTable(dataset.Numbers, []string{"a", "b"})
	other := NewTable(dataset.Numbers, []string{"c", "b", "a"})
	for i := range 4 {
		x := float64(i)
		if err := table.Add(dataset.Example{Values: []float64{x, x * x}}); err != nil {
			t.Fatal(err)
		}
		if err := other.Add(dataset.Example{Values: []float64{-1, x * x, x}}); err != nil {
			t.Fatal(err)
		}
	}
	s := fit(t, table, 0, 1, 2, 3)
	if a, b := rowsOf(t, s, table, 0, 3), rowsOf(t, s, other, 0, 3); !reflect.DeepEqual(a, b) {
		t.Errorf("columns in another order give %v, want %v", b, a)
	}
	if _, err := fit(t, other, 0, 1).Matrix(table, []int{0}); err == nil || !strings.Contains(err.Error(), `no column "c" among ["a" "b"]`) {
		t.Errorf("error %v", err)
	}
	match, err := fit(t, other, 0, 1).Match(s)
	if want := []int32{-1, 1, 0}; err != nil || !slices.Equal(match, want) {
		t.Errorf("match %v, %v, want %v", match, err, want)
	}
}

func TestSparseBeyondTrainingIsDropped(t *testing.T) {
	table := NewTable(dataset.Sparse, nil)
	for _, index := range [][]int32{{0, 3}, {3, 9}, {}} {
		e := dataset.Example{Index: index, Values: []float64{2, 3}[:len(index)]}
		if err := table.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	s := fit(t, table, 0, 2)
	if s.Dim() != 4 || s.Name(3) != "4" {
		t.Errorf("%d features, the last called %s; want 4, called 4", s.Dim(), s.Name(s.Dim()-1))
	}
	index, value := rowsOf(t, s, table, 1).(*matrix.Sparse).Row(0)
	if !slices.Equal(index, []int32{3}) || !slices.Equal(value, []float32{2}) {
		t.Errorf("row %v %v, want feature 3 alone, as it is", index, value)
	}
	index, _, err := NewRower(s).Row(dataset.Example{})
	if index == nil || len(index) > 0 || err != nil {
		t.Errorf("a row without features: %v, %v", index, err)
	}
	wide := fit(t, table, 1)
	match, err := wide.Match(s)
	if want := []int32{0, 1, 2, 3, -1, -1, -1, -1, -1, -1}; err != nil || !slices.Equal(match, want) {
		t.Errorf("match %v, %v, want %v", match, err, want)
	}
}

func TestMatchTexts(t *testing.T) {
	table, _ := tableOf([]string{"a b", "b c"})
	s, other := fit(t, table, 0), fit(t, table, 1)
	match, err := s.Match(other)
	if err != nil {
		t.Fatal(err)
	}
	for f, g := range match {
		name := s.Name(f)
		shared := name == `word "b"` || strings.HasPrefix(name, "letters") && strings.Contains(name, "b")
		if shared != (g >= 0) || g >= 0 && other.Name(int(g)) != name {
			t.Errorf("feature %s matches %d", name, g)
		}
	}
}

func TestErrors(t *testing.T) {
	text, _ := randomTable(t, dataset.Text, 9, 1)
	numbers, _ := randomTable(t, dataset.Numbers, 9, 1)
	sparse, _ := randomTable(t, dataset.Sparse, 9, 1)
	all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8}
	texts, columns := fit(t, text, all...), fit(t, numbers, all...)
	place := dataset.Place{File: "a.csv", Line: 3}
	blank, _ := tableOf([]string{"", " "})
	zeros := NewTable(dataset.Sparse, nil)
	if err := zeros.Add(dataset.Example{}); err != nil {
		t.Fatal(err)
	}
	row := func(s *Set, e dataset.Example) error { _, _, err := NewRower(s).Row(e); return err }
	matrixOf := func(s *Set, t *Table) error { _, err := s.Matrix(t, []int{0}); return err }
	fitOf := func(t *Table, rows ...int) error { _, err := t.Fit(rows, Options{}); return err }
	match := func(a, b *Set) error { _, err := a.Match(b); return err }
	for _, tc := range []struct {
		name string
		err  error
		want string
	}{
		{"numbers among texts", text.Add(dataset.Example{Values: []float64{1}, Place: place}), "a.csv:3: a record of numeric columns, want one of text"},
		{"text among numbers", numbers.Add(dataset.Example{Text: "a"}), "a record of text, want one of numeric columns"},
		{"sparse among numbers", numbers.Add(dataset.Example{Index: []int32{1}, Values: []float64{1}}), "a record of sparse features"},
		{"too few numbers", numbers.Add(dataset.Example{Values: []float64{1, 2}, Place: place}), `a.csv:3: 2 numbers, want 3, one for each of the columns ["x" "y" "z"]`},
		{"no numbers", NewTable(dataset.Numbers, nil).Add(dataset.Example{}), "no numbers, want at least one"},
		{"NaN", numbers.Add(dataset.Example{Values: []float64{1, math.NaN(), 2}}), "number 2 is NaN"},
		{"too large for 32 bits", sparse.Add(dataset.Example{Index: []int32{4}, Values: []float64{1e39}}), "number 1 is 1e+39"},
		{"fewer values than features", sparse.Add(dataset.Example{Index: []int32{4, 5}, Values: []float64{1}}), "2 feature numbers and 1 values"},
		{"features that descend", sparse.Add(dataset.Example{Index: []int32{4, 4}, Values: []float64{1, 1}}), "feature 4 after 4"},
		{"a negative feature", sparse.Add(dataset.Example{Index: []int32{-1}, Values: []float64{1}}), "feature -1 after -1"},
		{"the last int32 as a feature", sparse.Add(dataset.Example{Index: []int32{math.MaxInt32}, Values: []float64{1}}), "from 0 to 2147483646"},
		{"fit on nothing", fitOf(text), "no rows"},
		{"fit on blank texts", fitOf(blank, 0, 1), "2 training rows have no features at all: every text is empty"},
		{"fit on rows of zeros", fitOf(zeros, 0), "every row is empty"},
		{"row of another kind", row(texts, dataset.Example{Values: []float64{1}, Place: place}), "a.csv:3: a record of numeric columns, want one of text"},
		{"row too short", row(columns, dataset.Example{Values: []float64{1}, Place: place}), `a.csv:3: 1 numbers, but the model was trained on 3: ["x" "y" "z"]`},
		{"infinite number in a row", row(columns, dataset.Example{Values: []float64{1, 2, math.Inf(1)}}), "number 3 is +Inf"},
		{"table of another kind", matrixOf(texts, numbers), "records of numeric columns, the features were fitted on text"},
		{"match another kind", match(texts, columns), "features of text cannot go on from features of numeric columns"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.err == nil || !strings.Contains(tc.err.Error(), tc.want) {
				t.Errorf("error %q, want one with %q", fmt.Sprint(tc.err), tc.want)
			}
		})
	}
	if text.Rows() != 9 || numbers.Rows() != 9 || sparse.Rows() != 9 {
		t.Errorf("refused records were added: %d, %d and %d rows", text.Rows(), numbers.Rows(), sparse.Rows())
	}
	defer func() {
		if recover() == nil {
			t.Error("AddText on numbers does not panic")
		}
	}()
	numbers.AddText("a")
}

func TestColumnsWithoutNames(t *testing.T) {
	table := NewTable(dataset.Numbers, nil)
	for i := range 7 {
		values := make([]float64, 6)
		values[i%6] = 1
		if err := table.Add(dataset.Example{Values: values}); err != nil {
			t.Fatal(err)
		}
	}
	if s := fit(t, table, 0, 1, 2); s.Dim() != 6 || s.Name(5) != "6" {
		t.Errorf("%d columns, the last called %s", s.Dim(), s.Name(s.Dim()-1))
	}
	if err := table.Add(dataset.Example{Values: []float64{1}}); err == nil || !strings.Contains(err.Error(), `"1", "2" ... "6"`) {
		t.Errorf("error %v", err)
	}
	if table.Kind() != dataset.Numbers || table.Rows() != 7 {
		t.Errorf("%v, %d rows", table.Kind(), table.Rows())
	}
}

// The same text again must cost its nonzeros, and no more n-grams or words.
func TestRepeatsNeedNoVocabulary(t *testing.T) {
	table := NewTable(dataset.Text, nil)
	text := strings.Repeat("where is my card? ", 50)
	table.AddText(text)
	grams, values, words := len(table.vocabulary.grams), len(table.bags.id), table.counter.chunks.count
	for range 99 {
		table.AddText(text)
	}
	if len(table.vocabulary.grams) != grams || table.counter.chunks.count != words || len(table.bags.id) != 100*values {
		t.Errorf("100 times the text: %d n-grams, %d words, %d values; once: %d, %d, %d", len(table.vocabulary.grams), table.counter.chunks.count, len(table.bags.id), grams, words, values)
	}
	if distinct := len(slowGrams(text)); values != distinct {
		t.Errorf("%d values a text, want one for each of %d n-grams", values, distinct)
	}
	r := NewRower(fit(t, table, 0))
	row := func() {
		if _, _, err := r.Row(dataset.Example{Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	row()
	if allocs := testing.AllocsPerRun(10, row); allocs > 1 {
		t.Errorf("%v allocations a row, want at most the closure's", allocs)
	}
}

func TestNames(t *testing.T) {
	e, err := Names([]string{"card_arrival", "cardArrival", "cards arrive", "❤", " ", "42"})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Check(); err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		if norm := e.SquaredNorm(i); math.Abs(norm-1) > 1e-6 && i != 4 || i == 4 && norm != 0 {
			t.Errorf("name %d has squared norm %v", i, norm)
		}
	}
	if c := matrix.Cosine(e, 0, 1); math.Abs(c-1) > 1e-6 {
		t.Errorf("two spellings of a name have cosine %v, want 1", c)
	}
	if c := matrix.Cosine(e, 0, 2); c < 0.3 || c > 0.9 {
		t.Errorf("similar names have cosine %v", c)
	}
	if c := matrix.Cosine(e, 0, 3); c != 0 {
		t.Errorf("names without a common letter have cosine %v, want 0", c)
	}
	if _, err := Names([]string{"", " "}); err == nil || !strings.Contains(err.Error(), "all of the 2 class names are blank") {
		t.Errorf("error %v", err)
	}
}

func ExampleNameText() {
	fmt.Println(NameText("Refund_not_showing_up"))
	fmt.Println(NameText("lostOrStolenATMCard"))
	// Output:
	// refund not showing up
	// lost or stolen atm card
}

func Example() {
	t := NewTable(dataset.Text, nil)
	t.AddText("where is my card")
	t.AddText("my card is lost")
	t.AddText("top up failed") // not fitted on
	s, err := t.Fit([]int{0, 1}, Options{MinRows: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	index, value, _ := NewRower(s).Row(dataset.Example{Text: "is this my new card?"})
	for n, j := range index {
		if name := s.Name(int(j)); strings.HasPrefix(name, "word") {
			fmt.Printf("%s %.2f\n", name, value[n])
		}
	}
	// Output:
	// word "card" 0.58
	// word "is" 0.58
	// word "my" 0.58
}

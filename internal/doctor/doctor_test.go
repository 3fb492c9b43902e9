package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/input"
	"github.com/treeloss/treeloss/softmax"
	"github.com/treeloss/treeloss/tune"
)

func TestVerdicts(t *testing.T) {
	const groups = "card_lost,card\ncard_arrival,card\ntransfer_fee,money\ntransfer_pending,money\npin_blocked,pin\npin_change,pin\n"
	wordless := texts(6, 0)
	for i := range wordless {
		wordless[i].Label = fmt.Sprint(slices.IndexFunc(topics, func(t [2]string) bool { return t[0] == wordless[i].Label }))
	}
	for _, tc := range []struct {
		name     string
		examples []dataset.Example
		taxonomy string
		train    tune.Choice
		help     []Help
		source   string
		words    []string // of the text
	}{
		{"few rows, names that agree", texts(6, 0), "", tune.Off, []Help{Yes}, "names+examples", []string{"can be expected to help", "by points", "say something"}},
		{"some rows", texts(20, 0), "", tune.Off, []Help{Perhaps}, "names", []string{"a point or less"}},
		{"many rows", texts(70, 0), "", tune.Off, []Help{No}, "", []string{"not expected to help", "70 rows a class"}},
		{"permuted names", texts(6, 3), "", tune.Off, []Help{No}, "", []string{"say nothing about the rows", "Vectors of the names or a taxonomy might"}},
		{"permuted names, measured", texts(10, 3), "", tune.On, []Help{No}, "", []string{"held out"}},
		{"permuted names and a taxonomy", texts(6, 3), groups, tune.Off, []Help{Perhaps}, "taxonomy", []string{"by the taxonomy may help", "say nothing"}},
		{"names and a taxonomy", texts(6, 0), groups, tune.Off, []Help{Yes}, "names+examples", []string{"The taxonomy may help, too."}},
		{"one row a class", texts(1, 0), "", tune.Auto, []Help{Yes, No}, "", []string{"6 classes with fewer than 3 rows", "too few rows to hold any out", "norm"}},
		{"two classes", texts(10, 0)[:20], "", tune.Auto, []Help{Yes, Perhaps, No}, "", []string{"of 2 classes", "held out"}},
		{"names are numbers", wordless, "", tune.Off, []Help{No}, "", []string{"6 of 6 are without a letter", "hold no letters"}},
		{"numbers", numbers(5, 8, 4), "", tune.Auto, []Help{No, Unknown}, "", []string{"rows of numbers", "1 constant, which tell nothing: x4"}},
		{"numbers, not measured", numbers(5, 8, 4), "", tune.Off, []Help{Unknown}, "names", []string{"cannot be told without training", "not trained, as asked"}},
		{"sparse rows", sparseRows(4, 6), "", tune.Auto, nil, "", []string{"sparse rows of 4 classes", "known from other rows"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := admit(t, tc.examples, tc.taxonomy).examine(t, Options{Train: tc.train, Seed: 1})
			out := r.text(t)
			if tc.help != nil && !slices.Contains(tc.help, r.Verdict.Help) {
				t.Errorf("help %q, want one of %q: %s", r.Verdict.Help, tc.help, r.Verdict.Sentence)
			}
			if tc.train == tune.Off && r.Verdict.Source != tc.source {
				t.Errorf("source %q, want %q", r.Verdict.Source, tc.source)
			}
			for _, w := range tc.words {
				if !strings.Contains(strings.ReplaceAll(out, "\n", " "), w) {
					t.Errorf("no %q in\n%s", w, out)
				}
			}
			if n := strings.Count(out, "\n"); n >= 40 {
				t.Errorf("%d lines", n)
			}
			if strings.Contains(out, "NaN") || strings.Contains(out, "Inf") || strings.Contains(out, "%!") {
				t.Errorf("not for people:\n%s", out)
			}
			b, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			var back Report
			if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(*r, back) {
				t.Errorf("JSON does not give back the report: %v\n%s", err, b)
			}
		})
	}
}

// The gain decides where it was measured; each row is one case of the rules.
func TestMeasuredVerdict(t *testing.T) {
	for _, tc := range []struct {
		name     string
		best     string
		gain, se float64
		help     Help
		measured bool
		words    string
	}{
		{"clear", "names", 0.02, 0.005, Yes, true, "Sharing helps here, by the names of the classes: +2.0 ± 0.5 percentage points"},
		{"between one and two errors", "taxonomy", 0.015, 0.01, Perhaps, true, "may help a little"},
		{"small and sure", "names", 0.001, 0.003, No, true, "makes no difference"},
		{"plain did best", tune.Baseline, 0, 0, No, true, "did best on 99 held-out rows, which are few"},
		{"too few rows to tell: the rules decide", "names", 0.01, 0.03, Yes, false, "chance is"},
		{"too few rows to tell, names that do not agree", "names", 0.01, 0.03, Unknown, false, "an error too large to say no"},
		{"better on both, but not more right", "names", 0, 0, No, true, "makes no difference"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := &Report{Kind: "text", Classes: 10, PerClass: RowsPerClass{Median: 5},
				Names: Names{Agreement: &Agreement{Rate: 0.5, Chance: 0.1, SE: 0.01, Errors: 40}},
				Gain:  &Gain{Rows: 99, Methods: make([]MethodFit, 2), Best: tc.best, Difference: tc.gain, DifferenceSE: tc.se}}
			v := r.verdict()
			if tc.name == "too few rows to tell, names that do not agree" {
				r.Names.Agreement = nil
				v = r.verdict()
			}
			if v.Help != tc.help || v.Measured != tc.measured || !strings.Contains(v.Sentence, tc.words) {
				t.Errorf("%+v, want %v with %q", v, tc.help, tc.words)
			}
			if (v.Source == "") != (v.Help == No) {
				t.Errorf("source %q of a %s", v.Source, v.Help)
			}
		})
	}
}

// Names that beat chance by thousandths, as those of emoji may with very many
// rows, are not counted on.
func TestAgreementMustMatter(t *testing.T) {
	for _, tc := range []struct {
		a    *Agreement
		want bool
	}{
		{nil, false},
		{&Agreement{Rate: 0.06, Chance: 0.05, Errors: 20}, false},
		{&Agreement{Rate: 0.2, Chance: 0.05, Errors: 2}, false},
		{&Agreement{Rate: 0.2, Chance: 0.05, Errors: 20}, true},
	} {
		if got := tc.a.Say(); got != tc.want {
			t.Errorf("%+v: %v", tc.a, got)
		}
	}
}

// A few small classes must not keep the large ones from being measured.
func TestMeasuredDespiteASmallClass(t *testing.T) {
	examples := texts(24, 0)
	rare := append(slices.Clone(examples), dataset.Example{Text: "something else", Label: "other", Weight: 1})
	r := admit(t, rare, "").examine(t, Options{Train: tune.On, Seed: 1})
	if r.Gain == nil || r.Gain.Rows < minHeldOut || len(r.Gain.Methods) < 4 {
		t.Fatalf("gain %+v, skipped %q", r.Gain, r.Skipped)
	}
	if r.PerClass.Few != 1 || r.PerClass.FewExamples[0] != "other" {
		t.Errorf("%+v", r.PerClass)
	}
	for _, m := range r.Gain.Methods {
		if m.Accuracy < 0 || m.Accuracy > 1 || m.Prior == 0 {
			t.Errorf("%+v was not measured", m)
		}
	}
}

// With many rows a class names are measured only if asked.
func TestNamesMeasuredIfAsked(t *testing.T) {
	p := admit(t, texts(70, 0)[:210], "") // 3 classes
	if r := p.examine(t, Options{}); r.Gain != nil || !strings.Contains(strings.Join(r.Skipped, " "), "training asked for") {
		t.Errorf("gain %+v, skipped %q", r.Gain, r.Skipped)
	}
	r := p.examine(t, Options{Train: tune.On})
	if r.Gain == nil || len(r.Gain.Methods) != 2 || r.Gain.Methods[1].Method != "names" {
		t.Errorf("gain %+v", r.Gain)
	}
}

func TestSimilarNames(t *testing.T) {
	n, pairs := similar([]string{"card_arrival", "cardArrival", "insurance", "insurance_change", "weather"})
	if n == 0 || pairs[0].A != "card_arrival" || pairs[0].B != "cardArrival" || pairs[0].Cosine < 0.999 {
		t.Errorf("%d pairs %+v, want card_arrival and cardArrival first", n, pairs)
	}
	for _, p := range pairs {
		if p.A == "weather" || p.B == "weather" {
			t.Errorf("%+v is not similar", p)
		}
	}
	if n, pairs := similar([]string{" ", "\t"}); n != 0 || pairs == nil {
		t.Errorf("blank names: %d, %v", n, pairs)
	}
}

func TestCoverage(t *testing.T) {
	// Every row has one feature of its class and one of its own: half is known.
	r := admit(t, sparseRows(3, 40), "").examine(t, Options{Train: tune.Off})
	if c := r.Coverage; c == nil || c.Seen < 0.5 || c.Rows != 24 {
		t.Errorf("%+v", c)
	}
	var unique []dataset.Example
	for i := range 20 {
		unique = append(unique, dataset.Example{Text: strings.Repeat(string(rune('a'+i)), 3), Label: fmt.Sprint(i), Weight: 1})
	}
	r = admit(t, unique, "").examine(t, Options{Train: tune.Off})
	if c := r.Coverage; c == nil || c.Seen != 0 || c.Rows != 4 {
		t.Errorf("%+v, want nothing known of texts without a letter in common", c)
	}
}

func TestMetricSources(t *testing.T) {
	p := admit(t, texts(4, 0), "")
	for _, source := range []classinfo.Source{classinfo.Names, classinfo.Means} {
		r := p.examine(t, Options{From: source, Train: tune.Off})
		if r.Metric == nil || r.Metric.Source != string(source) || r.Metric.Dimension.Max <= 0 {
			t.Errorf("%s: %+v", source, r.Metric)
		}
	}
	r := p.examine(t, Options{From: "taxonomy"})
	if r.Metric != nil || len(r.Weights.Norms) != 1 || !strings.Contains(r.text(t), "no tree over the classes") {
		t.Errorf("%+v\n%s", r.Metric, r.text(t))
	}
}

func TestRefusals(t *testing.T) {
	p := admit(t, texts(3, 0), "")
	for _, tc := range []struct {
		name string
		call func() (*Report, error)
		want string
	}{
		{"no rows", func() (*Report, error) { return Examine(t.Context(), p.data, nil, nil, Options{}) }, "no rows"},
		{"a row that is not there", func() (*Report, error) { return Examine(t.Context(), p.data, []int{99}, nil, Options{}) }, "row 99"},
		{"a row of no class", func() (*Report, error) {
			d := *p.data
			d.Class = slices.Clone(d.Class)
			d.Class[4] = -1
			return Examine(t.Context(), &d, p.rows, nil, Options{})
		}, "row 4 has no known class"},
		{"records of other rows", func() (*Report, error) {
			return Examine(t.Context(), p.data, p.rows[:5], admit(t, texts(4, 0), "").records, Options{})
		}, "records of 24 rows"},
		{"base", func() (*Report, error) {
			return Examine(t.Context(), p.data, p.rows, nil, Options{Base: 1})
		}, "Base is 1, want"},
		{"one class", func() (*Report, error) {
			d := *p.data
			d.Classes.Labels = d.Classes.Labels[:1]
			return Examine(t.Context(), &d, p.rows, nil, Options{})
		}, "only one class"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := tc.call(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}

func TestCancelled(t *testing.T) {
	p := admit(t, texts(10, 0), "")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Examine(ctx, p.data, p.rows, nil, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	for _, stage := range []string{"choosing", "weights"} { // stopped while training
		ctx, stop := context.WithCancel(t.Context())
		progress := func(s string, _ softmax.Progress) {
			if strings.Contains(s, stage) {
				stop()
			}
		}
		if _, err := Examine(ctx, p.data, p.rows, nil, Options{Train: tune.On, Progress: progress}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", stage, err)
		}
	}
}

func TestSameSeedSameReport(t *testing.T) {
	p := admit(t, texts(5, 0), "")
	a := p.examine(t, Options{Seed: 3}).text(t)
	if b := p.examine(t, Options{Seed: 3}).text(t); a != b {
		t.Errorf("two reports:\n%s\n%s", a, b)
	}
}

// Examine must say on real data what SCIENCE says of it.
func TestOnRealData(t *testing.T) {
	const folder = "../../../shared/data/"
	if _, err := os.Stat(folder + "leaves/leaves.csv"); err != nil {
		t.Skip("the real data of ../shared is not beside the repository")
	}
	for _, tc := range []struct {
		name, file, taxonomy, column string
		help                         Help
		words                        []string
	}{
		{"intents whose names agree", "clinc150/train-small.csv", folder + "clinc150/taxonomy.csv", "label", Perhaps, []string{"150 classes", "the nearest one is right for 51"}},
		{"emoji: nothing wins, and U+FE0F gives hearts away", "tweets-emoji/val.csv", "", "label", No, []string{"20 of 20 are without a letter"}},
		{"species", "leaves/leaves.csv", "", "species", Unknown, []string{"192, none constant", "99 classes"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			reader, err := dataset.OpenAll([]string{folder + tc.file}, dataset.Options{Label: tc.column})
			if err != nil {
				t.Fatal(err)
			}
			defer reader.Close()
			examples, records := corpus.New(reader.Kind(), reader.Columns()), new(Records)
			for e, err := range reader.All() {
				if err != nil {
					t.Fatal(err)
				}
				if err := examples.Add(e); err != nil {
					t.Fatal(err)
				}
				records.Add(e)
			}
			rows := dataset.Range(0, records.Rows())
			data, err := examples.Data(context.Background(), rows, corpus.ClassFiles{Taxonomy: tc.taxonomy})
			if err != nil {
				t.Fatal(err)
			}
			r, err := Examine(t.Context(), data, rows, records, Options{Train: tune.Off, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			out := r.text(t)
			if r.Verdict.Help != tc.help {
				t.Errorf("help %q, want %q", r.Verdict.Help, tc.help)
			}
			for _, w := range tc.words {
				if !strings.Contains(out, w) {
					t.Errorf("no %q in\n%s", w, out)
				}
			}
		})
	}
}

func TestTextFitsATerminal(t *testing.T) {
	examples := texts(3, 0)
	examples[1].Text, examples[4].Text = "one and\x1b[31m the same\n"+strings.Repeat("x", 90), "ONE and\x1b[31m the same "+strings.Repeat("x", 90)
	for i := range examples {
		examples[i].Label += "\x07" + strings.Repeat("y", 100)
	}
	r := admit(t, examples, "").examine(t, Options{Train: tune.Off})
	out := r.text(t)
	if strings.ContainsAny(out, "\x1b\x07") {
		t.Errorf("control characters in %q", out)
	}
	if r.Repeats.Contents != 1 || !strings.Contains(out, "row 2 card_lost") || !strings.Contains(out, "row 5 card_arrival") {
		t.Errorf("the rows of a text with two labels are not named:\n%s", out)
	}
	for line := range strings.Lines(input.Wrap(strings.Repeat("word ", 50), lineWidth)) {
		if utf8.RuneCountInString(line) > lineWidth+1 {
			t.Errorf("line of %d characters", len(line))
		}
	}
}

func TestMethodsInWords(t *testing.T) {
	for method, want := range map[string]string{
		"names": "the names of the classes", "none+examples": "the names as further examples",
		"names+examples": "the names of the classes (also as examples)",
		"taxonomy":       "the taxonomy", "names+taxonomy": "the names of the classes and the taxonomy",
		"names+means+vectors+examples": "the names of the classes, the means of the classes and the vectors of the names (the names also as examples)",
		"v-tree":                       "v-tree",
	} {
		if got := inWords(method); got != want {
			t.Errorf("%s: %q, want %q", method, got, want)
		}
	}
}

func TestNumbersInText(t *testing.T) {
	for x, want := range map[float64]string{0: "0.0", 0.5: "50.0", 0.0004: "0.04", 0.00001: "0.001", 1: "100.0", 0.0009: "0.1"} {
		if got := points(x); got != want {
			t.Errorf("points(%v) = %s, want %s", x, got, want)
		}
	}
	if got := listed([]string{"a", "b"}, 5); got != "a, b and 3 more" {
		t.Error(got)
	}
}

// Every reason has its sentence, whatever else a report holds.
func TestReasonsHaveSentences(t *testing.T) {
	for _, names := range []Names{{}, {Wordless: 10}, {Agreement: &Agreement{Rate: 0.5, Chance: 0.1, Errors: 40}}, {Agreement: &Agreement{Rate: 0.1, Chance: 0.1}}} {
		r := &Report{Kind: "text", Classes: 10, Names: names, Gain: &Gain{Best: "names"}, Sources: []Evidence{{"taxonomy", 5}, {"vectors", 4}}}
		for _, reason := range []string{"helps", "may help", "unclear", "plain is best", "no difference", "many rows", "names agree", "supported", "no texts", "nothing"} {
			var out strings.Builder
			if err := words.ExecuteTemplate(&out, reason, r); err != nil || !strings.HasPrefix(out.String(), "Sharing ") && !strings.HasPrefix(out.String(), "Whether sharing ") || strings.Contains(out.String(), "  ") || strings.Contains(out.String(), "\n") {
				t.Errorf("%s: %q, %v", reason, out.String(), err)
			}
		}
	}
}

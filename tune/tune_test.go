package tune

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/softmax"
)

var ctx = context.Background()

func TestFitEveryMethod(t *testing.T) {
	d, train, test := topicData(t, 5, 20, same)
	for _, name := range []string{Baseline, "u-tree", "v-tree", "linkage", "names", "means", "names+means",
		"names+examples", "none+examples", "simloss", "soft-labels", "hxe", "hierarchical-softmax"} {
		t.Run(name, func(t *testing.T) {
			p, err := ParsePlan(name, classinfo.Options{})
			if err != nil {
				t.Fatal(err)
			}
			r, err := p.Fit(ctx, d, train, Options{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			if a := accuracy(t, d, r, test); a < 0.6 {
				t.Errorf("accuracy %.2f on easy data, chance is 0.17", a)
			}
			if r.HeldOut != len(train) || len(r.Candidates) < len(firstPriors) {
				t.Errorf("%d held-out rows and %d candidates, want each row once and one candidate a prior", r.HeldOut, len(r.Candidates))
			}
			if !slices.ContainsFunc(r.Candidates, func(c softmax.Candidate) bool { return c.Prior == r.Prior }) {
				t.Errorf("prior %v is not of the grid", r.Prior)
			}
			best := r.Candidates[0]
			for _, c := range r.Candidates {
				if c.Accuracy > best.Accuracy || c.Accuracy == best.Accuracy && c.LogLoss < best.LogLoss {
					best = c
				}
			}
			if best.Prior != r.Prior {
				t.Errorf("prior %v was chosen, the best candidate is %+v", r.Prior, best)
			}
		})
	}
}

// Nothing outside the given rows may move a fit: not the labels or texts of the
// other rows, which are test rows to the caller.
func TestFitSeesOnlyItsRows(t *testing.T) {
	d, train, test := topicData(t, 4, 6, same)
	other, _, _ := topicData(t, 4, 6, same)
	for _, row := range test {
		other.Class[row] = (other.Class[row] + 1) % 6
	}
	small := corpus.New(dataset.Text, nil)
	for _, e := range texts(4, 1, same) {
		if err := small.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	alone, err := small.Data(ctx, dataset.Range(0, len(train)), corpus.ClassFiles{})
	if err != nil {
		t.Fatal(err)
	}
	m := Method{Sharing: classinfo.Spec{classinfo.Names}, Names: true}
	var want []byte
	for i, data := range []*corpus.Data{d, other, alone} {
		r, err := fitOne(ctx, data, train, m, Options{Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "m")
		if err := r.Model(data.Classes.Labels, softmax.Training{}).Save(path); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			want = got
		} else if !bytes.Equal(got, want) {
			t.Errorf("data %d: the model depends on rows that were not given", i)
		}
	}
}

func TestAutoUsesNamesThatTell(t *testing.T) {
	d, train, test := topicData(t, 3, 30, same)
	r, err := Plan{}.Fit(ctx, d, train, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := fitOne(ctx, d, train, Method{}, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := accuracy(t, d, r, test), accuracy(t, d, plain, test); a < b {
		t.Errorf("auto chose %v with accuracy %.3f, cross entropy has %.3f", r.Method, a, b)
	}
	if r.Gain == nil || r.Gain.Rows != len(train) {
		t.Errorf("gain %+v, want one measured on all %d rows", r.Gain, len(train))
	}
	if least := 4 * len(firstPriors); len(r.Candidates) < least {
		t.Errorf("%d candidates, want %d or more", len(r.Candidates), least)
	}
}

// With one row a class nothing can be held out; names are admitted only if they
// label the rows better than chance.
func TestAutoOneShot(t *testing.T) {
	for _, tc := range []struct {
		name  string
		label func(string) string
		names bool
	}{{"true names", same, true}, {"permuted names", permuted, false}} {
		t.Run(tc.name, func(t *testing.T) {
			d, train, _ := topicData(t, 2, 2, tc.label)
			r, err := Plan{}.Fit(ctx, d, train, Options{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			if r.Method.Names != tc.names || (len(r.Method.Sharing) > 0) != tc.names {
				t.Errorf("auto chose %v (%s)", r.Method, r.Reason)
			}
			if r.HeldOut != 0 || r.Prior != softmax.DefaultPrior {
				t.Errorf("%d rows held out, prior %v: want none and the default", r.HeldOut, r.Prior)
			}
		})
	}
}

func TestNamesAgree(t *testing.T) {
	d, train, _ := topicData(t, 10, 1, same)
	agree, chance, se, err := NamesAgree(d, train)
	if err != nil {
		t.Fatal(err)
	}
	if want := 1.0 / 6; chance != want || math.Abs(se-math.Sqrt(want*(1-want)/60)) > 1e-12 {
		t.Errorf("chance %v +- %v", chance, se)
	}
	if agree < 0.5 {
		t.Errorf("names agree with %.2f of texts that hold a part of them", agree)
	}
	n, rows := numbers(t, 3)
	if agree, chance, _, err := NamesAgree(n, rows); err != nil || agree != chance {
		t.Errorf("numbers: names agree with %v, %v; want chance %v", agree, err, chance)
	}
}

func TestNumbersAuto(t *testing.T) {
	d, rows := numbers(t, 9)
	r, err := Plan{}.Fit(ctx, d, rows, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if a := accuracy(t, d, r, rows); a < 0.95 {
		t.Errorf("accuracy %.2f on rows it was trained on", a)
	}
	if _, err := fitOne(ctx, d, rows, Method{Names: true}, Options{}); err == nil || !strings.Contains(err.Error(), "numbers") {
		t.Errorf("names as examples of numbers: error %v", err)
	}
}

func TestValidRows(t *testing.T) {
	d, train, test := topicData(t, 4, 5, same)
	d.Class[test[0]] = -1
	r, err := Plan{}.Fit(ctx, d, train, Options{Valid: test})
	if err != nil {
		t.Fatal(err)
	}
	if r.HeldOut != len(test)-1 {
		t.Errorf("measured on %d rows, want the %d validation rows with a known label", r.HeldOut, len(test)-1)
	}
	sgd := softmax.SGD{Epochs: 30, Monitor: softmax.Monitor{Patience: 2}}
	r, err = fitOne(ctx, d, train, Method{}, Options{Valid: test, Trainer: sgd, Priors: []float64{10}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Record.Steps >= 30 {
		t.Errorf("no early stop in %d epochs on separable data", r.Record.Steps)
	}
}

func TestPlanMethods(t *testing.T) {
	text, rows, _ := topicData(t, 4, 1, same)
	num, numRows := numbers(t, 4)
	for _, tc := range []struct {
		name string
		d    *corpus.Data
		rows []int
		plan Plan
		want string
	}{
		{"auto", text, rows, Plan{}, "[cross-entropy names+examples names none+examples]"},
		{"auto without names as examples", text, rows, Plan{Names: "off"}, "[cross-entropy names]"},
		{"auto with names as examples", text, rows, Plan{Names: "on"}, "[none+examples names+examples]"},
		{"auto of numbers", num, numRows, Plan{}, "[cross-entropy names]"},
		{"names bring their examples", text, rows, Plan{Sharing: spec("names")}, "[names names+examples]"},
		{"names alone", text, rows, Plan{Sharing: spec("names"), Names: "off"}, "[names]"},
		{"a tree", text, rows, Plan{Sharing: spec("v-tree")}, "[v-tree]"},
		{"none", text, rows, Plan{Sharing: spec("none")}, "[cross-entropy]"},
		{"a loss with knowledge of its own", text, rows, Plan{Loss: SimLoss}, "[simloss]"},
		{"a loss by groups", text, rows, Plan{Loss: HXE}, "[hxe]"},
		{"a loss beside a sharing", text, rows, Plan{Loss: HXE, Sharing: spec("names"), Names: "off"}, "[names/hxe]"},
		{"a sum", text, rows, Plan{Sharing: spec("names+linkage"), Names: "off"}, "[names+linkage]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			methods, err := tc.plan.Methods(tc.d, tc.rows)
			if err != nil || methodNames(methods) != tc.want {
				t.Errorf("got %v, %v, want %s", methods, err, tc.want)
			}
		})
	}
	for _, tc := range []struct {
		name string
		d    *corpus.Data
		plan Plan
		want string
	}{
		{"unknown sharing", text, Plan{Sharing: spec("trees")}, "unknown sharing"},
		{"unknown loss", text, Plan{Loss: "hinge"}, `Loss is "hinge"`},
		{"unknown names", text, Plan{Names: "maybe"}, "want auto, on or off"},
		{"names as examples of numbers", num, Plan{Names: "on"}, "numbers"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := tc.plan.Methods(tc.d, nil); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestMethodNamesRoundTrip(t *testing.T) {
	d, rows, _ := topicData(t, 2, 1, same)
	for _, name := range MethodNames() {
		if name == AutoName {
			continue
		}
		p, err := ParsePlan(name, classinfo.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if m, err := p.Methods(d, rows); err != nil || len(m) != 1 || m[0].String() != name {
			t.Errorf("%s became %v, %v", name, m, err)
		}
	}
}

func TestRefusals(t *testing.T) {
	d, train, _ := topicData(t, 4, 1, same)
	for _, tc := range []struct {
		name string
		m    Method
		want string
	}{
		{"smoothing of another loss", Method{Loss: SimLoss, Smoothing: 0.1}, "label smoothing"},
		{"hierarchical softmax over a sum", Method{Loss: HierarchicalSoftmax, Sharing: classinfo.Spec{classinfo.VTree, classinfo.Linkage}}, "one tree"},
		{"hierarchical softmax over a U-tree", Method{Loss: HierarchicalSoftmax, Sharing: classinfo.Spec{classinfo.UTree}}, "V-tree"},
		{"taxonomy that is not there", Method{Sharing: classinfo.Spec{classinfo.Taxonomy}}, "Options.Taxonomy"},
		{"unknown loss", Method{Loss: "hinge"}, "unknown loss"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := fitOne(ctx, d, train, tc.m, Options{}); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
	if _, err := FitBest(ctx, d, train, nil, Options{}); err == nil {
		t.Error("no methods were taken")
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := (Plan{}).Fit(cancelled, d, train, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v on a cancelled context", err)
	}
	if _, err := corpus.NewData(feature.NewTable(dataset.Text, nil), []int32{0}, nil, classinfo.Info{Labels: []string{"a"}}); err == nil {
		t.Error("a class without its row was taken")
	}
}

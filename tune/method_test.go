package tune

import (
	"math"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/loss"
	"github.com/treeloss/treeloss/softmax"
)

// The tree of HXE is the taxonomy, else that of the sharing, else the V-tree.
func TestTreeOfHXE(t *testing.T) {
	d, rows := groups(t, dataset.Range(0, 24))
	plain := d.Classes
	plain.Taxonomy, plain.Vectors = nil, nil
	spec := func(text string) classinfo.Spec {
		s, err := classinfo.ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, tc := range []struct {
		name    string
		classes classinfo.Info
		sharing string
		source  classinfo.Source
		shares  bool
	}{
		{"a taxonomy", d.Classes, "none", classinfo.Taxonomy, false},
		{"a taxonomy beside another tree", d.Classes, "linkage", classinfo.Taxonomy, true},
		{"names", plain, "none", classinfo.VTree, false},
		{"names shared", plain, "names", classinfo.VTree, true},
		{"linkage", plain, "names+linkage", classinfo.Linkage, true},
		{"a U-tree has classes on inner nodes", plain, "u-tree", classinfo.VTree, true},
	} {
		o, tree, err := Method{Loss: HXE, Sharing: spec(tc.sharing)}.Output(tc.classes)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		want, err := classinfo.BuildTree(tc.source, tc.classes, classinfo.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if tree.Len() != want.Len() || (o.Sharing != nil) != tc.shares {
			t.Errorf("%s: a tree of %d nodes and sharing %v, want the %s of %d nodes", tc.name, tree.Len(), o.Sharing, tc.source, want.Len())
		}
	}
	if _, _, err := (Method{Loss: HXE, Smoothing: 0.1}).Output(d.Classes); err == nil || !strings.Contains(err.Error(), "label smoothing") {
		t.Errorf("label smoothing: %v", err)
	}
	if _, _, err := (Method{Loss: HXE, Alpha: -1}).Output(d.Classes); err == nil || !strings.Contains(err.Error(), "alpha -1") {
		t.Errorf("alpha below 0: %v", err)
	}
	// Alpha reaches the loss: more of it makes the same mistakes cost less.
	value := func(alpha float64) float64 {
		o, _, err := Method{Loss: HXE, Alpha: alpha}.Output(d.Classes)
		if err != nil {
			t.Fatal(err)
		}
		k := len(d.Classes.Labels)
		return loss.Evaluate(o.Loss, make([]float64, k), make([]float64, k), make([]float64, k), 0)
	}
	if k := float64(len(d.Classes.Labels)); math.Abs(value(1e-9)-math.Log(k)) > 1e-6 || value(0) != value(DefaultHXEAlpha) || !(value(1) < value(DefaultHXEAlpha)) {
		t.Errorf("losses %v, %v, %v at alpha 1e-9, 0 and 1", value(1e-9), value(0), value(1))
	}
	m, _, err := Plan{Loss: HXE, Alpha: 0.5}.Train(ctx, d, rows, Options{Priors: []float64{10}}, softmax.Training{})
	if err != nil || m.Training.Loss != "hxe with alpha 0.5" || m.Tree == nil {
		t.Errorf("trained with %q, tree %v, %v", m.Training.Loss, m.Tree, err)
	}
}

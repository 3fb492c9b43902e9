package fit

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/treeloss/treeloss/deep/train"
	"github.com/treeloss/treeloss/internal/option"
)

// What is given stays; the rest is as on ImageNet.
func TestImageNetDefaults(t *testing.T) {
	for _, tc := range []struct{ o, want train.Options }{
		{train.Options{}, train.Options{Epochs: 90, Batch: 256, Rate: train.Schedule{Base: 0.1, Milestones: []float64{30, 60}}}},
		{train.Options{Epochs: 1, Batch: 8}, train.Options{Epochs: 1, Batch: 8, Rate: train.Schedule{Base: 0.1}}},
		{train.Options{Epochs: 9, Rate: train.Schedule{Base: 0.5}}, train.Options{Epochs: 9, Batch: 256, Rate: train.Schedule{Base: 0.5}}},
	} {
		if imageNetDefaults(&tc.o); !reflect.DeepEqual(tc.o, tc.want) {
			t.Errorf("%+v, want %+v", tc.o, tc.want)
		}
	}
}

// What a BERT is trained with where nothing is said; a warm-up of none is kept.
func TestBERTDefaults(t *testing.T) {
	for _, noWarmUp := range []bool{false, true} {
		var o train.Options
		bertDefaults(&o, noWarmUp)
		if o.Epochs != 3 || o.Batch != 32 || o.Rate.Base != 2e-5 || (o.Rate.WarmUp == 0) != noWarmUp || !noWarmUp && math.Abs(o.Rate.WarmUp-0.3) > 1e-12 {
			t.Errorf("no warm-up %v: %+v", noWarmUp, o)
		}
		if w := o.Optimizer.(train.AdamW); w.Rate != 2e-5 || w.Decay != 0.01 || w.Clip != 1 {
			t.Errorf("optimizer %+v", w)
		}
	}
}

func TestCheck(t *testing.T) {
	if err := (Options{Network: "resnet20"}).Check(); err != nil {
		t.Error(err)
	}
	for name, o := range map[string]Options{
		"Backend": {Backend: "gpu"}, "Augment": {Augment: "often"}, "Side": {Side: 30}, "Epochs": {Train: train.Options{Epochs: -1}},
		"Momentum": {Train: train.Options{Momentum: 1}}, "Rate": {Train: train.Options{Rate: train.Schedule{Base: math.NaN()}}},
		"WarmUp": {Train: train.Options{Rate: train.Schedule{WarmUp: -1}}}, "Milestones": {Train: train.Options{Rate: train.Schedule{Milestones: []float64{3, 2}}}},
	} {
		var wrong *option.Error
		if err := o.Check(); !errors.As(err, &wrong) || wrong.Name != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

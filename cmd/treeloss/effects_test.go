package main

import (
	"strings"
	"testing"

	"github.com/treeloss/treeloss/classify"
)

// The table has flags that there are, and each has an effect with something but not
// with everything.
func TestEffects(t *testing.T) {
	flags := map[string]bool{}
	for _, c := range commands(rootOf()) {
		for name := range effects {
			flags[name] = flags[name] || c.Flags().Lookup(name) != nil
		}
	}
	for name, with := range effects {
		if !flags[name] || with == 0 || with == linear|onNetworks {
			t.Errorf("--%s: a flag %v, with %b", name, flags[name], with)
		}
	}
	for _, tc := range []struct {
		flag, trainer, network, want string
	}{
		{"momentum", "sgd", "", ""},
		{"momentum", "adamw", "", "--momentum has no effect with --trainer adamw; give --trainer sgd"},
		{"epochs", "converge", "", "--epochs has no effect with --trainer converge; give --trainer sgd or adamw"},
		{"tokens", "auto", "", "--tokens has no effect without --network"},
		{"tokens", "auto", "bert:x", ""},
		{"init-model", "auto", "resnet50", ""},
		{"init-model", "auto", "resnet20", "--init-model has no effect with --network resnet20"},
		{"rho", "auto", "bert:x", "--rho has no effect with --network bert:x"},
	} {
		c, _, err := rootOf().Find([]string{"train"})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Flags().Set(tc.flag, "1"); err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := checkTraining(c.Flags(), tc.trainer, tc.network); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("--%s with %s %s: %q, want %q", tc.flag, tc.trainer, tc.network, got, tc.want)
		}
	}
	c, _, err := rootOf().Find([]string{"evaluate"})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Flags().Set("threads", "2"); err != nil {
		t.Fatal(err)
	}
	if err := checkUse(c.Flags(), "m", classify.LinearModel); err != nil {
		t.Error(err)
	}
	if err := checkUse(c.Flags(), "m", classify.PictureNetwork); err == nil || !strings.Contains(err.Error(), "--threads has no effect with m, which is a network on pictures") {
		t.Errorf("threads of a network: %v", err)
	}
}

package main

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// The help of every command fits on a screen; --help-all has every flag of a command,
// those of train in groups.
func TestHelpFitsOnAScreen(t *testing.T) {
	const screen = 45
	for _, name := range []string{"train", "compare", "tune", "cv"} {
		o := succeed(t, name, "--help")
		if n := strings.Count(o.out, "\n"); n > screen {
			t.Errorf("%s --help has %d lines, want at most %d", name, n, screen)
		}
		if !strings.Contains(o.out, "--data") || !strings.Contains(o.out, "--taxonomy") || strings.Contains(o.out, "--rho") || !strings.Contains(o.out, "--help-all has all") {
			t.Errorf("%s --help: %s", name, o.out)
		}
	}
	for _, c := range commands(rootOf()) {
		if !c.Runnable() || c.HasSubCommands() || c.Example == "" {
			continue
		}
		o := succeed(t, append(strings.Fields(c.CommandPath())[1:], "--help-all")...)
		if !strings.Contains(o.out, c.Long) {
			t.Errorf("%s --help-all lacks its long help", c.CommandPath())
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(o.out, "--"+f.Name) {
				t.Errorf("%s --help-all lacks --%s", c.CommandPath(), f.Name)
			}
		})
	}
	if o := succeed(t, "train", "--help-all"); strings.Contains(o.out, "Other flags") {
		t.Error("a flag of train is in no group")
	}
}

package main

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/input"
)

// mostSkipped is how many of the rows that were left out are listed.
const mostSkipped = 10

// skippedRows is --skip-bad, and the rows that were left out because of it. A row that
// is read twice, as the first of each file are, counts once.
type skippedRows struct {
	options  *dataset.Options
	seen     map[dataset.Place]bool
	first    []error       // at most mostSkipped
	logged   int           // rows that the log has
	replaced int           // plain lines whose broken UTF-8 was replaced
	at       dataset.Place // the first of these
}

// addSkip adds --skip-bad.
func (f *dataFlags) addSkip(c *cobra.Command) {
	f.skipped.options = &f.Options
	f.Replaced = f.skipped.replace
	c.Flags().Var(&f.skipped, "skip-bad", "leave out rows without label, with too few or many columns or broken UTF-8, and list them")
	c.Flags().Lookup("skip-bad").NoOptDefVal = "true"
}

func (s *skippedRows) String() string {
	return strconv.FormatBool(s.options != nil && s.options.Skip != nil)
}
func (s *skippedRows) Type() string     { return "bool" }
func (s *skippedRows) IsBoolFlag() bool { return true }

func (s *skippedRows) Set(value string) error {
	on, err := strconv.ParseBool(value)
	if s.options.Skip = nil; on {
		s.options.Skip = s.add
	}
	return err
}

// add is the dataset.Options.Skip of the command.
func (s *skippedRows) add(e *dataset.Error) {
	if s.mark(dataset.Place{File: e.File, Line: e.Line}) && len(s.first) < mostSkipped {
		s.first = append(s.first, e)
	}
}

// places returns where the rows are that were left out and are not in the log.
func (s *skippedRows) places() []dataset.Place {
	return slices.SortedFunc(maps.Keys(s.seen), func(a, b dataset.Place) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line)
	})
}

// take counts rows that other processes left out; their logs say why.
func (s *skippedRows) take(places []dataset.Place) {
	for _, place := range places {
		s.mark(place)
	}
}

// mark counts a row, and tells whether it was new.
func (s *skippedRows) mark(place dataset.Place) bool {
	if s.seen[place] {
		return false
	}
	if s.seen == nil {
		s.seen = make(map[dataset.Place]bool)
	}
	s.seen[place] = true
	return true
}

// replace is the dataset.Options.Replaced of the command.
func (s *skippedRows) replace(at dataset.Place) {
	if s.replaced++; s.replaced == 1 {
		s.at = at
	}
}

// in makes a command tell in its JSON how many rows were left out, and returns what
// tells it in the log.
func (s *skippedRows) in(a *app) func() {
	a.skipped = s
	return func() { s.log(a) }
}

// count returns how many rows were left out so far; asked is false without --skip-bad.
func (s *skippedRows) count() (n int, asked bool) {
	if s == nil || s.options.Skip == nil {
		return 0, false
	}
	return s.logged + len(s.seen), true
}

// log tells how many rows were left out since it was last called, and the first of them.
func (s *skippedRows) log(a *app) {
	if s.replaced > 0 {
		a.logf("broken UTF-8 was replaced by U+FFFD in %s, the first of them %v", input.Plural(s.replaced, "line"), s.at)
		s.replaced = 0
	}
	if len(s.seen) == 0 {
		return
	}
	a.logf("left out because of --skip-bad: %s", input.Plural(len(s.seen), "row"))
	for _, e := range s.first {
		a.logf("  %v", e)
	}
	if more := len(s.seen) - len(s.first); more > 0 {
		a.logf("  and %d more", more)
	}
	s.logged += len(s.seen)
	s.seen, s.first = nil, nil
}

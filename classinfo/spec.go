package classinfo

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Source is one way to make a sharing.
type Source string

// The sources that a Spec may hold.
const (
	None      Source = "none"
	Names     Source = "names"
	Vectors   Source = "vectors"
	Taxonomy  Source = "taxonomy"
	Distances Source = "distances"
	Weights   Source = "weights"
	Means     Source = "means"
	UTree     Source = "u-tree"
	VTree     Source = "v-tree"
	Linkage   Source = "linkage"
)

// Sources returns all sources, in the order in which help texts list them.
func Sources() []Source {
	return append(append([]Source{None}, Metrics()...), UTree, VTree, Linkage)
}

// Metrics returns the sources that know distances between classes, those that
// Metric and Options.From may name.
func Metrics() []Source {
	return []Source{Names, Vectors, Taxonomy, Distances, Weights, Means}
}

// Spec is a sum of sources, as on the command line: names+taxonomy. An empty
// one means none.
type Spec []Source

// ErrSpec says that a source is unknown or does not fit where it stands.
var ErrSpec = errors.New("unknown sharing")

// ParseSpec reads a sum of sources separated by "+", with or without spaces, and checks
// it.
func ParseSpec(text string) (Spec, error) {
	var spec Spec
	for _, part := range strings.Split(text, "+") {
		spec = append(spec, Source(strings.TrimSpace(part)))
	}
	if err := spec.check(text); err != nil {
		return nil, err
	}
	return spec, nil
}

// Check returns an error that wraps ErrSpec for a source that is unknown or there twice,
// and for None with company.
func (s Spec) Check() error { return s.check(s.String()) }

// check is Check in an error about a text, as it was written.
func (s Spec) check(text string) error {
	for i, source := range s {
		if !slices.Contains(Sources(), source) {
			return fmt.Errorf("%w %q, want one or a sum of %s", ErrSpec, source, joinSources(Sources()))
		}
		if slices.Contains(s[:i], source) {
			return fmt.Errorf("%w: %q twice in %q", ErrSpec, source, text)
		}
	}
	if len(s) > 1 && slices.Contains(s, None) {
		return fmt.Errorf("%w %q: none shares nothing, it cannot be part of a sum", ErrSpec, text)
	}
	return nil
}

// auto is the text of a Spec that is nil, for those to whom that leaves the choice.
const auto = "auto"

// MarshalText returns what String does, and "auto" for nil.
func (s Spec) MarshalText() ([]byte, error) {
	if s == nil {
		return []byte(auto), nil
	}
	return []byte(s.String()), nil
}

// UnmarshalText reads what ParseSpec does, and nil from "auto".
func (s *Spec) UnmarshalText(text []byte) (err error) {
	if string(text) == auto {
		*s = nil
		return nil
	}
	if *s, err = ParseSpec(string(text)); err != nil {
		return fmt.Errorf("%w, or auto", err)
	}
	return nil
}

// String returns the specification as ParseSpec reads it, "" for an empty one.
func (s Spec) String() string {
	parts := make([]string, len(s))
	for i, source := range s {
		parts[i] = string(source)
	}
	return strings.Join(parts, "+")
}

// joinSources writes sources as they are read: names+taxonomy.
func joinSources(sources []Source) string {
	return strings.ReplaceAll(Spec(sources).String(), "+", ", ") // no source has a + in its name
}

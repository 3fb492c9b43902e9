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

// ParseSpec reads a sum of sources separated by "+", with or without spaces.
// Unknown and repeated ones are errors, and so is "none" with company; all wrap
// ErrSpec.
func ParseSpec(text string) (Spec, error) {
	var spec Spec
	for _, part := range strings.Split(text, "+") {
		s := Source(strings.TrimSpace(part))
		if !slices.Contains(Sources(), s) {
			return nil, fmt.Errorf("%w %q, want one or a sum of %s", ErrSpec, s, joinSources(Sources()))
		}
		if slices.Contains(spec, s) {
			return nil, fmt.Errorf("%w: %q twice in %q", ErrSpec, s, text)
		}
		spec = append(spec, s)
	}
	if len(spec) > 1 && slices.Contains(spec, None) {
		return nil, fmt.Errorf("%w %q: none shares nothing, it cannot be part of a sum", ErrSpec, text)
	}
	return spec, nil
}

// String returns the specification as ParseSpec reads it, "" for an empty one.
func (s Spec) String() string {
	parts := make([]string, len(s))
	for i, source := range s {
		parts[i] = string(source)
	}
	return strings.Join(parts, "+")
}

func joinSources(sources []Source) string {
	return strings.ReplaceAll(Spec(sources).String(), "+", ", ") // no source has a + in its name
}

package tune

import (
	"fmt"
	"slices"
	"strings"

	"github.com/treeloss/treeloss/classinfo"
)

// Baseline is the method that all others are compared with, plain cross entropy.
const Baseline = string(CrossEntropy)

// ParsePlan reads the name of a method: a loss (one of Losses), a sharing (names, v-tree,
// names+taxonomy ...), or a sharing with "+examples", for the names of the classes as
// examples. Nothing is left open then but the prior; "auto" leaves all open.
func ParsePlan(name string, o classinfo.Options) (Plan, error) {
	if name == AutoName {
		return Plan{ClassInfo: o}, nil
	}
	// The loss is named even where it is the default: a nameless one would be tried with
	// squared hinge, and a comparison asks for one method.
	p := Plan{Sharing: classinfo.Spec{classinfo.None}, Loss: CrossEntropy, Names: Off, Fourier: Off, ClassInfo: o}
	rest, names := strings.CutSuffix(name, "+examples")
	if names {
		p.Names = On
	}
	if slices.Contains(Losses(), Loss(rest)) {
		p.Loss = Loss(rest)
		return p, nil
	}
	var err error
	if p.Sharing, err = classinfo.ParseSpec(rest); err != nil {
		return p, fmt.Errorf("unknown method %q; methods are %s", name, strings.Join(MethodNames(), ", "))
	}
	return p, nil
}

// MethodNames returns names that ParsePlan reads, in the order in which help texts list
// them; sums of sources are not among them.
func MethodNames() []string {
	list := []string{Baseline, "u-tree", "v-tree", "linkage", "names", "vectors", "taxonomy", "distances", "weights", "means", "names+examples"}
	for _, l := range Losses()[1:] {
		list = append(list, string(l))
	}
	return append(list, AutoName)
}

package tune

import (
	"fmt"
	"strings"

	"github.com/treeloss/treeloss/classinfo"
)

// AutoName is the method name that stands for Auto.
const AutoName = "auto"

// examplesSuffix asks for the class names as examples.
const examplesSuffix = "+examples"

// ParseMethod reads a method name: a loss (one of Losses), a sharing (names, v-tree, names+taxonomy ...), or a
// sharing with "+examples", for the names of the classes as examples. The base
// and source of trees are those of the options.
func ParseMethod(name string, o classinfo.Options) (Method, error) {
	m := Method{ClassInfo: o}
	rest, names := strings.CutSuffix(name, examplesSuffix)
	m.Names = names
	for _, l := range Losses() {
		if rest == l {
			m.Loss = l
			return m, nil
		}
	}
	spec, err := classinfo.ParseSpec(rest)
	if err != nil {
		return m, fmt.Errorf("unknown method %q; methods are %s", name, strings.Join(MethodNames(), ", "))
	}
	m.Sharing = spec
	return m, nil
}

// MethodNames returns the names of the methods that compare offers.
func MethodNames() []string {
	return []string{CrossEntropy, "u-tree", "v-tree", "linkage", "names", "vectors", "taxonomy", "distances", "weights", "means", "names+examples",
		SquaredHinge, CrossEntropyHinge, SimLoss, SoftLabels, HXE, HierarchicalSoftmax, AutoName}
}

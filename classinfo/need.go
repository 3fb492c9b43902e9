package classinfo

import "fmt"

// need returns an error unless what a source is made of is there, then one that wraps
// ErrMissing, and is about as many classes as there are labels. use says what it is wanted
// for. Names and trees over a metric need nothing of their own.
func (c Info) need(source Source, use string) error {
	// A nil interface has no size to ask for, so each case looks before it counts.
	there, have := false, 0
	var missing, misfit string
	switch source {
	case Vectors:
		missing, misfit = "no vectors of the class names, give a file with Options.Vectors", "%d vectors for %d labels"
		if there = c.Vectors != nil; there {
			have = c.Vectors.Rows()
		}
	case Taxonomy:
		missing, misfit = "no tree over the classes, give one with Options.Taxonomy", "a tree of %d classes, want one of the %d labels"
		if there = c.Taxonomy != nil; there {
			have = c.Taxonomy.Classes()
		}
	case Distances:
		missing, misfit = "no distances between the classes, give a list of them with Options.Distances", "of %d classes, want those of the %d labels"
		if there = c.Distances != nil; there {
			have = c.Distances.Len()
		}
	case Weights:
		missing, misfit = "no trained weights of the classes, give a model that has some with Options.Weights", "of %d classes, want those of the %d labels"
		if there = c.Weights != nil; there {
			have = c.Weights.SymmetricDim()
		}
	case Means:
		return c.needExamples(use)
	default:
		return nil
	}
	if !there {
		return fmt.Errorf("%s %s: %s: %w", use, source, missing, ErrMissing)
	}
	if k := len(c.Labels); have != k {
		return fmt.Errorf("%s %s: "+misfit, use, source, have, k)
	}
	return nil
}

// needExamples returns an error unless there are examples of the classes.
func (c Info) needExamples(use string) error {
	if c.X == nil {
		return fmt.Errorf("%s means: no examples of the classes, give some: %w", use, ErrMissing)
	}
	if n := c.X.Rows(); n != len(c.Class) {
		return fmt.Errorf("%s means: %d rows and classes of %d rows, want as many", use, n, len(c.Class))
	}
	for i, class := range c.Class {
		if class < -1 || int(class) >= len(c.Labels) {
			return fmt.Errorf("%s means: row %d is of class %d, want -1 to %d", use, i, class, len(c.Labels)-1)
		}
	}
	return nil
}

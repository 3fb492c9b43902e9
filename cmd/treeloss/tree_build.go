package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/labeltree"
)

// treeBuildFlags are the flags of treeloss tree build.
type treeBuildFlags struct {
	labels labelFlags
	files  classFileFlags
	kind   classinfo.Source
	info   classinfo.Options
	out    string
}

// newTreeBuild returns treeloss tree build.
//
//	reads    class names from --labels, or from the labels of --data; one source of
//	         distances: the names, --label-vectors, --distances, --weights-model,
//	         --taxonomy, or the means of the examples
//	does     classinfo.BuildTree, as training does
//	writes   --out, in the format of its ending
//	prints   the tree as text without --out, else its size
//	exits    1 for files; 2 for flags, and for two sources
func newTreeBuild(a *app) *cobra.Command {
	var f treeBuildFlags
	c := &cobra.Command{
		Use:   "build (--data FILE | --labels FILE)",
		Short: "Build a tree over the classes",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if !c.Flags().Changed("kind") && f.info.From == classinfo.Taxonomy {
				f.kind = classinfo.Taxonomy
			}
			return f.run(c.Context(), a)
		},
	}
	f.labels.add(c)
	flags := c.Flags()
	addFrom(c, &f.info.From, "what distances come from")
	addWord(c, &f.kind, "kind", "v-tree (classes on leaves), u-tree (on inner nodes too) or linkage (with edge lengths)", classinfo.VTree, classinfo.UTree, classinfo.Linkage)
	f.files.add(c)
	flags.Float64Var(&f.info.Base, "base", classinfo.DefaultBase, baseHelp)
	flags.Uint64Var(&f.info.Seed, "seed", 1, "order in which the cover tree takes the classes: another one, another tree")
	flags.StringVar(&f.out, "out", "", "file to write, by its ending: .json, .nwk (Newick), or a drawing: .svg, .dot, .txt")
	a.jsonFlag(c)
	return c
}

func (f *treeBuildFlags) run(ctx context.Context, a *app) error {
	if err := cmp.Or(f.files.check(f.info.From, f.labels.data.data), f.info.Check(), f.one()); err != nil {
		return err
	}
	var format treeFormat
	if f.out != "" {
		var err error
		if format, err = treeFormatOf(f.out); err != nil {
			return err
		}
		read := slices.Concat(sources("--data", f.labels.data.data...), sources("--labels", f.labels.data.Labels), f.files.sources())
		if err := spare("--out", f.out, read); err != nil {
			return err
		}
		if err := canWrite("--out", f.out); err != nil {
			return err
		}
	}
	classes, err := f.classes(ctx, a)
	if err != nil {
		return err
	}
	tree, err := classinfo.BuildTree(f.kind, classes, f.info)
	if err != nil {
		return err
	}
	return f.print(a, tree, format)
}

// one refuses knowledge that the tree is not built from.
func (f *treeBuildFlags) one() error {
	var err error
	first := ""
	f.files.each(func(s classinfo.Source, flag, _ string) {
		switch from := f.info.From; {
		case err != nil:
		case from == "" && s == classinfo.Taxonomy:
			err = usagef("--taxonomy goes with --from taxonomy")
		case from != "" && from != s:
			err = usagef("%s goes with --from %s, not with --from %s", flag, s, from)
		case first != "":
			err = usagef("a tree is built from one source: %s or %s", first, flag)
		}
		first = flag
	})
	return err
}

// classes reads what is known about the classes.
func (f *treeBuildFlags) classes(ctx context.Context, a *app) (classinfo.Info, error) {
	switch {
	case !f.labels.given():
		return classinfo.Info{}, usagef("no classes: name examples with --data or a file of class names with --labels")
	case f.info.From == classinfo.Means:
		return f.means(a)
	}
	labels, err := f.labels.read(a)
	if err != nil {
		return classinfo.Info{}, err
	}
	classes, found, err := f.files.read(ctx, a, labels)
	if err != nil {
		return classinfo.Info{}, err
	}
	if n := len(corpus.Dropped(found)); n > 0 {
		a.logf("skipped, no vector: %d of %d classes", n, len(labels))
	}
	return classes, nil
}

// means reads all examples, for the mean of each class.
func (f *treeBuildFlags) means(a *app) (classinfo.Info, error) {
	if len(f.labels.data.data) == 0 {
		return classinfo.Info{}, usagef("--from means needs examples: name them with --data")
	}
	examples, err := f.labels.data.read(a)
	if err != nil {
		return classinfo.Info{}, err
	}
	return examples.Features()
}

func (f *treeBuildFlags) print(a *app, tree *labeltree.Tree, format treeFormat) error {
	facts := treeFacts{Shape: tree.Shape()}
	if f.out != "" {
		if err := saveTree(f.out, tree, format); err != nil {
			return err
		}
		facts.File = f.out
	}
	switch {
	case a.json:
		if f.out == "" {
			var content bytes.Buffer
			if err := tree.WriteJSON(&content); err != nil {
				return err
			}
			facts.Tree = json.RawMessage(content.Bytes())
		}
		return a.printJSON(facts)
	case f.out != "":
		fmt.Fprintf(a.out, "%s: %v\n", f.out, facts.Shape)
		return nil
	}
	a.logf("%v", facts.Shape)
	return writeText(a.out, tree, labeltree.TextOptions{})
}

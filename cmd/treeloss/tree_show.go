package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/internal/treefile"
	"github.com/treeloss/treeloss/labeltree"
)

// newTreeShow returns treeloss tree show. It reads a model, a tree file or a taxonomy, draws
// its tree on standard output and writes nothing; a model without a tree exits with 1.
func newTreeShow(a *app) *cobra.Command {
	var format string
	var text labeltree.TextOptions
	var around string
	c := &cobra.Command{
		Use:   "show (MODEL | TREE | -)",
		Short: "Draw the tree of a model or of a file",
		Args:  oneFile("a model or a tree"),
		RunE: func(c *cobra.Command, args []string) error {
			if a.json {
				format = "json"
			}
			switch {
			case text.MaxDepth < 0:
				return usagef("--depth %d, want at least 1, or 0 for all", text.MaxDepth)
			case text.MaxChildren < 0:
				return usagef("--width %d, want at least 1, or 0 for all", text.MaxChildren)
			case format != treeText && (text.MaxDepth > 0 || text.MaxChildren > 0 || text.Along+around != ""):
				return usagef("--depth, --width, --path and --around cut a drawing; they go with --format text only")
			case text.Along != "" && around != "":
				return usagef("--path and --around are two ways to draw a class; give one of them")
			}
			if around != "" {
				text.Along, text.Beside = around, max(text.MaxChildren/2, 2)
			}
			tree, err := treefile.Read(args[0], a.in, nil)
			if errors.Is(err, treefile.ErrNone) {
				a.logf("%s was trained without a tree; this is the linkage of its class weights", args[0])
				tree, err = treefile.OfWeights(args[0])
			}
			if err != nil {
				return err
			}
			if format == treeText {
				return treefile.InFile(args[0], writeText(a.out, tree, text))
			}
			all := treeFormats()
			return all[slices.IndexFunc(all, func(f treeFormat) bool { return f.name == format })].write(tree, a.out)
		},
	}
	flags := c.Flags()
	addWord(c, &format, "format", "text, dot, json, newick, svg, npz", treeText, "dot", "json", "newick", "svg", "npz")
	flags.IntVar(&text.MaxDepth, "depth", 0, "levels to draw below the root, for a look at a large tree; 0 for all")
	flags.IntVar(&text.MaxChildren, "width", 0, "children to draw of each group, for a look at a wide tree; 0 for all")
	flags.StringVar(&text.Along, "path", "", "class to draw the way to, with how much is beside it")
	flags.StringVar(&around, "around", "", "class to draw the way to, with two neighbours on each side, or half of --width")
	flags.BoolVar(&a.json, "json", false, "the same as --format json")
	return c
}

// oneFile wants exactly one argument.
func oneFile(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usagef("%s takes one file, not %d: name %s", c.CommandPath(), len(args), what)
		}
		return nil
	}
}

func newTreeCheck(a *app) *cobra.Command {
	var labels labelFlags
	c := &cobra.Command{
		Use:   "check (TREE | TAXONOMY | MODEL)",
		Short: "Check a tree file or a taxonomy",
		Args:  oneFile("a tree file, a taxonomy or a model"),
		RunE:  func(c *cobra.Command, args []string) error { return checkTree(a, args[0], &labels) },
	}
	labels.add(c)
	a.jsonFlag(c)
	return c
}

func checkTree(a *app, path string, flags *labelFlags) error {
	var labels []string
	if flags.given() {
		var err error
		if labels, err = flags.read(a); err != nil {
			return err
		}
	}
	tree, err := treefile.Read(path, a.in, labels)
	if err != nil {
		return err
	}
	if err := tree.Check(); err != nil {
		return treefile.InFile(path, err)
	}
	facts := treeFacts{File: path, Shape: tree.Shape()}
	if a.json {
		return a.printJSON(facts)
	}
	fmt.Fprintf(a.out, "%s is fine: %v\n", path, facts.Shape)
	return nil
}

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/internal/atomicfile"
	"github.com/treeloss/treeloss/labeltree"
)

func newTree(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "tree",
		Short: "Build, draw and check trees over the classes",
		Long: `Tree builds the label trees that classes share parameters along, draws them, and
checks trees and taxonomies that you bring yourself. A tree file, or a taxonomy
of child,parent rows, goes to treeloss train with --taxonomy.`,
		Example: `  treeloss tree build --data train.csv
  treeloss tree build --labels names.txt --kind linkage --out tree.json
  treeloss tree show model.safetensors --depth 2
  treeloss tree check groups.csv --data train.csv`,
		Args: commandsOnly,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newTreeBuild(a), newTreeShow(a), newTreeCheck(a))
	return c
}

// treeFacts is what build and check tell about a tree.
type treeFacts struct {
	File     string          `json:"file,omitempty"`
	Nodes    int             `json:"nodes"`
	Classes  int             `json:"classes"`
	Inner    int             `json:"inner_nodes"` // that have children
	Height   int             `json:"height"`      // edges of the longest path
	Depth    float64         `json:"mean_depth"`  // edges from the root to a class, on average
	FanOut   fanOut          `json:"fan_out"`     // children of the inner nodes
	Weighted bool            `json:"weighted"`
	Tree     json.RawMessage `json:"tree,omitempty"`
}

type fanOut struct {
	Min  int     `json:"min"`
	Mean float64 `json:"mean"`
	Max  int     `json:"max"`
}

func factsOf(t *labeltree.Tree) treeFacts {
	f := treeFacts{Nodes: t.Len(), Classes: t.Classes(), Height: t.Height(), Weighted: t.Weighted()}
	for v := range t.Len() {
		n := len(t.Children(v))
		if n == 0 {
			continue
		}
		if f.Inner == 0 || n < f.FanOut.Min {
			f.FanOut.Min = n
		}
		f.Inner++
		f.FanOut.Max = max(f.FanOut.Max, n)
	}
	if f.Inner > 0 {
		f.FanOut.Mean = float64(t.Len()-1) / float64(f.Inner)
	}
	sum := 0
	for c := range t.Classes() {
		sum += t.Depth(t.Node(c))
	}
	f.Depth = float64(sum) / float64(t.Classes())
	return f
}

// String says the facts in one line.
func (f treeFacts) String() string {
	kind := ""
	if f.Weighted {
		kind = ", with edge lengths"
	}
	return fmt.Sprintf("%d nodes, %d classes, %d inner nodes with %d to %d children (mean %.1f), height %d, mean depth of a class %.1f%s",
		f.Nodes, f.Classes, f.Inner, f.FanOut.Min, f.FanOut.Max, f.FanOut.Mean, f.Height, f.Depth, kind)
}

// treeFormat is a form in which trees are written.
type treeFormat struct {
	name    string
	endings string // of its files
	write   func(t *labeltree.Tree, w io.Writer) error
}

// treeText is the form that people read.
const treeText = "text"

func treeFormats() []treeFormat {
	return []treeFormat{
		{treeText, ".txt", func(t *labeltree.Tree, w io.Writer) error { return writeText(w, t, labeltree.TextOptions{}) }},
		{"dot", ".dot .gv", (*labeltree.Tree).WriteDOT},
		{"json", ".json", (*labeltree.Tree).WriteJSON},
		{"newick", ".nwk .newick .tree", (*labeltree.Tree).WriteNewick},
		{"svg", ".svg", (*labeltree.Tree).WriteSVG},
	}
}

// treeFormatOf returns the format that a file name stands for.
func treeFormatOf(path string) (treeFormat, error) {
	ending := strings.ToLower(filepath.Ext(path))
	for _, f := range treeFormats() {
		if slices.Contains(strings.Fields(f.endings), ending) {
			return f, nil
		}
	}
	return treeFormat{}, usagef("--out %q, want a name that ends in .json, .svg, .dot, .nwk or .txt", path)
}

// writeText draws a tree as text, with the lengths of its edges if it has some.
func writeText(w io.Writer, t *labeltree.Tree, text labeltree.TextOptions) error {
	text.Lengths = t.Weighted()
	return t.WriteText(w, text)
}

// saveTree writes a tree to a file: the old one or the new one is there, whole.
func saveTree(path string, t *labeltree.Tree, format treeFormat) error {
	var content bytes.Buffer
	if err := format.write(t, &content); err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(path, content.Bytes(), 0o666) // such as /dev/stdout
	}
	return atomicfile.WriteBytes(path, content.Bytes())
}

// noOthers refuses a tree with more classes than the labels.
func noOthers(path string, t *labeltree.Tree, labels []string) error {
	have := t.Labels()
	slices.Sort(have)
	if extra := without(have, labels); len(extra) > 0 {
		return fmt.Errorf("%s: class %q of the tree is not among the %d labels (%d are too many); build the tree from the same labels", path, extra[0], len(labels), len(extra))
	}
	return nil
}

// compareLabels refuses a tree over other classes than the labels.
func compareLabels(path string, t *labeltree.Tree, labels []string) error {
	have := t.Labels()
	slices.Sort(have)
	missing := without(labels, have)
	if len(missing) > 0 {
		return fmt.Errorf("%s: class %q is not in the tree (%d of %d are missing); add it, or build the tree from the same labels", path, missing[0], len(missing), len(labels))
	}
	return noOthers(path, t, labels)
}

// without returns the texts of sorted a that sorted b has not.
func without(a, b []string) []string {
	var out []string
	for _, x := range a {
		if _, found := slices.BinarySearch(b, x); !found {
			out = append(out, x)
		}
	}
	return out
}

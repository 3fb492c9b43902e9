package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/treeloss/treeloss/internal/atomicfile"
	"github.com/treeloss/treeloss/internal/export"
	"github.com/treeloss/treeloss/labeltree"
)

// newTree returns treeloss tree, which only holds build, show and check.
func newTree(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "tree",
		Short: "Build, draw and check trees over the classes",
		Args:  commandsOnly,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newTreeBuild(a), newTreeShow(a), newTreeCheck(a))
	return c
}

// treeFacts is what build and check tell about a tree.
type treeFacts struct {
	File string `json:"file,omitempty"`
	labeltree.Shape
	Tree json.RawMessage `json:"tree,omitempty"`
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
		{"npz", ".npz", export.WriteTree},
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
	return treeFormat{}, usagef("--out %q, want a name that ends in .json, .svg, .dot, .nwk, .npz or .txt", path)
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

package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/labeltree"
)

// readTree reads a tree from a model, a tree file or a taxonomy. Without
// labels, the classes of a taxonomy are the names that are nobody's parent.
func (a *app) readTree(path string, labels []string) (*labeltree.Tree, error) {
	name, content, err := a.readWhole(path)
	if err != nil {
		return nil, err
	}
	switch {
	case !isModel(path, content):
	case path == "-":
		return nil, fmt.Errorf("%s: a model cannot be read from here; name its file", name)
	default:
		return modelTree(path)
	}
	tree, err := labeltree.Read(bytes.NewReader(content), name)
	if err == nil || !looksLikeRows(path, content) {
		return tree, err
	}
	if labels == nil {
		labels = leavesOf(content)
	}
	return labeltree.ReadTaxonomy(bytes.NewReader(content), name, labels)
}

// readWhole returns the content of a file, or of the standard input for "-",
// but of a model only as much as shows that it is one.
func (a *app) readWhole(path string) (name string, content []byte, err error) {
	if path == "-" {
		content, err = io.ReadAll(a.in)
		return stdinName, content, err
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil, fmt.Errorf("%s: no such file; check the path", path)
	}
	if err != nil {
		return path, nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return path, nil, fmt.Errorf("%s is a folder, want a tree file, a taxonomy or a model", path)
	}
	start := make([]byte, 9)
	n, err := io.ReadFull(f, start)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return path, nil, err
	}
	if content = start[:n]; isModel(path, content) {
		return path, content, nil
	}
	rest, err := io.ReadAll(f)
	return path, append(content, rest...), err
}

// isModel tells a model file by its name or its first bytes: a length below
// 2^56 in 8 bytes, the last of them 0, and the brace of a header.
func isModel(path string, content []byte) bool {
	return strings.EqualFold(filepath.Ext(path), ".safetensors") || len(content) >= 9 && content[7] == 0 && content[8] == '{'
}

func modelTree(path string) (*labeltree.Tree, error) {
	m, err := loadModel(path)
	if err != nil {
		return nil, err
	}
	if m.Tree == nil {
		return nil, fmt.Errorf("%s: the model has no tree, its sharing is %s; train with --sharing v-tree or linkage, or build a tree with treeloss tree build", path, m.Training.Sharing)
	}
	return m.Tree, nil
}

// looksLikeRows tells whether a file that is no tree may be a taxonomy: by its
// name, or by a separator in its first line.
func looksLikeRows(path string, content []byte) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv", ".tsv":
		return true
	}
	first, _, _ := bytes.Cut(content, []byte("\n"))
	start := bytes.TrimSpace(first)
	return bytes.ContainsAny(first, ",\t") && len(start) > 0 && !strings.ContainsRune("{([", rune(start[0])) &&
		!bytes.HasPrefix(bytes.ToLower(start), []byte("digraph"))
}

// leavesOf returns the names of a taxonomy that have no children. It forgives
// everything: the reader of taxonomies says what is wrong.
func leavesOf(content []byte) []string {
	rows := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(content, []byte("\ufeff"))))
	rows.FieldsPerRecord, rows.LazyQuotes = -1, true
	if first, _, _ := bytes.Cut(content, []byte("\n")); bytes.Contains(first, []byte("\t")) && !bytes.Contains(first, []byte(",")) {
		rows.Comma = '\t'
	}
	all, _ := rows.ReadAll() // up to the first row that is not to be read
	if len(all) > 0 && len(all[0]) == 2 && strings.EqualFold(strings.TrimSpace(all[0][1]), "parent") {
		all = all[1:]
	}
	parent := map[string]bool{}
	for _, row := range all {
		if len(row) == 2 {
			parent[strings.TrimSpace(row[1])] = true
		}
	}
	var children, leaves []string
	for _, row := range all {
		if len(row) != 2 {
			continue
		}
		child := strings.TrimSpace(row[0])
		if child == "" {
			continue
		}
		children = append(children, child)
		if !parent[child] {
			leaves = append(leaves, child)
		}
	}
	if len(leaves) == 0 { // everything in a cycle
		leaves = children
	}
	return dataset.NewLabels(leaves).Names()
}

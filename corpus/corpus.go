package corpus

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"math"
	"os"
	"slices"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/encoder"
	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/internal/input"
	"github.com/treeloss/treeloss/internal/option"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
)

// Corpus is labelled examples on their way to Data: a table of raw records and
// the label of each. Read more files into it, or add examples one by one.
type Corpus struct {
	Table  *feature.Table
	Labels []string  // of each row
	Weight []float32 // of each row

	// Mix has the shares of the rows whose target is a distribution over several
	// labels, by row. Their label is that with the largest share.
	Mix map[int][]dataset.Share

	// Sets has the labels of rows that may have any number of them (dataset.Options.Multilabel);
	// Data is not for these. nil: each row has one.
	Sets *LabelSets

	// Origins tells what each row was before it was numbers; nil unless
	// Limits.Origins asked for it.
	Origins []Origin

	// Stream has the examples if they are too many for memory; the rows are then a
	// sample of them. nil: they are all rows.
	Stream *Stream

	// Memory is the budget of all that is to be done with the examples, in bytes; 0:
	// half of what the machine or its container has. Set it before the first Add.
	Memory int64

	hash hash.Hash
	even bool            // all weights so far are 1
	read dataset.Options // how the first files were read: their columns by name

	unlabelled Unlabelled // the rows without a label; they have the label ""
}

// Origin is what tells a row apart from others: where it was, and what it said.
type Origin struct {
	Place dataset.Place
	ID    string // of the column that dataset.Options.ID names
	Text  string // "" for numbers
}

// New returns an empty corpus of examples of a kind; columns names the
// numeric columns of dataset.Numbers.
func New(kind dataset.Kind, columns []string) *Corpus {
	return &Corpus{Table: feature.NewTable(kind, columns), hash: sha256.New(), even: true}
}

// Encode makes an encoder, read by encoder.OpenAny, give each text features beside its
// n-grams, and each class name a vector. Call it before the first Add. Data of another
// kind than texts is an *option.Misuse.
func (c *Corpus) Encode(path string) error {
	if kind := c.Table.Kind(); kind != dataset.Text {
		return option.Refuse("%s makes features of texts, and the data holds "+kind.String()+"; leave it out", "Encoder")
	}
	e, err := encoder.OpenAny(context.Background(), path)
	if err != nil {
		return err
	}
	return c.Table.Encode(e)
}

// Add appends one example. More examples than a training within Corpus.Memory has
// room for are an error that wraps ErrMemory.
func (c *Corpus) Add(e dataset.Example) error {
	if err := c.keepIfRoom(e); err != nil {
		return err
	}
	// With all weights 1, training has a shorter way, and Data no weights at all.
	c.even = c.even && e.Weight == 1
	c.digest(e)
	return nil
}

// keepIfRoom makes an example a row if there is room in the budget.
func (c *Corpus) keepIfRoom(e dataset.Example) error {
	if n := len(c.Labels); n > 0 && n%checkedRows == 0 {
		if err := c.checkMemory(); err != nil {
			return err
		}
	}
	return c.keep(e)
}

// keep makes an example a row.
func (c *Corpus) keep(e dataset.Example) error {
	if err := c.Table.Add(e); err != nil {
		return err
	}
	if len(e.Mix) > 1 {
		if c.Mix == nil {
			c.Mix = make(map[int][]dataset.Share)
		}
		c.Mix[len(c.Labels)] = slices.Clone(e.Mix)
	}
	if c.Sets != nil {
		c.Sets.add(e.Labels)
	}
	c.Labels = append(c.Labels, e.Label)
	c.Weight = append(c.Weight, float32(e.Weight))
	if c.Origins != nil {
		c.Origins = append(c.Origins, Origin{e.Place, e.ID, e.Text})
	}
	return nil
}

// LabelsOf returns the labels that have a share of a row, one for most rows.
func (c *Corpus) LabelsOf(row int) []string {
	mix, several := c.Mix[row]
	if !several {
		return c.Labels[row : row+1]
	}
	labels := make([]string, len(mix))
	for n, s := range mix {
		labels[n] = s.Label
	}
	return labels
}

// Without returns the rows that have no share of any of some labels.
func (c *Corpus) Without(rows []int, labels []string) []int {
	if len(labels) == 0 {
		return rows
	}
	return slices.DeleteFunc(slices.Clone(rows), func(row int) bool {
		return slices.ContainsFunc(c.LabelsOf(row), func(label string) bool { return slices.Contains(labels, label) })
	})
}

// digest adds an example to the fingerprint, each part with its length.
func (c *Corpus) digest(e dataset.Example) {
	var b [8]byte
	number := func(x uint64) {
		binary.LittleEndian.PutUint64(b[:], x)
		c.hash.Write(b[:])
	}
	for _, s := range []string{e.Label, e.Text} {
		number(uint64(len(s)))
		c.hash.Write([]byte(s))
	}
	// The length goes before each part, so that moving a letter from one to the next shows.
	number(uint64(len(e.Values)))
	for n, v := range e.Values {
		number(math.Float64bits(v))
		if e.Index != nil {
			number(uint64(e.Index[n]))
		}
	}
	number(math.Float64bits(e.Weight))
	if c.Sets != nil {
		number(uint64(len(e.Labels)))
		for _, l := range e.Labels {
			number(uint64(len(l)))
			c.hash.Write([]byte(l))
		}
	}
	for _, s := range e.Fields { // none before there were several columns
		number(uint64(len(s)))
		c.hash.Write([]byte(s))
	}
	if len(e.Mix) < 2 {
		return // as before there were mixes
	}
	number(uint64(len(e.Mix)))
	for _, s := range e.Mix {
		number(uint64(len(s.Label)))
		c.hash.Write([]byte(s.Label))
		number(math.Float64bits(s.Share))
	}
}

// Even tells whether all examples so far have the weight 1.
func (c *Corpus) Even() bool { return c.even }

// Fingerprint is the SHA-256 of all examples so far, in hexadecimal. The form
// of their file does not count.
func (c *Corpus) Fingerprint() string { return hex.EncodeToString(c.hash.Sum(nil)) }

// Read reads files of examples of one kind, within limits. It returns the corpus and
// how the files were understood, in words.
func Read(paths []string, opts dataset.Options, limits Limits) (*Corpus, string, error) {
	r, err := dataset.OpenAll(paths, opts)
	if err != nil {
		return nil, "", err
	}
	defer r.Close()
	c, err := ReadFrom(r, limits)
	if err != nil {
		return nil, "", err
	}
	return c, r.Describe(), nil
}

// For returns an empty corpus for the examples of r. An array has no names for its columns;
// those of a model must have some: x1, x2, ... It keeps how the examples were read for Append.
func For(r *dataset.Reader) *Corpus {
	columns := r.Columns()
	if r.Kind() == dataset.Numbers && columns == nil {
		for j := range r.Width() {
			columns = append(columns, fmt.Sprintf("x%d", j+1))
		}
	}
	c := New(r.Kind(), columns)
	if f := r.Fields(); f.Several() {
		_ = c.Table.SetFields(f) // it is empty, and of texts
	}
	c.read = r.Resolved()
	return c
}

// ReadFrom is Read for what r gives, a stream say. It keeps how the examples were read
// for Append and does not close r. Close the corpus if the limits allow a file.
func ReadFrom(r *dataset.Reader, limits Limits) (*Corpus, error) {
	c := For(r)
	c.Memory = limits.Memory
	if limits.Origins {
		c.Origins = []Origin{}
	}
	if limits.Encoder != "" {
		if err := c.Encode(limits.Encoder); err != nil {
			return nil, err
		}
	}
	if c.read.Multilabel {
		c.Sets = newLabelSets()
	}
	if err := c.readAll(r, limits); err != nil {
		return nil, err
	}
	return c, nil
}

// Missing says of which columns of numbers beside texts how many rows have none, "" if all
// are there.
func (c *Corpus) Missing() string {
	var parts []string
	names := c.Table.Fields().Numbers
	for j, n := range c.Table.Missing(dataset.Range(0, c.Table.Rows())) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s in %d", names[j], n))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("missing numbers, of %s: %s", input.Plural(c.Table.Rows(), "row"), input.Some(parts, 10, len(parts)))
}

// AddAll adds the examples of a reader, to its end.
func (c *Corpus) AddAll(r *dataset.Reader) error {
	for e, err := range r.All() {
		if err != nil {
			return err
		}
		if err := c.Add(e); err != nil {
			return err
		}
	}
	return nil
}

// Append reads more files, for testing say, and returns the rows they make. They
// are read like the first ones, with the columns of the same names. labels is
// the labels file of an .npy file, else "".
func (c *Corpus) Append(paths []string, labels string) ([]int, error) {
	// The columns that the first files had, by name: what was found there is not looked for
	// again.
	opts := c.read
	opts.Labels = labels
	r, err := dataset.OpenAll(paths, opts)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if r.Kind() != c.Table.Kind() {
		return nil, fmt.Errorf("%s: %v, but the training data is %v", paths[0], r.Kind(), c.Table.Kind())
	}
	first := c.Table.Rows()
	if err := c.AddAll(r); err != nil {
		return nil, err
	}
	return dataset.Range(first, c.Table.Rows()), nil
}

// ErrOneClass says that there is nothing to tell apart.
var ErrOneClass = errors.New("only one class")

// Rows returns the numbers of all rows so far but the unlabelled ones, which are the last.
func (c *Corpus) Rows() []int { return dataset.Range(0, c.Table.Rows()-len(c.unlabelled.Rows)) }

// Data ends the reading: it makes Data whose classes are the labels of the given rows,
// those with any share of one included, and what files say about these. Rows with
// another label, or a share of one, have class -1; so have those of classes that were
// dropped for want of a vector, which Data.Dropped names: train and test without these.
//
// Fewer than two classes are an error that wraps ErrOneClass. Call it once: it adds the
// names of the classes to the table.
func (c *Corpus) Data(ctx context.Context, train []int, files ClassFiles) (*Data, error) {
	var labels []string
	for _, row := range train {
		labels = append(labels, c.LabelsOf(row)...)
	}
	if c.Stream != nil {
		all, _ := c.Stream.store.Labels()
		labels = append(labels, all...)
	}
	if c.Sets != nil {
		return nil, errors.New("corpus: rows of several labels have no one class; package multilabel trains on them")
	}
	// Classes are numbered in the order of the bytes of their labels, whatever the order of
	// the rows.
	index := dataset.NewLabels(labels)
	if index.Len() < 2 {
		return nil, fmt.Errorf("%w: all %d training rows have the label %q; give rows of at least two classes", ErrOneClass, len(train), labels[0])
	}
	classes, found, err := files.Read(ctx, index.Names())
	if err != nil {
		return nil, err
	}
	// ClassFiles may have dropped some.
	if len(classes.Labels) < 2 {
		return nil, fmt.Errorf("%w: of %d classes only %q has a vector in %s; use another policy than drop for the others", ErrOneClass, index.Len(), classes.Labels[0], files.Vectors)
	}
	if e := c.Table.Encoder(); e != nil && classes.Vectors == nil {
		classes.Vectors = feature.EncodeNames(e, classes.Labels)
	}
	number := make(map[string]int32, len(classes.Labels))
	for n, label := range classes.Labels {
		number[label] = int32(n)
	}
	class := make([]int32, len(c.Labels))
	for i, label := range c.Labels {
		class[i] = -1
		if n, ok := number[label]; ok {
			class[i] = n
		}
	}
	weight := c.Weight
	if c.even {
		weight = nil
	}
	d, err := NewData(c.Table, class, weight, classes)
	if err != nil {
		return nil, err
	}
	d.Memory, d.Unlabelled = c.Memory, c.unlabelled
	if c.Table.Kind() != dataset.Text { // whose n-grams can be left out
		if err := d.CheckFeatures(c.Table.Distinct()); err != nil {
			return nil, err
		}
	}
	if d.Stream = c.Stream; d.Stream != nil {
		d.Stream.classes(number)
	}
	d.Found, d.Dropped = found, Dropped(found)
	if len(c.Mix) > 0 {
		d.Mix = c.mixes(number)
		// A share of no class makes a row one of none: its target cannot be met.
		for row := range c.Mix {
			if index, _ := d.Mix.Row(row); len(index) == 0 {
				d.Class[row] = -1
			}
		}
	}
	return d, nil
}

// Features returns the classes of all examples with their rows as features, fitted on all
// of them: what classinfo needs to see how far the means of the classes are apart.
func (c *Corpus) Features() (classinfo.Info, error) {
	index := dataset.NewLabels(c.Labels)
	info := classinfo.Info{Labels: index.Names(), Class: make([]int32, len(c.Labels))}
	for i, label := range c.Labels {
		n, _ := index.Index(label)
		info.Class[i] = int32(n)
	}
	rows := c.Rows()
	set, err := c.Table.Fit(rows, feature.Options{})
	if err != nil {
		return info, err
	}
	info.X, err = set.Matrix(c.Table, rows)
	return info, err
}

// mixes returns the shares of the classes in each row: none of a row that is of
// one class, and of one with a share of a label that is no class.
func (c *Corpus) mixes(number map[string]int32) *matrix.Sparse {
	m := &matrix.Sparse{Columns: len(number)}
	var index []int32
	var share []float32
	for row := range c.Labels {
		index, share = index[:0], share[:0]
		for _, s := range c.Mix[row] { // by label, so by number
			n, known := number[s.Label]
			if !known {
				index, share = index[:0], share[:0]
				break
			}
			if x := float32(s.Share); x > 0 {
				index, share = append(index, n), append(share, x)
			}
		}
		m.AppendRow(index, share)
	}
	return m
}

// ReadTaxonomy reads a tree over labels from a file in any form that
// labeltree.ReadTaxonomy knows: child,parent rows, paths, Newick, nested JSON,
// or a tree that treeloss tree wrote.
func ReadTaxonomy(path string, labels []string) (*labeltree.Tree, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, input.Missing(path, err)
	}
	defer f.Close()
	return labeltree.ReadTaxonomy(f, path, labels)
}

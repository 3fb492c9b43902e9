package compare

import (
	"context"
	"fmt"

	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/score"
	"github.com/treeloss/treeloss/softmax"
	"github.com/treeloss/treeloss/tune"
)

// Draw is what one comparison is made of: the splits with so many training rows of
// each class, 0 for all.
type Draw struct {
	Shots  int
	Splits []corpus.Split
}

// Comparison is the outcome of a draw and what its similarity accuracy is by, null
// if nothing is.
type Comparison struct {
	*Table
	SimilarityOf *string `json:"similarity_of"`

	Shots int             `json:"-"` // training rows of each class, 0 for all
	Tree  *labeltree.Tree `json:"-"` // of the first method that has one, or nil
}

// RunAll makes one comparison for each draw, with the best similarity of classes
// that there is. The stage of Options.Progress says which draw and split it is.
func RunAll(ctx context.Context, d *corpus.Data, draws []Draw, methods []string, opts Options) ([]*Comparison, error) {
	similarity, by, err := score.SimilarityOf(d.Classes.Labels, d.Classes.Vectors)
	if err != nil {
		return nil, err
	}
	opts.Similarity = similarity
	progress, keep := opts.Progress, opts.Keep
	var list []*Comparison
	for _, draw := range draws {
		out := &Comparison{Shots: draw.Shots}
		if by != "" {
			out.SimilarityOf = &by
		}
		if progress != nil {
			opts.Progress = func(method string, split int, stage string, p softmax.Progress) {
				if len(draw.Splits) > 1 {
					stage = fmt.Sprintf("split %d of %d, %s", split+1, len(draw.Splits), stage)
				}
				if len(draws) > 1 {
					stage = fmt.Sprintf("%d shots, %s", draw.Shots, stage)
				}
				progress(method, split, stage, p)
			}
		}
		opts.Keep = func(method string, split int, r *tune.Result, s *score.Counter) {
			if out.Tree == nil {
				out.Tree = r.Tree
			}
			if keep != nil {
				keep(method, split, r, s)
			}
		}
		if out.Table, err = Run(ctx, d, draw.Splits, methods, opts); err != nil {
			return nil, err
		}
		list = append(list, out)
	}
	return list, nil
}

// Joined returns one table with the results of all. Those of several tables say how
// many training rows a class had.
func Joined(all []*Comparison) *Comparison {
	last := all[len(all)-1]
	if len(all) == 1 {
		return last
	}
	table, out := *last.Table, *last
	table.Results = nil
	for _, one := range all {
		for _, r := range one.Results {
			r.Shots = one.Shots
			table.Results = append(table.Results, r)
		}
	}
	out.Table = &table
	return &out
}

// OverWords says what the errors of a table cover.
func (t *Table) OverWords() string {
	if t.Over == score.OverRows {
		return "the test rows of one split"
	}
	if t.OwnTest {
		return fmt.Sprintf("%d splits", t.Splits)
	}
	return fmt.Sprintf("%d splits with the same test rows", t.Splits)
}

package score

import (
	"cmp"
	"slices"
)

// Class is one row of the per-class table. Where a rate has nothing to divide
// by it is 0, as in scikit-learn.
type Class struct {
	Class     int     `json:"class"`
	Support   int     `json:"support"`   // examples of this class
	Predicted int     `json:"predicted"` // examples predicted to be of it
	Precision float64 `json:"precision"` // how many of the predicted are of it
	Recall    float64 `json:"recall"`    // how many of its examples were predicted to be
	F1        float64 `json:"f1"`        // 2 hits / (support + predicted)
}

// Classes returns one row for each of the k classes, in their order.
func (c *Counter) Classes() []Class {
	list := make([]Class, c.k)
	for j := range list {
		list[j] = c.class(j)
	}
	return list
}

// class works out precision, recall and F1 of one class; a ratio of nothing is 0.
func (c *Counter) class(j int) Class {
	hits, support, predicted := float64(c.hits[j]), float64(c.support[j]), float64(c.predicted[j])
	return Class{
		Class: j, Support: c.support[j], Predicted: c.predicted[j],
		Precision: ratio(hits, predicted), Recall: ratio(hits, support), F1: ratio(2*hits, support+predicted),
	}
}

// f1 returns the macro and the weighted F1; see Report. Without a class that
// occurs both are 0.
func (c *Counter) f1() (macro, weighted float64) {
	occurring := 0
	for j := range c.k {
		if c.support[j]+c.predicted[j] == 0 {
			continue
		}
		occurring++
		f1 := c.class(j).F1
		macro += f1
		weighted += float64(c.support[j]) * f1
	}
	return ratio(macro, float64(occurring)), ratio(weighted, float64(c.examples))
}

// Confusion counts one kind of mistake.
type Confusion struct {
	True      int `json:"true"`      // the class of the examples
	Predicted int `json:"predicted"` // the class they were taken for
	Count     int `json:"count"`
}

// Confusions returns the n most frequent mistakes, all if there are fewer or n
// is negative. Equal counts are ordered by true, then by predicted class.
// Unknown labels are left out: they have no right answer.
func (c *Counter) Confusions(n int) []Confusion {
	list := make([]Confusion, 0, len(c.wrong))
	for key, count := range c.wrong {
		list = append(list, Confusion{True: int(key.truth), Predicted: int(key.predicted), Count: count})
	}
	slices.SortFunc(list, func(a, b Confusion) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.True, b.True), cmp.Compare(a.Predicted, b.Predicted))
	})
	if n >= 0 && n < len(list) {
		list = list[:n:n]
	}
	return list
}

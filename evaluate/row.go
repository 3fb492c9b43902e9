package evaluate

import (
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/score"
)

// Row is one example beside its answer. Over the rows of an evaluation the share
// of those that are Right is its accuracy, and the mean of -log LabelProbability
// its log loss in nats, unless there are soft labels.
type Row struct {
	Place       string  `json:"place"`       // file:line, or the file of a picture
	ID          string  `json:"id"`          // of the column that dataset.Options.ID names; "" without one
	Text        string  `json:"text"`        // "" for numbers and pictures
	Label       string  `json:"label"`       // the true class; of soft labels that with the largest share
	Predicted   string  `json:"predicted"`   // the class of the answer
	Right       bool    `json:"right"`       // Predicted is Label
	Probability float32 `json:"probability"` // of Predicted

	LabelProbability *float32 `json:"label_probability"` // of Label; nil if that was never trained
}

// NewRow describes the answer to x. labels are the names of the k classes, truth
// (or score.Unknown) and predicted are numbers of these, p their probabilities.
// The row keeps no memory of p.
func NewRow(x dataset.Example, labels []string, truth, predicted int, p []float32) Row {
	r := Row{Place: x.Place.String(), ID: x.ID, Text: x.Text, Label: x.Label, Predicted: labels[predicted], Right: truth == predicted, Probability: p[predicted]}
	if truth != score.Unknown {
		probability := p[truth]
		r.LabelProbability = &probability
	}
	return r
}

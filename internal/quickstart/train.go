package quickstart

import (
	"context"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/compare"
	"github.com/treeloss/treeloss/score"
	"github.com/treeloss/treeloss/softmax"
	"github.com/treeloss/treeloss/tune"
)

// Methods are those that are compared, cross entropy first.
func Methods() ([]compare.Method, error) {
	return compare.Methods([]string{tune.Baseline, "v-tree", "names", "names+examples"}, classinfo.Options{}, 0)
}

// questions are new ones of a bank's customer, written for this tour.
func questions() []string {
	return []string{
		"the cash machine swallowed my card, what now?",
		"can I get a second card for my daughter?",
	}
}

// Answer is a question with its most probable class.
type Answer struct {
	Text        string  `json:"text"`
	Label       string  `json:"label"`
	Probability float64 `json:"probability"`
}

// Model is the model that all training rows trained, and how it did.
type Model struct {
	Method      string   `json:"method"`
	Examples    int      `json:"examples"`
	Accuracy    float64  `json:"accuracy"`    // on the test rows
	Predictions []Answer `json:"predictions"` // of questions that are in no row
	File        string   `json:"file,omitempty"`
}

// Train trains a method on all training rows, calibrates and measures the model, has it
// answer questions, and saves it if a file is named. program is what the model file records.
func Train(ctx context.Context, data *corpus.Data, train, test []int, m compare.Method, opts tune.Options, program, file string) (Model, error) {
	out := Model{Method: m.Name, Examples: len(train), File: file}
	model, result, err := m.Train(ctx, data, train, opts, softmax.Training{Program: program, Data: "quickstart: " + Attribution})
	if err != nil {
		return out, err
	}
	calibration, err := tune.Calibrate(ctx, data, train, result, opts)
	if err != nil {
		return out, err
	}
	model.Training.Calibration = &calibration
	counter, err := result.Test(data, test, score.Options{}, opts.Threads)
	if err != nil {
		return out, err
	}
	out.Accuracy = counter.Report().Accuracy
	predictor := model.NewPredictor()
	for _, text := range questions() {
		top, err := predictor.Predict(dataset.Example{Text: text}, 1)
		if err != nil {
			return out, err
		}
		out.Predictions = append(out.Predictions, Answer{Text: text, Label: top[0].Label, Probability: top[0].Probability})
	}
	if file == "" {
		return out, nil
	}
	return out, model.Save(file)
}

package softmax

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/labeltree"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/record"
)

// Model is what a model file holds: a layer, the features of its inputs, the
// names of its classes and how it came about. Treat it as immutable; it is
// then safe for concurrent use, with one Predictor a goroutine.
type Model struct {
	Layer    *Layer
	Features *feature.Set
	Labels   []string        // k names
	Tree     *labeltree.Tree // what is known about the classes as a tree; nil: nothing
	Vectors  *matrix.Dense   // k x dimensions, what is known about them as vectors, zeros for a class without; nil: nothing
	Training Training

	// ClassTotals is what the training examples of each of the k classes weigh together, names
	// and unlabelled examples not counted; nil: not known, as in files of older versions.
	ClassTotals []float32
	// Balance brings the probabilities to other class frequencies; no file has it. nil:
	// those of the training.
	Balance decide.Balance

	// Multilabel makes decisions of the probabilities of a layer of sigmoids; nil for a
	// model of one class an example.
	Multilabel *Multilabel
}

// Multilabel is what a model of examples that may have any number of labels has beside its
// layer, whose Sigmoid is set.
type Multilabel struct {
	// Threshold has, for each of the k classes, the probability from which it is answered.
	Threshold []float32
	// Count is the number of training examples of each of the k classes. Measures that
	// weigh rare classes by how likely they were overlooked need it.
	Count []int32
	// Examples is the number of training examples, that of Model.Training in a file.
	Examples int
}

// check returns an error unless there is a threshold and a count of each of k classes.
func (m *Multilabel) check(k int) error {
	if len(m.Threshold) != k || len(m.Count) != k {
		return fmt.Errorf("softmax: %d thresholds and %d counts for %d classes", len(m.Threshold), len(m.Count), k)
	}
	for c, t := range m.Threshold {
		if !(t >= 0 && t <= 2) { // above 1: never
			return fmt.Errorf("softmax: the threshold of class %d is %v, want 0 to 2", c, t)
		}
		if m.Count[c] < 0 {
			return fmt.Errorf("softmax: %d examples of class %d, want 0 or more", m.Count[c], c)
		}
	}
	return nil
}

// Answer appends the classes that are answered, in their order: those whose probability
// reaches the threshold, or least if that is above 0.
func (m *Multilabel) Answer(list []int32, p []float32, least float32) []int32 {
	for c, v := range p {
		if t := m.Threshold[c]; least <= 0 && v >= t || least > 0 && v >= least {
			list = append(list, int32(c))
		}
	}
	return list
}

// Training tells how a model came about. It holds no times, paths or thread
// counts: the same data, options and seed give the same bytes.
type Training struct {
	Program    string            `json:"program,omitempty"`    // name and version
	Data       string            `json:"data,omitempty"`       // fingerprint of the examples
	Examples   int               `json:"examples"`             // rows trained on, names not counted
	Sharing    string            `json:"sharing"`              // as on the command line, what auto chose
	Loss       string            `json:"loss"`                 // as on the command line
	Trainer    string            `json:"trainer"`              // as on the command line
	Names      bool              `json:"names_as_examples"`    // whether class names were examples
	Prior      float64           `json:"prior,omitempty"`      // τ²
	Seed       uint64            `json:"seed"`                 //
	Fit        Record            `json:"fit"`                  // of the last fit
	Options    map[string]string `json:"options,omitempty"`    // all else that was asked for
	Candidates []Candidate       `json:"candidates,omitempty"` // what auto and tuning tried
	MinRows    int               `json:"min_rows,omitempty"`   // examples that an n-gram had to occur in to become a feature, if more than one
	HeldOut    int               `json:"held_out,omitempty"`   // rows they were measured on
	Choice     string            `json:"choice,omitempty"`     // why this method, in words
	Gain       *Gain             `json:"gain,omitempty"`       // over plain cross entropy, on held-out rows

	// Multilabel tells of a model of several labels an example; nil for others.
	Multilabel *MultilabelTraining `json:"multilabel,omitempty"`

	// Calibration has the temperature of the probabilities; nil means 1.
	Calibration *decide.Calibration `json:"calibration,omitempty"`

	Unlabelled *Unlabelled `json:"unlabelled,omitempty"` // examples without labels; nil: none were given
}

// Unlabelled says how examples without labels took part in a training. Shares are fractions.
type Unlabelled struct {
	Data     string  `json:"data,omitempty"`    // fingerprint of the examples
	Examples int     `json:"examples"`          // different ones, none of them a labelled one
	Used     int     `json:"used"`              // trained on; 0: the model is as if none were given
	Reason   string  `json:"reason,omitempty"`  // why none was used, in words
	Similar  float64 `json:"similar"`           // share that is as near to labelled examples as these are to each other
	Shift    float64 `json:"shift"`             // how far predicted and labelled classes differ in frequency: chi-square, divided by the examples
	Balance  float64 `json:"balance"`           // how far predictions were brought to the labelled frequencies: 0 not, 1 all the way
	Weight   float64 `json:"weight,omitempty"`  // mean, beside 1 for a labelled example
	Sharpen  float64 `json:"sharpen,omitempty"` // power of the calibrated probabilities
	Rounds   int     `json:"rounds,omitempty"`  // fits
	Same     float64 `json:"same,omitempty"`    // share whose most probable class the last round did not change

	// Transductive is how many of them are validation examples, too; accuracy on these is
	// that of a classifier which has seen the texts that it is asked about.
	Transductive int `json:"transductive,omitempty"`
}

// MultilabelTraining tells what was chosen on held-out rows for a model of several labels.
type MultilabelTraining struct {
	HeldOut    int                   `json:"held_out"`   // rows; 0: too few to choose by
	Thresholds string                `json:"thresholds"` // global or class; "": none was chosen
	Candidates []MultilabelCandidate `json:"candidates"` // the priors that were tried
}

// MultilabelCandidate is a prior that was measured on held-out rows.
type MultilabelCandidate struct {
	Prior      float64 `json:"prior"`
	Precision1 float64 `json:"precision_at_1"`
	Precision5 float64 `json:"precision_at_5"`
	MicroF1    float64 `json:"micro_f1"` // at the threshold that is best for these rows
}

// String says it in one line, as in "12,400 unlabelled examples: weight 0.15, 2 rounds,
// 93 % of the labels the same".
func (u *Unlabelled) String() string {
	given := grouped(u.Examples) + " unlabelled examples"
	if u.Used == 0 {
		return given + " not used: " + u.Reason
	}
	if u.Used < u.Examples {
		given = fmt.Sprintf("%s of %s", grouped(u.Used), given)
	}
	rounds := "1 round"
	if u.Rounds > 1 {
		rounds = fmt.Sprintf("%d rounds", u.Rounds)
	}
	text := fmt.Sprintf("%s: weight %.2g, %s, %.0f %% of the labels the same", given, u.Weight, rounds, 100*u.Same)
	if u.Transductive > 0 {
		text += fmt.Sprintf("; transductive: %s of them are validation examples", grouped(u.Transductive))
	}
	return text
}

// grouped writes a number of at least 0 with commas between thousands.
func grouped(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}

// Candidate is one choice that was measured on held-out rows.
type Candidate struct {
	Method   string  `json:"method"`
	Prior    float64 `json:"prior"`
	Accuracy float64 `json:"accuracy"`
	LogLoss  float64 `json:"log_loss"`
}

// Gain is the accuracy of the chosen method minus that of plain cross entropy
// on the same held-out rows, each with its own best prior.
type Gain struct {
	Difference   float64 `json:"difference"`
	DifferenceSE float64 `json:"difference_se"`
	Rows         int     `json:"rows"`
}

// Check returns an error if the parts do not fit together, a weight is NaN or
// infinite, or two classes have one name. O(d k).
func (m *Model) Check() error {
	if m == nil || m.Layer == nil || m.Features == nil {
		return fmt.Errorf("softmax: a model needs a layer and features")
	}
	l := m.Layer
	if err := l.check(); err != nil {
		return err
	}
	switch {
	case l.Classes != len(m.Labels):
		return fmt.Errorf("softmax: %d labels for %d classes", len(m.Labels), l.Classes)
	case l.Features != m.Features.Dim():
		return fmt.Errorf("softmax: weights for %d features, the model has %d", l.Features, m.Features.Dim())
	case m.Vectors != nil && m.Vectors.Rows() != l.Classes:
		return fmt.Errorf("softmax: %d label vectors for %d classes", m.Vectors.Rows(), l.Classes)
	case m.ClassTotals != nil && len(m.ClassTotals) != l.Classes || m.Balance != nil && len(m.Balance) != l.Classes:
		return fmt.Errorf("softmax: %d weights and %d frequencies of %d classes", len(m.ClassTotals), len(m.Balance), l.Classes)
	case l.Sigmoid != (m.Multilabel != nil):
		return fmt.Errorf("softmax: sigmoids and thresholds go together")
	case m.Tree != nil && m.Tree.Classes() != l.Classes:
		return fmt.Errorf("softmax: a tree of %d classes for %d classes", m.Tree.Classes(), l.Classes)
	}
	if m.Multilabel != nil {
		if err := m.Multilabel.check(l.Classes); err != nil {
			return err
		}
	}
	class := make(map[string]int, len(m.Labels))
	for c, label := range m.Labels {
		if label == "" {
			return fmt.Errorf("softmax: class %d has no name", c)
		}
		if !utf8.ValidString(label) {
			return fmt.Errorf("softmax: the name of class %d, %q, is not valid UTF-8", c, label)
		}
		if first, twice := class[label]; twice {
			return fmt.Errorf("softmax: classes %d and %d are both called %q", first, c, label)
		}
		class[label] = c
	}
	if m.Multilabel != nil && m.Training.Calibration != nil {
		return fmt.Errorf("softmax: a temperature, which a model of several labels has none of")
	}
	return m.checkCalibration()
}

// Prediction is one class that a model thinks possible.
type Prediction struct {
	Class       int     `json:"class"`
	Label       string  `json:"label"`
	Probability float64 `json:"probability"`
}

// String returns the label and the probability to two digits.
func (p Prediction) String() string { return fmt.Sprintf("%s %.2f", p.Label, p.Probability) }

// Predictor applies a model to one record after the other. It keeps buffers
// between calls, so each goroutine needs one of its own.
type Predictor struct {
	model   *Model
	rower   *feature.Rower
	p       []float32
	scratch []float32
	order   []int32

	temperature float64 // of the last record
}

// NewPredictor returns a Predictor for m.
func (m *Model) NewPredictor() *Predictor {
	return &Predictor{
		model:   m,
		rower:   feature.NewRower(m.Features),
		p:       make([]float32, m.Layer.Classes),
		scratch: make([]float32, 2*m.Layer.Outputs()),
	}
}

// Probabilities returns the probability of each class for one record, at the
// temperature of the model, then by its Balance; they sum to 1 and are valid until the next call. A
// record of another kind than the model was trained on is an error, and so are numbers
// that make scores beyond float32.
func (p *Predictor) Probabilities(e record.Example) ([]float32, error) {
	index, value, err := p.rower.Row(e)
	if err != nil {
		return nil, err
	}
	if c := p.model.Training.Calibration; c != nil {
		p.model.Layer.ClassScores(p.p, p.scratch, index, value)
		scores := p.scratch[:copy(p.scratch, p.p)]
		if p.temperature, err = decide.Probabilities(c, p.p, scores); err != nil {
			return nil, err
		}
	} else {
		p.temperature = 1
		p.model.Layer.Probabilities(p.p, p.scratch, index, value)
	}
	p.model.Balance.Apply(p.p)
	// A sum that is no number makes all of them such.
	if p.p[0] != p.p[0] {
		return nil, errNoProbabilities
	}
	return p.p, nil
}

var errNoProbabilities = errors.New("there are no probabilities, for the numbers are too large; are they in the units of the training data?")

// Temperature returns what the scores of the last record were divided by.
func (p *Predictor) Temperature() float64 { return p.temperature }

// Predict returns the n most probable classes of one record, the most probable
// first, equals in the order of their labels. n below 1 counts as 1.
func (p *Predictor) Predict(e record.Example, n int) ([]Prediction, error) {
	probabilities, err := p.Probabilities(e)
	if err != nil {
		return nil, err
	}
	p.order = largest(p.order[:0], probabilities, max(n, 1))
	out := make([]Prediction, len(p.order))
	for i, c := range p.order {
		out[i] = Prediction{Class: int(c), Label: p.model.Labels[c], Probability: float64(probabilities[c])}
	}
	return out, nil
}

// largest appends the places of the n largest numbers to order, descending,
// the first of equals first. O(k n), and k log n for most inputs.
func largest(order []int32, p []float32, n int) []int32 {
	n = min(n, len(p))
	for c, x := range p {
		if len(order) == n && x <= p[order[n-1]] {
			continue
		}
		if len(order) < n {
			order = append(order, 0)
		}
		at := len(order) - 1
		for ; at > 0 && p[order[at-1]] < x; at-- {
			order[at] = order[at-1]
		}
		order[at] = int32(c)
	}
	return order
}

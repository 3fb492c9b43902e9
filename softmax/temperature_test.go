package softmax

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/decide"
)

func TestTemperature(t *testing.T) {
	m, records := modelOf(t, dataset.Text, Converge{})
	if m.Temperature() != 1 {
		t.Fatalf("temperature %v of a model never calibrated, want 1", m.Temperature())
	}
	for _, temperature := range []float64{0.5, 1, 2.5} {
		warm := *m
		warm.Training.Calibration = &decide.Calibration{Temperature: temperature, Rows: 7}
		plain, tempered := m.NewPredictor(), warm.NewPredictor()
		for _, e := range records {
			p, err := plain.Probabilities(e)
			if err != nil {
				t.Fatal(err)
			}
			want := make([]float64, len(p)) // p^(1/T), normalised
			sum := 0.0
			for c, x := range p {
				want[c] = math.Pow(float64(x), 1/temperature)
				sum += want[c]
			}
			got, err := tempered.Probabilities(e)
			if err != nil {
				t.Fatal(err)
			}
			for c, x := range got {
				if math.Abs(float64(x)-want[c]/sum) > 1e-5 {
					t.Errorf("T = %v: class %d has probability %v, want %v", temperature, c, x, want[c]/sum)
				}
			}
		}
		path := filepath.Join(t.TempDir(), "m.safetensors")
		if err := warm.Save(path); err != nil {
			t.Fatal(err)
		}
		again, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if *again.Training.Calibration != *warm.Training.Calibration {
			t.Errorf("calibration %+v came back as %+v", warm.Training.Calibration, again.Training.Calibration)
		}
	}
}

func TestTemperatureOfBadFiles(t *testing.T) {
	m, _ := modelOf(t, dataset.Numbers, Converge{})
	for _, bad := range []float64{0, -1, 1e9, math.NaN(), math.Inf(1)} {
		m.Training.Calibration = &decide.Calibration{Temperature: bad}
		if err := m.Check(); err == nil || !strings.Contains(err.Error(), "temperature") {
			t.Errorf("temperature %v: %v, want an error", bad, err)
		}
	}
	m.Training.Calibration = nil
	f, err := m.file()
	if err != nil {
		t.Fatal(err)
	}
	f.Metadata["training"] = strings.Replace(f.Metadata["training"], "{", `{"calibration":{"temperature":0},`, 1)
	if _, err := fromFile(f); err == nil || errors.Is(err, ErrModelFile) && !strings.Contains(err.Error(), "temperature") {
		t.Errorf("a file with temperature 0: %v, want an error", err)
	}
}

// Logits and the logarithms of probabilities say the same at any temperature.
func TestClassScores(t *testing.T) {
	m, records := modelOf(t, dataset.Text, Converge{})
	l := m.Layer
	p := m.NewPredictor()
	for _, e := range records {
		want, err := p.Probabilities(e)
		if err != nil {
			t.Fatal(err)
		}
		index, value, err := p.rower.Row(e)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float32, l.Classes)
		l.ClassScores(got, make([]float32, 2*l.Outputs()), index, value)
		if err := decide.Softmax(got, got, 1); err != nil || !slices.Equal(got, want) {
			t.Fatalf("the softmax of the scores is %v (%v), want %v", got, err, want)
		}
	}
}

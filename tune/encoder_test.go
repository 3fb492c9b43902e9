package tune

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/corpus"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/encoder"
	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/matrix"
)

// wordsData returns texts of four words, each a word of its own or one of few, and an
// encoder: with meaning its vectors tell the class, of which each has 40 words; else they are
// noise.
func wordsData(t *testing.T, rare, meaning bool) (*corpus.Data, []int) {
	t.Helper()
	const classes, words, dim = 3, 40, 6
	rng := rand.New(rand.NewPCG(9, 9))
	vocab := map[string]int{"[UNK]": 0}
	rows := matrix.NewDense(1+classes*words, dim)
	name := func(c, w int) string { // without an n-gram in common
		return string([]rune{rune(0x1000 + 8*(c*words+w)), rune(0x1001 + 8*(c*words+w))})
	}
	for c := range classes {
		for w := range words {
			vocab[name(c, w)] = len(vocab)
			row := rows.Row(1 + c*words + w)
			for j := range row {
				if row[j] = float32(rng.NormFloat64()); meaning {
					row[j] *= 0.3
				}
			}
			if meaning {
				row[c]++
			}
		}
	}
	text, err := json.Marshal(map[string]any{"pre_tokenizer": map[string]any{"type": "WhitespaceSplit"},
		"model": map[string]any{"type": "WordLevel", "unk_token": "[UNK]", "vocab": vocab}})
	if err != nil {
		t.Fatal(err)
	}
	e, err := encoder.New(text, rows, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	table := feature.NewTable(dataset.Text, nil)
	if err := table.Encode(e); err != nil {
		t.Fatal(err)
	}
	var class []int32
	for i := range 90 {
		c := i % classes
		n := 5
		if rare {
			n = words
		}
		var list []string
		for range 2 {
			list = append(list, name(c, rng.IntN(n)))
		}
		table.AddText(strings.Join(list, " "))
		class = append(class, int32(c))
	}
	d, err := corpus.NewData(table, class, nil, classinfo.Info{Labels: []string{"a", "b", "c"}})
	if err != nil {
		t.Fatal(err)
	}
	return d, dataset.Range(0, 90)
}

// An encoder that knows what rare words mean gets at least the weight it has by default;
// one of noise is made short or left out.
func TestEncoderWhereItGains(t *testing.T) {
	for _, tc := range []struct {
		name    string
		rare    bool
		meaning bool
	}{{"meaning", true, true}, {"noise", false, false}} {
		d, rows := wordsData(t, tc.rare, tc.meaning)
		r, err := Plan{Sharing: classinfo.Spec{classinfo.None}, Loss: CrossEntropy, Names: Off}.Fit(t.Context(), d, rows, Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		m := r.Method
		strong := m.EncoderAlone || m.encoderScale() >= feature.DefaultEncoderScale
		if strong != tc.meaning || !strings.Contains(r.Reason, "encoder") {
			t.Errorf("%s: %s, scale %v (%s)", tc.name, m, m.EncoderScale, r.Reason)
		}
		if scale := r.Features.EncoderScale(); m.EncoderScale < 0 != (scale == 0) {
			t.Errorf("%s: the features have the scale %v, the method %v", tc.name, scale, m.EncoderScale)
		}
		best := 0.0
		for _, c := range r.Candidates {
			best = max(best, c.Accuracy)
		}
		if best < 0.9 {
			t.Errorf("%s: at best %v", tc.name, best)
		}
	}
}

// A search moves the scale, too, where there is an encoder.
func TestEncoderAxis(t *testing.T) {
	d, rows := wordsData(t, true, true)
	plan := Plan{Sharing: classinfo.Spec{classinfo.None}, Names: Off}
	space, err := plan.Space(d)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range space.neighbours(space.start(Method{}), encoderAxis, 0) {
		got = append(got, fmt.Sprint(x.Method.EncoderScale))
	}
	if strings.Join(got, " ") != "1.4 0.35" {
		t.Errorf("scales %v", got)
	}
	found, err := Search(t.Context(), d, rows, space, SearchOptions{Trials: 30})
	if err != nil {
		t.Fatal(err)
	}
	scales := map[float64]bool{}
	for _, trial := range found.Trials {
		scales[trial.Method.EncoderScale] = true
	}
	if len(scales) < 2 {
		t.Errorf("scales tried: %v", scales)
	}
	bare, _, _ := topicData(t, 2, 1, same)
	if space, err = plan.Space(bare); err != nil || space.neighbours(space.start(Method{}), encoderAxis, 0) != nil {
		t.Errorf("without an encoder: %v", err)
	}
}

package bert

import (
	"cmp"
	"fmt"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/treeloss/treeloss/internal/kernel"
)

// DefaultLength is the number of tokens of a text by default, the authors'.
const DefaultLength = 64

// Texts are texts as tokens, 4 bytes each; they are a train.Data.
type Texts struct {
	tokens [][]int32
	labels []int32
	length int
}

// Texts makes tokens of texts, in parallel. Batches have texts of length tokens,
// longer ones cut, shorter ones padded; 0 means 64, or what the longest has if
// that is less, and at most what the model can. labels may be nil.
func (e *Encoder) Texts(texts []string, labels []int32, length int) (*Texts, error) {
	if len(texts) == 0 || labels != nil && len(labels) != len(texts) {
		return nil, fmt.Errorf("bert: %d texts and %d labels, want at least 1 and as many", len(texts), len(labels))
	}
	most := cmp.Or(length, min(DefaultLength, e.MaxTokens()))
	if most < 2 || most > e.MaxTokens() {
		return nil, fmt.Errorf("bert: texts of %d tokens, want 2 to %d", length, e.MaxTokens())
	}
	t := &Texts{tokens: make([][]int32, len(texts)), labels: labels, length: length}
	failed := make([]error, len(texts))
	kernel.Parallel(0, len(texts), 1, func(i, _, _ int) { t.tokens[i], failed[i] = e.Tokens(texts[i], most) })
	for i, err := range failed {
		if err != nil {
			return nil, fmt.Errorf("text %d: %w", i, err)
		}
		if length == 0 {
			t.length = max(t.length, len(t.tokens[i]))
		}
	}
	return t, nil
}

// Len returns the number of texts.
func (t *Texts) Len() int { return len(t.tokens) }

// Length returns the number of tokens of each text in a batch.
func (t *Texts) Length() int { return t.length }

// Label returns the label of a text, 0 without labels.
func (t *Texts) Label(i int) int {
	if t.labels == nil {
		return 0
	}
	return int(t.labels[i])
}

// Batch returns the tokens of some texts, [rows, length], padded with 0, which
// nothing looks at, and how many each has, [rows]. The epoch changes nothing, and
// there is no error.
func (t *Texts) Batch(rows []int, _ int) ([]*tensors.Tensor, error) {
	tokens, lengths := make([]int32, len(rows)*t.length), make([]int32, len(rows))
	for n, row := range rows {
		lengths[n] = int32(copy(tokens[n*t.length:(n+1)*t.length], t.tokens[row]))
	}
	return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(tokens, len(rows), t.length), tensors.FromFlatDataAndDimensions(lengths, len(rows))}, nil
}

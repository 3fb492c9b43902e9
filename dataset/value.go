package dataset

import (
	"bytes"
	"errors"
	"strconv"

	"github.com/treeloss/treeloss/internal/input"
)

// Why a value is refused, as the rest of a sentence that begins with the value.
var (
	errNotNumber = errors.New("is not a number")
	errNotFinite = errors.New("is not a finite number")
	errPoint     = errors.New("has a decimal point, but numbers before it have a decimal comma; write all of them one way, without separators of thousands")
	errComma     = errors.New("has a decimal comma, but numbers before it have a decimal point; write all of them one way, without separators of thousands")
)

// parseNumber reads a finite number in decimal, or as Go writes others (0x1p-2), white space
// around it aside. 1e999 is errNotFinite, as are NaN and Inf in any case.
func parseNumber(b []byte) (float64, error) {
	v, err := strconv.ParseFloat(string(bytes.TrimSpace(b)), 64)
	switch {
	case err == nil && v-v == 0: // neither NaN nor an infinity
		return v, nil
	case err == nil, errors.Is(err, strconv.ErrRange):
		return 0, errNotFinite
	}
	return 0, errNotNumber
}

// numberProblem says why a value is refused and what to do.
func numberProblem(value []byte, err error, option string) string {
	what := input.Clip(bytes.TrimSpace(value)) + " " + err.Error()
	switch {
	case len(bytes.TrimSpace(value)) == 0:
		return "is empty, want a number; fill it in, or leave the column out with " + option
	case err == errPoint, err == errComma:
		return what
	case err == errNotFinite:
		return what + "; fill it in or remove the row"
	case option == "Options.Weight":
		return what + "; name the weights with Options.Weight"
	}
	return what + "; name the numeric columns with " + option
}

// interner gives equal labels one string, so that a label costs memory once
// and not once a row. It forgets all when it has grown to the bounds below,
// since labels that never repeat must not pile up.
type interner struct {
	known map[string]string
	bytes int
}

// Bounds of an interner: labels, and bytes of them together.
const (
	internLabels = 1 << 15
	internBytes  = 1 << 20
)

// get returns the text of b, which it does not keep. A label that is known costs one
// lookup and no memory.
func (in *interner) get(b []byte) string {
	if s, ok := in.known[string(b)]; ok {
		return s
	}
	if in.known == nil || len(in.known) >= internLabels || in.bytes+len(b) > internBytes {
		in.known, in.bytes = make(map[string]string), 0
	}
	s := string(b)
	if len(b) <= internBytes {
		in.known[s] = s
		in.bytes += len(b)
	}
	return s
}

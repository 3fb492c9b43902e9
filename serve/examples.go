package serve

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/internal/option"
)

// examplesRequest is the body of /v1/predict and /v1/explain. Keys that it does not have are
// an error: a misspelt option would have no effect, and nobody would notice.
//
//	{"text": "where is my card?", "top": 3}
//	{"model": "leaves", "examples": [[0.1, 2.5], [0.3, 1]], "confidence": 0.9}
type examplesRequest struct {
	Model    string  `json:"model"`    // "": the first
	Text     *string `json:"text"`     // one example
	Examples list    `json:"examples"` // or many, each a text, a list of numbers or an object of columns

	Top        *int     `json:"top"`
	Confidence *float64 `json:"confidence"`
	Reject     *float64 `json:"reject"`
	Decode     string   `json:"decode"`    // "likely" or "cost"
	Threshold  *float64 `json:"threshold"` // of a model of several labels an example

	Features int    `json:"features"` // of /v1/explain: how many to name
	Against  string `json:"against"`  // of /v1/explain: the class to compare with
}

// list is a JSON array that is cut up but not read, and has no more than max parts: a body
// of 4 MiB can have two million, each of which would be 24 bytes of a []json.RawMessage.
type list struct {
	parts []json.RawMessage
	max   int
}

// errTooMany says that an array is too long.
var errTooMany = errors.New("too many")

// UnmarshalJSON is called with valid JSON, so that it only counts brackets outside of
// strings. The parts share the memory of data, which is that of the Decoder: they are valid
// as long as it is not used again. errTooMany comes before the rest is looked at.
func (l *list) UnmarshalJSON(data []byte) error {
	l.parts = nil
	if string(data) == "null" {
		return nil
	}
	if data[0] != '[' {
		return fmt.Errorf("examples is %.20s, want an array", data)
	}
	depth, quoted, from := 0, false, 1
	for i := 1; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
		case depth == 0 && (c == ',' || c == ']'):
			part := bytes.TrimSpace(data[from:i])
			if len(part) == 0 { // of an empty array
				return nil
			}
			if len(l.parts) == l.max {
				return errTooMany
			}
			l.parts = append(l.parts, part)
			from = i + 1
		case c == ']' || c == '}':
			depth--
		}
	}
	return nil
}

// readJSON reads one JSON value into v. Keys that v does not have are refused if strict.
// Invalid UTF-8, which encoding/json would replace in silence, is refused as well. Errors
// are 400s that say what is wrong, but for errTooMany, which the caller has words for.
func readJSON(data []byte, v any, strict bool) error {
	if !utf8.Valid(data) {
		return refuse(http.StatusBadRequest, "the body is not valid UTF-8; encode texts as UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if strict {
		d.DisallowUnknownFields()
	}
	err := d.Decode(v)
	if err == nil {
		// By the offset, as a look for the next token would move what is behind the value over
		// the memory of the parts of a list.
		if rest := data[d.InputOffset():]; len(bytes.Trim(rest, " \t\r\n")) > 0 {
			return refuse(http.StatusBadRequest, "more than one JSON value in the body; send one object")
		}
		return nil
	}
	if errors.Is(err, errTooMany) {
		return err
	}
	if _, ok := errors.AsType[*problem](err); ok {
		return err
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return refuse(http.StatusBadRequest, "%s is %s, which does not fit; want a value of type %s", e.Field, e.Value, strings.TrimPrefix(e.Type.String(), "*"))
	}
	where := ""
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		where = fmt.Sprintf(" at byte %d", e.Offset)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return refuse(http.StatusBadRequest, "the JSON of the body ends early")
	}
	return refuse(http.StatusBadRequest, "the body is no JSON that fits: %s%s", strings.TrimPrefix(err.Error(), "json: "), where)
}

// readExamples reads the request of /v1: the model, and its examples.
func (x *exchange) readExamples() (*version, *examplesRequest, []dataset.Example, error) {
	body, err := x.readBody()
	if err != nil {
		return nil, nil, nil, err
	}
	limit := x.server.opts.Limits.MaxItems
	q := &examplesRequest{Examples: list{max: limit}}
	if err := readJSON(body, q, true); err != nil {
		if errors.Is(err, errTooMany) {
			err = refuse(http.StatusRequestEntityTooLarge, "more than %d examples; send fewer at once", limit)
		}
		return nil, nil, nil, err
	}
	v, err := x.use(q.Model, "")
	if err != nil {
		return nil, nil, nil, err
	}
	var examples []dataset.Example
	switch {
	case q.Text != nil && len(q.Examples.parts) > 0:
		err = refuse(http.StatusBadRequest, "both text and examples; give one of them")
	case q.Text != nil:
		examples, err = v.texts([]string{*q.Text})
	case len(q.Examples.parts) > 0:
		examples, err = v.examples(q.Examples.parts)
	default:
		err = refuse(http.StatusBadRequest, `no example; send {"text": "..."} or {"examples": [...]}`)
	}
	x.items = len(examples)
	return v, q, examples, err
}

// examples reads a list of texts, of lists of numbers or of objects.
func (v *version) examples(parts []json.RawMessage) ([]dataset.Example, error) {
	kind := parts[0][0]
	for i, p := range parts {
		if p[0] != kind {
			return nil, refuse(http.StatusBadRequest, "example %d is of another form than the first; want all of one form", i+1)
		}
	}
	switch kind {
	case '"':
		texts := make([]string, len(parts))
		for i, p := range parts {
			if err := json.Unmarshal(p, &texts[i]); err != nil {
				return nil, refuse(http.StatusBadRequest, "example %d is %.20s, want a text like the first", i+1, p)
			}
		}
		return v.texts(texts)
	case '[':
		rows := make([][]float64, len(parts))
		for i, p := range parts {
			var err error
			if rows[i], err = flatNumbers(p); err != nil {
				return nil, refuse(http.StatusBadRequest, "example %d: %v", i+1, err)
			}
		}
		return v.rows(rows)
	case '{':
		return v.objects(parts)
	}
	return nil, refuse(http.StatusBadRequest, "example 1 is %.20s, want a text, a list of numbers or an object", parts[0])
}

// texts makes examples of texts; for a model of sparse features these are LIBSVM lines,
// for one of pictures the base64 of JPEG or PNG files (RFC 4648, section 4, with padding).
func (v *version) texts(texts []string) ([]dataset.Example, error) {
	if v.pictures() {
		files := make([]string, len(texts))
		for i, text := range texts {
			file, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				return nil, refuse(http.StatusBadRequest, "example %d is not the base64 of a picture's file: %v", i+1, err)
			}
			files[i] = string(file)
		}
		texts = files
	}
	switch v.about.Like.Kind {
	case dataset.Text:
		if f := v.about.Like.Fields; f.Several() {
			return nil, refuse(http.StatusBadRequest, "texts, but model %s was trained on %s; send objects with these keys", v.name, f.Describe())
		}
		return plainTexts(texts), nil
	case dataset.Sparse:
		for i, text := range texts {
			if strings.TrimSpace(text) == "" || strings.ContainsAny(text, "\r\n") {
				return nil, refuse(http.StatusBadRequest, "example %d is %.40q, want one LIBSVM line such as 3:1 7:0.5", i+1, text)
			}
		}
		return v.parse([]byte(strings.Join(texts, "\n")), len(texts), dataset.LIBSVM)
	}
	return nil, refuse(http.StatusBadRequest, "texts, but model %s was trained on %v; %s", v.name, v.about.Like.Kind, v.wanted())
}

// plainTexts makes an example of each text as it is.
func plainTexts(texts []string) []dataset.Example {
	examples := make([]dataset.Example, len(texts))
	for i, text := range texts {
		examples[i] = dataset.Example{Text: text, Weight: 1}
	}
	return examples
}

// pictures tells whether the model looks at pictures.
func (v *version) pictures() bool { return v.about.Kind == classify.PictureNetwork }

// wanted says what examples of the model look like.
func (v *version) wanted() string {
	switch v.about.Like.Kind {
	case dataset.Text:
		if v.pictures() {
			return "send the base64 of JPEG or PNG files"
		}
		if v.about.Like.Fields.Several() {
			return "send objects with its columns"
		}
		return "send texts"
	case dataset.Numbers:
		return fmt.Sprintf("send lists of %d numbers, or objects with its columns", len(v.about.Like.Columns))
	}
	return "send LIBSVM lines, or dense rows"
}

// rows makes examples of dense rows, for a model of sparse features of what is not 0 in
// them. Their lengths are checked against the columns of the model, and NaN and infinities,
// which JSON does not have but tensors do, by the model's own features.
func (v *version) rows(rows [][]float64) ([]dataset.Example, error) {
	like := v.about.Like
	examples := make([]dataset.Example, len(rows))
	for i, row := range rows {
		switch {
		case like.Kind == dataset.Text:
			return nil, refuse(http.StatusBadRequest, "numbers, but model %s was not trained on them; %s", v.name, v.wanted())
		case like.Kind == dataset.Sparse:
			e := dataset.Example{Weight: 1, Index: []int32{}}
			for j, value := range row {
				if value != 0 {
					e.Index, e.Values = append(e.Index, int32(j)), append(e.Values, value)
				}
			}
			examples[i] = e
		case len(row) != len(like.Columns):
			return nil, refuse(http.StatusBadRequest, "example %d has %d numbers, but model %s was trained on %d", i+1, len(row), v.name, len(like.Columns))
		default:
			examples[i] = dataset.Example{Values: row, Weight: 1}
		}
	}
	return examples, nil
}

// objects reads columns by their names, as package dataset does those of JSONL: one line
// each, so that what is an error in a file is the same error here.
func (v *version) objects(parts []json.RawMessage) ([]dataset.Example, error) {
	if v.pictures() {
		return nil, refuse(http.StatusBadRequest, "objects, but model %s was trained on pictures; %s", v.name, v.wanted())
	}
	var lines bytes.Buffer
	for i, p := range parts {
		if err := json.Compact(&lines, p); err != nil {
			return nil, refuse(http.StatusBadRequest, "example %d: %v", i+1, err)
		}
		lines.WriteByte('\n')
	}
	return v.parse(lines.Bytes(), len(parts), dataset.JSONL)
}

// parse reads n lines, one an example: another number would give answers to others' examples.
func (v *version) parse(lines []byte, n int, format dataset.Format) ([]dataset.Example, error) {
	examples, err := v.about.Like.Parse(lines, "example", dataset.Options{Format: format})
	if err == nil && len(examples) != n {
		err = fmt.Errorf("%d lines for %d examples", len(examples), n)
	}
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "%v", err)
	}
	return examples, nil
}

// rule returns how probabilities become answers; top is the default for how many.
func (q *examplesRequest) rule(top int) (decide.Rule, error) {
	r := decide.Rule{Top: top}
	if q.Top != nil {
		if r.Top = *q.Top; r.Top < 1 {
			return r, refuse(http.StatusBadRequest, "top is %d, want at least 1", r.Top)
		}
	}
	if q.Confidence != nil {
		if r.Confidence = *q.Confidence; r.Confidence == 0 { // which would mean none
			return r, refuse(http.StatusBadRequest, "confidence is 0, want a probability above 0, up to 1, such as 0.9")
		}
		if q.Top == nil {
			r.Top = 1
		}
	}
	if q.Reject != nil {
		r.Reject = *q.Reject
	}
	if q.Threshold != nil {
		if r.Threshold = *q.Threshold; r.Threshold == 0 { // which would be those of the model
			return r, refuse(http.StatusBadRequest, "threshold is 0, want a probability above 0, up to 1, such as 0.5")
		}
		if q.Top == nil { // all above it, but for those that no answer has room for
			r.Top = maxTop
		}
	}
	switch q.Decode {
	case "", "likely":
	case "cost":
		r.Cost = true
	default:
		return r, refuse(http.StatusBadRequest, "decode is %q, want likely or cost", q.Decode)
	}
	return r, r.Check()
}

// Bounds of what an answer has.
const (
	maxTop     = 1000 // classes of an example: ranking them takes as many steps for each class
	maxChoices = 1e5  // of all examples
)

// fits refuses a rule that needs a tree where the model has none, and more choices for
// n examples than one answer should have. No answer has more classes than there are.
func (v *version) fits(r decide.Rule, n int) (decide.Rule, error) {
	if v.about.Tree == nil && r.NeedsTree() {
		return r, refuse(http.StatusBadRequest, "model %s has %v, which confidence and cost need; train it with a taxonomy", v.name, decide.ErrNoTree)
	}
	if err := classify.CheckRule(v.about, r); err != nil {
		message := err.Error()
		if m, ok := errors.AsType[*option.Misuse](err); ok {
			message = m.In(strings.ToLower)
		}
		return r, refuse(http.StatusBadRequest, "model %s: %s", v.name, message)
	}
	if r.Threshold > 0 && r.Top == maxTop {
		r.Top = min(maxTop, max(1, maxChoices/max(n, 1)))
	}
	r.Top = min(r.Top, len(v.about.Labels))
	if r.Top > maxTop {
		return r, refuse(http.StatusBadRequest, "top is %d, want at most %d", r.Top, maxTop)
	}
	if r.Top*n > maxChoices {
		return r, refuse(http.StatusRequestEntityTooLarge, "%d examples with %d classes each; ask for at most %d classes in all at once", n, r.Top, int(maxChoices))
	}
	return r, nil
}

// kindOf names the kind of a model in one word.
func kindOf(about classify.About) string {
	if about.Kind == classify.LinearModel {
		return "linear"
	}
	return "network"
}

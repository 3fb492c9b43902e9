package tokenizer

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// newNormalizer reads a normalizer; where there is none the text stays as it is.
func newNormalizer(part json.RawMessage) (normalizer, error) {
	same := func(text string) string { return text }
	if blank(part) {
		return same, nil
	}
	name, err := kind(part)
	if err != nil {
		return nil, err
	}
	var none struct{ Type string }
	switch name {
	case "Sequence":
		return newNormalizers(part)
	case "BertNormalizer":
		return newBertNormalizer(part)
	case "Lowercase":
		return lower, fields(part, name, &none)
	case "NFC":
		return norm.NFC.String, fields(part, name, &none)
	case "NFD":
		return norm.NFD.String, fields(part, name, &none)
	case "NFKC":
		return norm.NFKC.String, fields(part, name, &none)
	case "NFKD":
		return norm.NFKD.String, fields(part, name, &none)
	case "StripAccents": // of a text that is decomposed already
		return withoutMarks, fields(part, name, &none)
	case "Strip":
		return newStrip(part)
	case "Prepend":
		p := struct {
			Type    string
			Prepend string
		}{}
		return func(text string) string {
			if text == "" {
				return text
			}
			return p.Prepend + text
		}, fields(part, name, &p)
	case "Replace":
		return newReplace(part)
	case "Precompiled":
		p := struct {
			Type string
			Map  []byte `json:"precompiled_charsmap"` // base64; null: none
		}{}
		if err := fields(part, name, &p); err != nil || p.Map == nil {
			return same, err
		}
		c, err := newCharsmap(p.Map)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return c.normalize, nil
	}
	return nil, fmt.Errorf("%q is not supported", name)
}

// newNormalizers reads a Sequence.
func newNormalizers(part json.RawMessage) (normalizer, error) {
	var p struct {
		Type        string
		Normalizers []json.RawMessage
	}
	if err := fields(part, "Sequence", &p); err != nil {
		return nil, err
	}
	steps, err := readAll(p.Normalizers, newNormalizer)
	return func(text string) string {
		for _, step := range steps {
			text = step(text)
		}
		return text
	}, err
}

// readAll reads the parts of a Sequence, in their order.
func readAll[T any](parts []json.RawMessage, read func(json.RawMessage) (T, error)) ([]T, error) {
	steps := make([]T, len(parts))
	for i, part := range parts {
		var err error
		if steps[i], err = read(part); err != nil {
			return nil, err
		}
	}
	return steps, nil
}

// newBertNormalizer reads BERT's own: without control characters, white space as ' ',
// spaces around Chinese characters, without accents, in lower case, in that order (Devlin
// et al. 2019; BasicTokenizer of google-research/bert:tokenization.py).
func newBertNormalizer(part json.RawMessage) (normalizer, error) {
	p := struct {
		Type         string
		CleanText    bool  `json:"clean_text"`
		Chinese      bool  `json:"handle_chinese_chars"`
		StripAccents *bool `json:"strip_accents"` // null: as Lowercase
		Lowercase    bool  `json:"lowercase"`
	}{CleanText: true, Chinese: true, Lowercase: true}
	if err := fields(part, "BertNormalizer", &p); err != nil {
		return nil, err
	}
	accents := p.Lowercase
	if p.StripAccents != nil {
		accents = *p.StripAccents
	}
	return func(text string) string {
		if p.CleanText || p.Chinese {
			text = bertClean(text, p.CleanText, p.Chinese)
		}
		if accents && !ascii(text) { // ASCII has no accents to look for
			text = withoutMarks(norm.NFD.String(text))
		}
		if p.Lowercase {
			text = lower(text)
		}
		return text
	}, nil
}

// bertClean drops control characters and puts spaces around Chinese ones.
func bertClean(text string, clean, chinese bool) string {
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range text {
		switch {
		case clean && (r == 0 || r == utf8.RuneError):
		case clean && unicode.IsSpace(r): // tab and line feed too, which are control characters
			b.WriteByte(' ')
		case clean && unicode.Is(unicode.C, r):
		case chinese && isChinese(r):
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isChinese tells whether a character is a CJK ideograph, by the blocks that BERT lists;
// Kana and Hangul are none. Extension E begins at U+2B820, and BERT has it so; from U+2B920
// on is what Hugging Face has, and its tokens are what models were trained on.
func isChinese(r rune) bool {
	return r >= 0x4e00 && r <= 0x9fff || r >= 0x3400 && r <= 0x4dbf || r >= 0x20000 && r <= 0x2a6df ||
		r >= 0x2a700 && r <= 0x2b73f || r >= 0x2b740 && r <= 0x2b81f || r >= 0x2b920 && r <= 0x2ceaf ||
		r >= 0xf900 && r <= 0xfaff || r >= 0x2f800 && r <= 0x2fa1f
}

// ascii tells whether all of a text is: then it is in every normal form, without marks.
func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// lower is lower case, character by character: a sigma at the end of a word is no other
// one, and the capital I with a dot, the only one that becomes two, keeps its dot. So it is
// in Rust's char::to_lowercase, which Hugging Face uses; strings.ToLower drops the dot.
func lower(text string) string {
	if strings.ContainsRune(text, 'İ') {
		text = strings.ReplaceAll(text, "İ", "i\u0307")
	}
	return strings.Map(unicode.ToLower, text)
}

// withoutMarks drops nonspacing marks (category Mn), the accents of a text in NFD.
func withoutMarks(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, text)
}

// newStrip reads Strip: no white space at one end or both.
func newStrip(part json.RawMessage) (normalizer, error) {
	p := struct {
		Type  string
		Left  bool `json:"strip_left"`
		Right bool `json:"strip_right"`
	}{}
	return func(text string) string {
		if p.Left {
			text = strings.TrimLeftFunc(text, unicode.IsSpace)
		}
		if p.Right {
			text = strings.TrimRightFunc(text, unicode.IsSpace)
		}
		return text
	}, fields(part, "Strip", &p)
}

// pattern is a text or a regular expression: {"String": ...} or {"Regex": ...}.
type pattern struct {
	String *string
	Regex  *string
}

// compile returns the expression of a pattern.
func (p pattern) compile() (*regexp.Regexp, error) {
	switch {
	case p.String != nil && p.Regex == nil:
		return regexp.Compile(regexp.QuoteMeta(*p.String))
	case p.Regex != nil && p.String == nil:
		return compile(*p.Regex)
	}
	return nil, fmt.Errorf("a pattern without String or Regex")
}

// newReplace reads Replace: each match of a pattern becomes a text, as it is written.
func newReplace(part json.RawMessage) (normalizer, error) {
	var p struct {
		Type    string
		Pattern pattern
		Content string
	}
	if err := fields(part, "Replace", &p); err != nil {
		return nil, err
	}
	if s := p.Pattern.String; s != nil && *s != "" && p.Pattern.Regex == nil {
		return func(text string) string { return strings.ReplaceAll(text, *s, p.Content) }, nil
	}
	re, err := p.Pattern.compile()
	if err != nil {
		return nil, fmt.Errorf("part Replace: %w", err)
	}
	return func(text string) string { return re.ReplaceAllLiteralString(text, p.Content) }, nil
}

package tokenizer

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// newSplitter reads a pre-tokenizer; without one the model has the text as one piece.
func newSplitter(part json.RawMessage) (splitter, error) {
	if blank(part) {
		return func(pieces []string, _ bool) []string { return pieces }, nil
	}
	name, err := kind(part)
	if err != nil {
		return nil, err
	}
	var none struct{ Type string }
	switch name {
	case "Sequence":
		return newSplitters(part)
	case "BertPreTokenizer": // at white space, which goes, and around punctuation
		return each(func(out []string, piece string) []string {
			return cut(out, piece, unicode.IsSpace, isPunctuation)
		}), fields(part, name, &none)
	case "WhitespaceSplit":
		return each(func(out []string, piece string) []string {
			return cut(out, piece, unicode.IsSpace, never)
		}), fields(part, name, &none)
	case "Whitespace":
		return each(wordsAndSigns), fields(part, name, &none)
	case "Punctuation":
		p := struct {
			Type     string
			Behavior string
		}{Behavior: "Isolated"}
		if err := fields(part, name, &p); err != nil {
			return nil, err
		}
		return splitAt(name, p.Behavior, false, func(text string) [][]int { return matches(text, isPunctuation) })
	case "Digits":
		p := struct {
			Type       string
			Individual bool `json:"individual_digits"`
		}{}
		if err := fields(part, name, &p); err != nil {
			return nil, err
		}
		behavior := "Contiguous"
		if p.Individual {
			behavior = "Isolated"
		}
		return splitAt(name, behavior, false, func(text string) [][]int { return matches(text, unicode.IsNumber) })
	case "Split":
		return newSplit(part)
	case "Metaspace":
		return newMetaspace(part)
	case "ByteLevel":
		return newByteLevel(part)
	}
	return nil, fmt.Errorf("%q is not supported", name)
}

// newSplitters reads a Sequence.
func newSplitters(part json.RawMessage) (splitter, error) {
	var p struct {
		Type          string
		PreTokenizers []json.RawMessage `json:"pretokenizers"`
	}
	if err := fields(part, "Sequence", &p); err != nil {
		return nil, err
	}
	steps, err := readAll(p.PreTokenizers, newSplitter)
	return func(pieces []string, first bool) []string {
		for _, step := range steps {
			pieces = step(pieces, first)
		}
		return pieces
	}, err
}

// each makes a splitter of a function that appends the pieces of one piece.
func each(split func(out []string, piece string) []string) splitter {
	return func(pieces []string, _ bool) []string {
		out := make([]string, 0, 2*len(pieces)+14)
		for _, piece := range pieces {
			out = split(out, piece)
		}
		return out
	}
}

func never(rune) bool { return false }

// isPunctuation tells whether a character is one of Unicode's punctuation, or an ASCII
// sign such as $ or +, which Unicode counts as symbols and BERT as punctuation.
func isPunctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return r > ' ' && r < 0x7f && !(r >= '0' && r <= '9') && !(r|0x20 >= 'a' && r|0x20 <= 'z')
	}
	return unicode.IsPunct(r)
}

// cut appends the pieces of a text between characters that go, and around those that
// are pieces of their own.
func cut(out []string, text string, goes, alone func(rune) bool) []string {
	start := 0
	for i, r := range text {
		away, own := goes(r), alone(r)
		if !away && !own {
			continue
		}
		if start < i {
			out = append(out, text[start:i])
		}
		start = i + utf8.RuneLen(r)
		if own && !away {
			out = append(out, text[i:start])
		}
	}
	if start < len(text) {
		out = append(out, text[start:])
	}
	return out
}

// wordsAndSigns appends the runs of word characters, and those of all others but space:
// the matches of \w+|[^\w\s]+, without an expression, whose \w would be ASCII.
func wordsAndSigns(out []string, text string) []string {
	class := func(r rune) int {
		switch {
		case isWord(r):
			return 1
		case unicode.IsSpace(r):
			return 0
		}
		return 2
	}
	start, now := 0, 0
	for i, r := range text {
		if c := class(r); c != now {
			if now > 0 {
				out = append(out, text[start:i])
			}
			start, now = i, c
		}
	}
	if now > 0 {
		out = append(out, text[start:])
	}
	return out
}

// matches returns where the characters of a kind are in a text, each by itself: pairs of
// the byte it begins at and the one behind it, as FindAllStringIndex has them.
func matches(text string, is func(rune) bool) (at [][]int) {
	for i, r := range text {
		if is(r) {
			at = append(at, []int{i, i + utf8.RuneLen(r)})
		}
	}
	return at
}

// newSplit reads Split: a pattern, and what becomes of its matches.
func newSplit(part json.RawMessage) (splitter, error) {
	var p struct {
		Type     string
		Pattern  pattern
		Behavior string
		Invert   bool // what is between the matches is matched
	}
	if err := fields(part, "Split", &p); err != nil {
		return nil, err
	}
	re, err := p.Pattern.compile()
	if err != nil {
		return nil, fmt.Errorf("part Split: %w", err)
	}
	return splitAt("Split", p.Behavior, p.Invert, func(text string) [][]int { return re.FindAllStringIndex(text, -1) })
}

// splitAt makes a splitter of a function that finds matches, and of a behaviour: what
// becomes of them, or, inverted, of the pieces that are none. "the-end" at "-":
//
//	Removed              the end
//	Isolated             the - end
//	MergedWithPrevious   the- end
//	MergedWithNext       the -end
//	Contiguous           the - end; "the--end" is the -- end, where Isolated has the - - end
func splitAt(name, behavior string, invert bool, find func(text string) [][]int) (splitter, error) {
	var join func(spans []span) []span
	switch behavior {
	case "Removed", "Isolated":
		join = func(spans []span) []span { return spans }
	case "Contiguous": // neighbours of one kind are one piece
		join = func(spans []span) []span {
			return merge(spans, func(a, b span) bool { return a.match == b.match })
		}
	case "MergedWithPrevious":
		join = func(spans []span) []span {
			return merge(spans, func(a, b span) bool { return !a.match && b.match })
		}
	case "MergedWithNext":
		join = mergeNext
	default:
		return nil, fmt.Errorf("%s: behavior %q is not supported", name, behavior)
	}
	return each(func(out []string, piece string) []string {
		var spans []span
		end := 0
		add := func(to int, match bool) {
			if end < to { // a match may be empty
				spans = append(spans, span{end, to, match != invert})
			}
			end = to
		}
		for _, m := range find(piece) {
			add(m[0], false)
			add(m[1], true)
		}
		add(len(piece), false)
		for _, s := range join(spans) {
			if behavior != "Removed" || !s.match {
				out = append(out, piece[s.from:s.to])
			}
		}
		return out
	}), nil
}

// span is a piece of a text: a match of a pattern, or what is between two.
type span struct {
	from, to int
	match    bool
}

// merge joins neighbours a, b that belong together; the joined one counts as b.
func merge(spans []span, together func(a, b span) bool) (out []span) {
	for _, s := range spans {
		if n := len(out); n > 0 && together(out[n-1], s) {
			s.from = out[n-1].from
			out = out[:n-1]
		}
		out = append(out, s)
	}
	return out
}

// mergeNext joins each match with what is behind it, if that is no match.
func mergeNext(spans []span) []span {
	return merge(spans, func(a, b span) bool { return a.match && !b.match })
}

// newMetaspace reads Metaspace, the words of SentencePiece (Kudo and Richardson 2018):
// spaces become ▁ (U+2581), and pieces begin there, so that " a" and "a" differ.
func newMetaspace(part json.RawMessage) (splitter, error) {
	p := struct {
		Type           string
		Replacement    string
		AddPrefixSpace bool   `json:"add_prefix_space"` // of old files: true is always, false never
		PrependScheme  string `json:"prepend_scheme"`   // always, never, or first: only where the text begins
		StrRep         string `json:"str_rep"`          // the replacement again
		Split          bool
	}{Replacement: "▁", AddPrefixSpace: true, Split: true}
	if err := fields(part, "Metaspace", &p); err != nil {
		return nil, err
	}
	switch {
	case p.PrependScheme == "" && !p.AddPrefixSpace:
		p.PrependScheme = "never"
	case p.PrependScheme == "":
		p.PrependScheme = "always"
	}
	if utf8.RuneCountInString(p.Replacement) != 1 {
		return nil, fmt.Errorf("part Metaspace: replacement %q, want one character", p.Replacement)
	}
	switch p.PrependScheme {
	case "always", "first", "never":
	default:
		return nil, fmt.Errorf("part Metaspace: prepend_scheme %q is not supported", p.PrependScheme)
	}
	return func(pieces []string, first bool) []string {
		out := make([]string, 0, 2*len(pieces)+14)
		for n, piece := range pieces {
			piece = strings.ReplaceAll(piece, " ", p.Replacement)
			if prepend := p.PrependScheme == "always" || p.PrependScheme == "first" && first && n == 0; prepend && !strings.HasPrefix(piece, p.Replacement) {
				piece = p.Replacement + piece
			}
			if !p.Split {
				out = append(out, piece)
				continue
			}
			for len(piece) > 0 {
				// From the second byte on: a replacement that the piece begins with is its own.
				// The 1 is added back, so that 0 is none found.
				end := strings.Index(piece[1:], p.Replacement) + 1
				if end == 0 {
					end = len(piece)
				}
				out = append(out, piece[:end])
				piece = piece[end:]
			}
		}
		return out
	}, nil
}

// newByteLevel reads ByteLevel: the words of GPT-2, each byte as a character of its own.
func newByteLevel(part json.RawMessage) (splitter, error) {
	p := struct {
		Type           string
		AddPrefixSpace bool `json:"add_prefix_space"`
		TrimOffsets    bool `json:"trim_offsets"` // of places in the text, which nobody asks for
		UseRegex       bool `json:"use_regex"`
	}{AddPrefixSpace: true, UseRegex: true}
	if err := fields(part, "ByteLevel", &p); err != nil {
		return nil, err
	}
	letters := byteLetters()
	return func(pieces []string, _ bool) []string {
		out := make([]string, 0, 2*len(pieces)+14)
		for _, piece := range pieces {
			if p.AddPrefixSpace && !strings.HasPrefix(piece, " ") {
				piece = " " + piece
			}
			for len(piece) > 0 {
				end := len(piece)
				if p.UseRegex {
					end = byteLevelWord(piece)
				}
				var b strings.Builder
				for i := range end {
					b.WriteString(letters[piece[i]])
				}
				out = append(out, b.String())
				piece = piece[end:]
			}
		}
		return out
	}, nil
}

// byteLetters returns the characters that stand for bytes: printable ones of Latin-1 for
// themselves, the others, in their order, from U+0100 on (Radford et al. 2019;
// bytes_to_unicode of openai/gpt-2:src/encoder.py). A space is Ġ, a line feed Ċ.
func byteLetters() (letters [256]string) {
	next := rune(0x100)
	for b := range rune(256) {
		if b >= '!' && b <= '~' || b >= 0xa1 && b <= 0xac || b >= 0xae {
			letters[b] = string(b)
			continue
		}
		letters[b] = string(next)
		next++
	}
	return letters
}

// byteLevelWord returns the bytes of the first word of a text, not empty:
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//
// White space before a word is one piece without its last character, which goes to the
// word if it is a space. By hand, as Go's expressions have no (?!...).
func byteLevelWord(text string) int {
	for _, end := range []string{"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"} {
		if strings.HasPrefix(text, end) {
			return len(end)
		}
	}
	class := func(r rune) int {
		switch {
		case unicode.IsSpace(r):
			return 0
		case unicode.IsLetter(r):
			return 1
		case unicode.IsNumber(r):
			return 2
		}
		return 3
	}
	run := func(from int) (end int) {
		first, size := utf8.DecodeRuneInString(text[from:])
		for end = from + size; end < len(text); end += size {
			var r rune
			if r, size = utf8.DecodeRuneInString(text[end:]); class(r) != class(first) {
				break
			}
		}
		return end
	}
	first, size := utf8.DecodeRuneInString(text)
	if class(first) > 0 {
		return run(0)
	}
	if first == ' ' && len(text) > 1 {
		if r, _ := utf8.DecodeRuneInString(text[1:]); class(r) > 0 {
			return run(1)
		}
	}
	end := run(0)
	if _, last := utf8.DecodeLastRuneInString(text[:end]); end < len(text) && end > size {
		return end - last
	}
	return end
}

package tokenizer

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// parse makes a tokenizer of its parts.
func parse(t testing.TB, model, normalizer, pre, added any) *Tokenizer {
	t.Helper()
	tok, err := Parse(document(t, model, normalizer, pre, added))
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func document(t testing.TB, model, normalizer, pre, added any) []byte {
	t.Helper()
	text, err := json.Marshal(map[string]any{"version": "1.0", "model": model, "normalizer": normalizer, "pre_tokenizer": pre,
		"added_tokens": added, "post_processor": nil, "decoder": nil, "truncation": nil, "padding": nil})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// tokens returns the tokens of a text, joined by spaces.
func tokens(tok *Tokenizer, text string) string {
	var out []string
	for _, id := range tok.Append(nil, text) {
		out = append(out, tok.Token(int(id)))
	}
	return strings.Join(out, " ")
}

type object = map[string]any

func numbered(tokens ...string) map[string]int {
	out := map[string]int{}
	for i, token := range tokens {
		out[token] = i
	}
	return out
}

func wordPieceModel(tokens ...string) object {
	return object{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": numbered(tokens...)}
}

func special(id int, content string) object {
	return object{"id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}
}

var (
	bertNormalizer = object{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": nil, "lowercase": true}
	bertSplit      = object{"type": "BertPreTokenizer"}
)

// The words are those of the tokenizer's documentation and of BERT's own tests.
func TestBERT(t *testing.T) {
	words := []string{"[UNK]", "[CLS]", "[SEP]", "want", "##want", "##ed", "wa", "un", "runn", "##ing", ",", "low", "lowest", "hello", "!", "how", "are", "you", "?", "ah", "博", "推", "zz", "cafe", "i̇", "$", "naive"}
	tok := parse(t, wordPieceModel(words...), bertNormalizer, bertSplit, []any{special(1, "[CLS]"), special(2, "[SEP]")})
	for _, tc := range [][2]string{
		{"UNwanted,running", "un ##want ##ed , runn ##ing"},
		{" \tHeLLo!how  \n Are yoU?  ", "hello ! how are you ?"},
		{"ah博推zz", "ah 博 推 zz"},
		{"unwantedX running", "[UNK] runn ##ing"}, // one piece is missing: the whole word is unknown
		{"Café cafe\u0301", "cafe cafe"},
		{"he\x00l\u200dlo\ufffd", "hello"}, // control characters go
		{"$low$", "$ low $"},
		{"low [SEP] low", "low [SEP] low"}, // in a text it is one token
		{"low [sep]", "low [UNK] [UNK] [UNK]"},
		{strings.Repeat("u", 101), "[UNK]"},
		{"", ""},
		{"   ", ""},
		{"\xff\xfe", ""},
	} {
		if got := tokens(tok, tc[0]); got != tc[1] {
			t.Errorf("%q: %q, want %q", tc[0], got, tc[1])
		}
	}
	if tok.Size() != len(words) || tok.Unknown() != 0 {
		t.Errorf("%d tokens, unknown %d", tok.Size(), tok.Unknown())
	}
	// A cased one keeps case and accents.
	cased := object{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": nil, "lowercase": false}
	if got := tokens(parse(t, wordPieceModel("[UNK]", "Café", "café"), cased, bertSplit, nil), "Café café CAFÉ"); got != "Café café [UNK]" {
		t.Errorf("cased: %q", got)
	}
}

func TestAddedTokens(t *testing.T) {
	token := func(id int, content string, with object) object {
		a := special(id, content)
		for k, v := range with {
			a[k] = v
		}
		return a
	}
	tok := parse(t, wordPieceModel("[UNK]", "a", "b"), bertNormalizer, bertSplit, []any{
		token(3, "<x>", nil), token(4, "<x><x>", nil), token(5, "<m>", object{"lstrip": true, "rstrip": true}),
		token(6, "NEW", object{"normalized": true}), token(7, "ab", object{"single_word": true})})
	for _, tc := range [][2]string{
		{"a<x>b", "a <x> b"},
		{"a<x><x><x>b", "a <x><x> <x> b"}, // the longest
		{"a <m> b", "a <m> b"},
		{"a New b", "a NEW b"}, // behind the normalizer, so in any case
		{"ab aab", "ab [UNK]"},
	} {
		if got := tokens(tok, tc[0]); got != tc[1] {
			t.Errorf("%q: %q, want %q", tc[0], got, tc[1])
		}
	}
}

// WordPiece on random words is a search by its definition.
func TestWordPieceReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	words := []string{"[UNK]"}
	for range 60 {
		words = append(words, []string{"", "##"}[rng.IntN(2)]+randomWord(rng, "abé", 1+rng.IntN(3)))
	}
	slices.Sort(words)
	words = slices.Compact(words)
	tok := parse(t, wordPieceModel(words...), nil, object{"type": "WhitespaceSplit"}, nil)
	for range 2000 {
		word := randomWord(rng, "abé", 1+rng.IntN(7))
		want, rest, prefix := []string{}, []rune(word), ""
		for len(rest) > 0 {
			n := len(rest)
			for n > 0 && !slices.Contains(words, prefix+string(rest[:n])) {
				n--
			}
			if n == 0 {
				want = []string{"[UNK]"}
				break
			}
			want = append(want, prefix+string(rest[:n]))
			rest, prefix = rest[n:], "##"
		}
		if got := tokens(tok, word); got != strings.Join(want, " ") {
			t.Fatalf("%q: %q, want %q", word, got, want)
		}
	}
}

func randomWord(rng *rand.Rand, letters string, n int) string {
	runes := []rune(letters)
	out := make([]rune, n)
	for i := range out {
		out[i] = runes[rng.IntN(len(runes))]
	}
	return string(out)
}

// BPE on random words is a joining of strings by its definition.
func TestBPEReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	list := []string{"a", "b", "é", "[UNK]"}
	var merges []any
	for range 40 {
		a, b := list[rng.IntN(len(list))], list[rng.IntN(len(list))]
		if a == "[UNK]" || b == "[UNK]" || slices.Contains(list, a+b) {
			continue
		}
		list = append(list, a+b)
		if len(merges)%2 == 0 { // both forms of files
			merges = append(merges, a+" "+b)
		} else {
			merges = append(merges, []string{a, b})
		}
	}
	pairs := make([][2]string, len(merges))
	for i, m := range merges {
		switch m := m.(type) {
		case string:
			a, b, _ := strings.Cut(m, " ")
			pairs[i] = [2]string{a, b}
		case []string:
			pairs[i] = [2]string{m[0], m[1]}
		}
	}
	model := object{"type": "BPE", "dropout": nil, "unk_token": "[UNK]", "continuing_subword_prefix": nil, "end_of_word_suffix": nil,
		"fuse_unk": true, "byte_fallback": false, "vocab": numbered(list...), "merges": merges}
	tok := parse(t, model, nil, object{"type": "WhitespaceSplit"}, nil)
	for range 1000 {
		word := randomWord(rng, "abéz", 1+rng.IntN(12))
		var want []string
		for _, r := range word {
			c := string(r)
			if r == 'z' {
				c = "[UNK]"
				if n := len(want); n > 0 && want[n-1] == c {
					continue
				}
			}
			want = append(want, c)
		}
		for again := true; again; {
			again = false
			for _, p := range pairs { // the earliest merge, at its leftmost place
				for i := range len(want) - 1 {
					if want[i] == p[0] && want[i+1] == p[1] {
						want = append(want[:i], append([]string{p[0] + p[1]}, want[i+2:]...)...)
						again = true
						break
					}
				}
				if again {
					break
				}
			}
		}
		if got := tokens(tok, word); got != strings.Join(want, " ") {
			t.Fatalf("%q: %q, want %q", word, got, want)
		}
	}
}

// Byte-level BPE as GPT-2 and RoBERTa have it: any text has tokens, and these spell it.
func TestByteLevel(t *testing.T) {
	letters := byteLetters()
	list := letters[:]
	list = append(slices.Clone(list), "Ġa", "he", "ll", "hell")
	model := object{"type": "BPE", "dropout": nil, "unk_token": nil, "continuing_subword_prefix": "", "end_of_word_suffix": "",
		"fuse_unk": false, "byte_fallback": false, "vocab": numbered(list...), "merges": []string{"Ġ a", "h e", "l l", "he ll"}}
	tok := parse(t, model, nil, object{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}, nil)
	if got := tokens(tok, "hello a"); got != "hell o Ġa" {
		t.Errorf("%q", got)
	}
	back := map[string]byte{}
	for b, l := range letters {
		back[l] = byte(b)
	}
	for _, text := range []string{"naïve 日本 🙂 it's  two   spaces\n\nend ", "1234 x2 don't!", " "} {
		var spelled []byte
		for _, id := range tok.Append(nil, text) {
			for _, r := range tok.Token(int(id)) {
				spelled = append(spelled, back[string(r)])
			}
		}
		if string(spelled) != text {
			t.Errorf("%q is spelled %q", text, spelled)
		}
	}
	// Words are those of the expression; Go's have no look-ahead, so that text ends in a word.
	re := regexp.MustCompile(`^(?:'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+)`)
	rng := rand.New(rand.NewPCG(3, 3))
	for range 3000 {
		text := randomWord(rng, " \n'sté2²!日", 1+rng.IntN(9)) + "x"
		got, want := byteLevelWord(text), len(re.FindString(text))
		if run := strings.TrimRight(text[:want], " \n"); run == "" && want > 1 {
			want-- // the last space of several belongs to what follows
		}
		if got != want {
			t.Fatalf("%q: %q, want %q", text, text[:got], text[:want])
		}
	}
}

// Unigram on random words is the best of all ways to cut them.
func TestUnigramReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	vocab := [][2]any{{"<unk>", 0.0}, {"a", -2.0}, {"é", -2.5}}
	for range 12 {
		token := randomWord(rng, "aéb", 2+rng.IntN(3))
		if !slices.ContainsFunc(vocab, func(p [2]any) bool { return p[0] == token }) {
			vocab = append(vocab, [2]any{token, -1 - 6*rng.Float64()})
		}
	}
	tok := parse(t, object{"type": "Unigram", "unk_id": 0, "vocab": vocab, "byte_fallback": false}, nil, object{"type": "WhitespaceSplit"}, nil)
	least := 0.0
	score := map[string]float64{}
	for _, p := range vocab {
		score[p[0].(string)] = p[1].(float64)
		least = min(least, p[1].(float64))
	}
	var best func(word []rune) (float64, []string)
	best = func(word []rune) (float64, []string) {
		if len(word) == 0 {
			return 0, nil
		}
		top, how := math.Inf(-1), []string(nil)
		for n := 1; n <= len(word); n++ {
			s, ok := score[string(word[:n])]
			token := string(word[:n])
			if !ok {
				if n > 1 {
					continue
				}
				s, token = least-10, "<unk>"
			}
			if rest, tokens := best(word[n:]); s+rest > top {
				top, how = s+rest, append([]string{token}, tokens...)
			}
		}
		return top, how
	}
	for range 1000 {
		word := randomWord(rng, "aéb", 1+rng.IntN(9))
		_, want := best([]rune(word))
		want = slices.CompactFunc(want, func(a, b string) bool { return a == "<unk>" && b == a }) // neighbours are one
		if got := tokens(tok, word); got != strings.Join(want, " ") {
			t.Fatalf("%q: %q, want %q", word, got, want)
		}
	}
	// What has no token is its bytes, where these have tokens.
	bytes := slices.Clone(vocab)
	for b := range 256 {
		bytes = append(bytes, [2]any{fmt.Sprintf("<0x%02X>", b), -50.0})
	}
	tok = parse(t, object{"type": "Unigram", "unk_id": 0, "vocab": bytes, "byte_fallback": true}, nil, nil, nil)
	if got := tokens(tok, "a日a"); got != "a <0xE6> <0x97> <0xA5> a" {
		t.Errorf("bytes: %q", got)
	}
}

func TestMetaspace(t *testing.T) {
	model := object{"type": "Unigram", "unk_id": 0, "vocab": [][2]any{{"<unk>", 0.0}, {"▁", -3.0}, {"▁Hey", -4.0}, {"Hey", -4.0}, {"▁friend", -4.0}, {"!", -2.0}}}
	for _, tc := range []struct {
		with       object
		text, want string
	}{
		{object{"type": "Metaspace", "replacement": "▁", "add_prefix_space": true}, "Hey   friend!", "▁Hey ▁ ▁ ▁friend !"},
		{object{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": false}, "Hey friend", "▁Hey ▁friend"},
		{object{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never", "split": true}, "Hey friend", "Hey ▁friend"},
		{object{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": true}, "Hey<s>Hey", "▁Hey <s> Hey"},
		{object{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true}, "Hey<s>Hey", "▁Hey <s> ▁Hey"},
	} {
		if got := tokens(parse(t, model, nil, tc.with, []any{special(6, "<s>")}), tc.text); got != tc.want {
			t.Errorf("%v: %q, want %q", tc.with, got, tc.want)
		}
	}
}

// Pieces of a text, by each splitter.
func TestSplitters(t *testing.T) {
	const text = "How are you doing?"
	split := func(behavior string, invert bool) object {
		return object{"type": "Split", "pattern": object{"Regex": `\w+|[^\w\s]+`}, "behavior": behavior, "invert": invert}
	}
	for _, tc := range []struct {
		pre  object
		text string
		want []string
	}{
		// These five are from the documentation of Hugging Face.
		{split("Removed", true), text, []string{"How", "are", "you", "doing", "?"}},
		{split("Isolated", true), text, []string{"How", " ", "are", " ", "you", " ", "doing", "?"}},
		{split("MergedWithPrevious", true), text, []string{"How ", "are ", "you ", "doing", "?"}},
		{split("MergedWithNext", true), text, []string{"How", " are", " you", " doing", "?"}},
		{split("Contiguous", true), text, []string{"How", " ", "are", " ", "you", " ", "doing?"}},
		{split("Removed", false), text, []string{" ", " ", " "}},
		{object{"type": "Split", "pattern": object{"String": "o"}, "behavior": "Isolated", "invert": false}, text, []string{"H", "o", "w are y", "o", "u d", "o", "ing?"}},
		{object{"type": "Whitespace"}, "été, x_1 日本!?", []string{"été", ",", "x_1", "日本", "!?"}},
		{object{"type": "WhitespaceSplit"}, "a\u00a0b, c", []string{"a", "b,", "c"}},
		{object{"type": "Punctuation"}, "a.b!?", []string{"a", ".", "b", "!", "?"}},
		{object{"type": "Digits", "individual_digits": true}, "ab12c", []string{"ab", "1", "2", "c"}},
		{object{"type": "Digits", "individual_digits": false}, "ab12c", []string{"ab", "12", "c"}},
		{object{"type": "Sequence", "pretokenizers": []any{object{"type": "WhitespaceSplit"}, object{"type": "Digits", "individual_digits": false}}}, "a1 b", []string{"a", "1", "b"}},
	} {
		part, _ := json.Marshal(tc.pre)
		s, err := newSplitter(part)
		if err != nil {
			t.Fatal(err)
		}
		if got := s([]string{tc.text}, true); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", part, got, tc.want)
		}
	}
}

func TestNormalizers(t *testing.T) {
	for _, tc := range []struct {
		with       object
		text, want string
	}{
		{object{"type": "Lowercase"}, "ÉTÉ İ Σ", "été i̇ σ"},
		{object{"type": "NFC"}, "e\u0301", "é"},
		{object{"type": "NFKC"}, "ﬁ①", "fi1"},
		{object{"type": "Sequence", "normalizers": []any{object{"type": "NFD"}, object{"type": "StripAccents"}}}, "été", "ete"},
		{object{"type": "Strip", "strip_left": true, "strip_right": false}, " a ", "a "},
		{object{"type": "Prepend", "prepend": "▁"}, "a", "▁a"},
		{object{"type": "Prepend", "prepend": "▁"}, "", ""},
		{object{"type": "Replace", "pattern": object{"String": "."}, "content": " . "}, "a.b", "a . b"},
		{object{"type": "Replace", "pattern": object{"Regex": `\s+`}, "content": " "}, "a\u00a0 \n b", "a b"},
		{object{"type": "Replace", "pattern": object{"Regex": `[^\w]`}, "content": "$1"}, "é!1", "é$11"},
	} {
		part, _ := json.Marshal(tc.with)
		n, err := newNormalizer(part)
		if err != nil {
			t.Fatal(err)
		}
		if got := n(tc.text); got != tc.want {
			t.Errorf("%s of %q: %q, want %q", part, tc.text, got, tc.want)
		}
	}
}

// doubleArray builds a map of characters as SentencePiece has it, slowly.
func doubleArray(entries map[string]string) []byte {
	type node struct {
		next  map[byte]*node
		value int // of texts, -1: none
	}
	fresh := func() *node { return &node{map[byte]*node{}, -1} }
	root := fresh()
	var texts []byte
	keys := make([]string, 0, len(entries))
	for k := range entries {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		n := root
		for i := range len(k) {
			if n.next[k[i]] == nil {
				n.next[k[i]] = fresh()
			}
			n = n.next[k[i]]
		}
		n.value = len(texts)
		texts = append(append(texts, entries[k]...), 0)
	}
	units := make([]uint32, 1<<16)
	used := map[uint32]bool{0: true}
	var place func(n *node, at uint32)
	place = func(n *node, at uint32) {
		var labels []byte
		if n.value >= 0 {
			labels = append(labels, 0)
		}
		for c := range n.next {
			labels = append(labels, c)
		}
		offset := uint32(1)
		for slices.ContainsFunc(labels, func(c byte) bool { return used[at^offset^uint32(c)] }) {
			offset++
		}
		units[at] |= offset << 10
		if n.value >= 0 {
			units[at] |= 1 << 8
			units[at^offset] = 1<<31 | uint32(n.value)
		}
		for _, c := range labels {
			used[at^offset^uint32(c)] = true
		}
		for c, child := range n.next {
			units[at^offset^uint32(c)] |= uint32(c)
			place(child, at^offset^uint32(c))
		}
	}
	place(root, 0)
	out := binary.LittleEndian.AppendUint32(nil, uint32(4*len(units)))
	for _, u := range units {
		out = binary.LittleEndian.AppendUint32(out, u)
	}
	return append(out, texts...)
}

func TestPrecompiled(t *testing.T) {
	data := doubleArray(map[string]string{"ﬁ": "fi", "e\u0301": "é", "\u0301": "", "\n": " ", "\r\n": " ", "\u00a0": " ", "①": "1"})
	part, _ := json.Marshal(object{"type": "Precompiled", "precompiled_charsmap": base64.StdEncoding.EncodeToString(data)})
	n, err := newNormalizer(part)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range [][2]string{{"ﬁn\u00a0①", "fin 1"}, {"e\u0301t", "ét"}, {"x\u0301", "x"}, {"a\r\nb\nc", "a b c"}, {"日本🙂", "日本🙂"}, {"", ""}} {
		if got := n(tc[0]); got != tc[1] {
			t.Errorf("%q: %q, want %q", tc[0], got, tc[1])
		}
	}
	// Cut short or filled with noise it is an error, or some text; never more.
	rng := rand.New(rand.NewPCG(5, 5))
	for range 200 {
		bad := slices.Clone(data[:rng.IntN(len(data))])
		for range 20 {
			if len(bad) > 4 {
				bad[4+rng.IntN(len(bad)-4)] = byte(rng.IntN(256))
			}
		}
		if len(bad) > 8 {
			binary.LittleEndian.PutUint32(bad, uint32(4*rng.IntN(len(bad)/4)))
		}
		if c, err := newCharsmap(bad); err == nil {
			c.normalize("ﬁn\u00a0①e\u0301")
		}
	}
}

// What is not understood is named.
func TestRefusals(t *testing.T) {
	good := wordPieceModel("[UNK]", "a")
	with := func(m object, key string, value any) object {
		out := object{key: value}
		for k, v := range m {
			if k != key {
				out[k] = v
			}
		}
		return out
	}
	bpeModel := object{"type": "BPE", "vocab": numbered("a", "b"), "merges": []string{}}
	for _, tc := range []struct {
		name, says             string
		model, normalizer, pre any
		added                  any
	}{
		{"normalizer", `normalizer: "Nmt" is not supported`, good, object{"type": "Nmt"}, nil, nil},
		{"within a sequence", `normalizer: "Odd" is not supported`, good, object{"type": "Sequence", "normalizers": []any{object{"type": "Odd"}}}, nil, nil},
		{"field", `the field "fold_width" is not supported`, good, object{"type": "Lowercase", "fold_width": true}, nil, nil},
		{"pre-tokenizer", `pre_tokenizer: "UnicodeScripts" is not supported`, good, nil, object{"type": "UnicodeScripts"}, nil},
		{"model", `model: "CharLM" is not supported`, object{"type": "CharLM"}, nil, nil, nil},
		{"no type", `no "type"`, object{"vocab": object{}}, nil, nil, nil},
		{"look-ahead", "is not supported", good, nil, object{"type": "Split", "pattern": object{"Regex": `\s+(?!\S)`}, "behavior": "Isolated", "invert": false}, nil},
		{"behaviour", `behavior "Odd"`, good, nil, object{"type": "Punctuation", "behavior": "Odd"}, nil},
		{"dropout", "dropout 0.1", with(bpeModel, "dropout", 0.1), nil, nil, nil},
		{"merge", "merge 0", with(bpeModel, "merges", []string{"a c"}), nil, nil, nil},
		{"merge of three", "want two tokens", with(bpeModel, "merges", []string{"a b c"}), nil, nil, nil},
		{"unknown token", `"[OOV]" is not in the vocabulary`, with(good, "unk_token", "[OOV]"), nil, nil, nil},
		{"negative", "want 0 to", with(good, "vocab", map[string]int{"[UNK]": 0, "a": -1}), nil, nil, nil},
		{"huge", "want 0 to", with(good, "vocab", map[string]int{"[UNK]": 0, "a": 1 << 30}), nil, nil, nil},
		{"huge added", "want 0 to", good, nil, nil, []any{special(1<<40, "x")}},
		{"empty added", "is empty", good, nil, nil, []any{special(5, "")}},
		{"unk_id", "unk_id", object{"type": "Unigram", "unk_id": 7, "vocab": [][2]any{{"a", 0.0}}}, nil, nil, nil},
		{"score", "not a text and a score", object{"type": "Unigram", "unk_id": 0, "vocab": [][2]any{{"a", "b"}}}, nil, nil, nil},
		{"no vocabulary", "no tokens", object{"type": "WordLevel", "vocab": object{}, "unk_token": ""}, nil, nil, nil},
		{"charsmap", "not whole", good, object{"type": "Precompiled", "precompiled_charsmap": "/////w=="}, nil, nil},
		{"prepend_scheme", `prepend_scheme "odd"`, good, nil, object{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "odd"}, nil},
	} {
		_, err := Parse(document(t, tc.model, tc.normalizer, tc.pre, tc.added))
		if err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.says)
		}
	}
	for _, text := range []string{"", "x", "{}", "[]", `{"model": 1}`, `{"model": {"type": 1}}`} {
		if _, err := Parse([]byte(text)); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func FuzzTokens(f *testing.F) {
	f.Add("Hello, wörld 日本 <s>")
	letters := byteLetters()
	all := []*Tokenizer{
		parse(f, wordPieceModel("[UNK]", "a", "##b"), bertNormalizer, bertSplit, []any{special(3, "<s>")}),
		parse(f, object{"type": "BPE", "vocab": numbered(letters[:]...), "merges": []string{}}, nil, object{"type": "ByteLevel"}, nil),
		parse(f, object{"type": "Unigram", "unk_id": 0, "vocab": [][2]any{{"<unk>", 0.0}, {"▁a", -1.0}}}, object{"type": "NFKC"}, object{"type": "Metaspace"}, nil),
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, tok := range all {
			for _, id := range tok.Append(nil, text) {
				if id < 0 || int(id) >= tok.Size() {
					t.Fatalf("token %d of %d", id, tok.Size())
				}
			}
		}
	})
}

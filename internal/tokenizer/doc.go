// Package tokenizer cuts a text into the tokens of a tokenizer.json, the file in which
// Hugging Face keeps a fast tokenizer:
//
//	text -> added tokens cut out -> normalizer -> pre-tokenizer -> model -> token numbers
//
// The file is one JSON object, of which these parts count, each with a "type":
//
//	{"added_tokens":  [{"id": 101, "content": "[CLS]", "single_word": false, "lstrip": false,
//	                    "rstrip": false, "normalized": false, "special": true}, ...],
//	 "normalizer":    {"type": "BertNormalizer", ...},             or null
//	 "pre_tokenizer": {"type": "BertPreTokenizer"},                or null
//	 "model":         {"type": "WordPiece", "vocab": {"[PAD]": 0, ...}, ...}}
//
// By that one "Héllo [CLS] wörlds!" is "Héllo ", 101 and " wörlds!"; without accents and
// in lower case "hello ", " worlds!"; as pieces hello, worlds, !; and by a model without
// worlds hello, world, ##s, !.
//
// It reads the parts that text models use: the normalizers BertNormalizer, Lowercase,
// NFC, NFD, NFKC, NFKD, StripAccents, Strip, Prepend, Replace, Precompiled and Sequence;
// the pre-tokenizers BertPreTokenizer, Whitespace, WhitespaceSplit, Punctuation, Digits,
// Metaspace, ByteLevel, Split and Sequence; the models WordPiece, WordLevel, BPE and
// Unigram. Any other part, and any field of a part that is not known, is an error that
// names it: a tokenizer that is understood by half gives wrong vectors and no error.
//
// Special tokens are never added: post_processor, truncation, padding and decoder have
// no effect here. A special token that stands in a text as such is one token.
//
// It is a package of its own because the tokenizer of go-huggingface, which deep/bert
// uses, passes over normalizers that it does not know, and brings a downloader with it.
package tokenizer

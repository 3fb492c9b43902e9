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
// It reads the parts that text models use:
//
//	normalizers
//	  BertNormalizer     control characters, Chinese, accents, case, in that order
//	  Lowercase          character by character
//	  NFC NFD NFKC NFKD  the normal forms of UAX #15
//	  StripAccents       drops nonspacing marks; stands behind NFD
//	  Strip, Prepend     white space at the ends; a text in front
//	  Replace            a text or an expression by a text
//	  Precompiled        the map of characters of a SentencePiece model
//	pre-tokenizers
//	  BertPreTokenizer   at white space, and around each sign
//	  Whitespace         \w+ and [^\w\s]+
//	  WhitespaceSplit    at white space
//	  Punctuation, Digits, Split   around signs, digits, a pattern, by a behaviour
//	  Metaspace          spaces as U+2581, a piece from each on
//	  ByteLevel          the words of GPT-2, each byte as a letter
//	models
//	  WordPiece          the longest token, again and again (Wu et al. 2016)
//	  WordLevel          a token for a piece
//	  BPE                merges of neighbours by rank (Sennrich, Haddow and Birch 2016)
//	  Unigram            the most probable tokens (Kudo 2018)
//
// and Sequences of normalizers and of pre-tokenizers. Any other part, and any field of a part
// that is not known, is an error that names it: a tokenizer that is understood by half gives
// wrong vectors and no error.
//
// Special tokens are never added: post_processor, truncation, padding and decoder have
// no effect here. A special token that stands in a text as such is one token.
//
// It is a package of its own because the tokenizer of go-huggingface, which deep/bert
// uses, passes over normalizers that it does not know, and brings a downloader with it.
package tokenizer

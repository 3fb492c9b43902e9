// Package encoder makes vectors of texts with a static sentence encoder: a vector for
// each token of a vocabulary, learned or distilled from a language model beforehand.
//
//	folder --Open-----------> Static --Encode--> the vector of a text
//	word vectors --OpenWords---^ |  ^
//	                     Compact |  | Load
//	                             v  |
//	                          model file
//
// The folder is in the layout of model2vec or of sentence-transformers' StaticEmbedding:
//
//	model.safetensors   embeddings or embedding.weight, R x d; optional weights (a factor
//	                    for each token) and mapping (the row of each token)
//	tokenizer.json      the tokenizer, see internal/tokenizer for what is understood
//	config.json         "normalize": true for vectors of length 1; may be missing
//	modules.json        of sentence-transformers: where these are, and whether Normalize
//	                    follows; may be missing
//
// With r(t) the row of token t and w(t) its weight, 1 without weights, the vector of a
// text with the tokens t_1 ... t_n is (Tulkens and van Dongen 2024, model2vec; the weights
// stand for the inverse frequencies of Arora, Liang and Ma 2017)
//
//	v = 1/n Σ_i w(t_i) E[r(t_i)]        normalize: v / ‖v‖
//
// No special tokens are added and unknown ones are left out; the first 512 tokens that
// are left count (MaxTokens), within the first 65,536 characters. A text without tokens is
// a vector of zeros. So has model2vec, which cuts texts to 512 times the median length of
// a token first; StaticEmbedding averages the unknown token in, and does not cut.
package encoder

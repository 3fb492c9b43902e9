// Package bert has BERT and its multilingual kin, such as LaBSE, from a folder
// in the layout of Hugging Face, without a connection to it:
//
//	config.json, tokenizer.json, model.safetensors --Open--> Encoder
//	texts --Encoder.Texts--> train.Data --Encoder.Features--> vectors of the texts
//
// Package network puts a head on it, and reads and writes trained ones.
//
// A text is the mean of the last layer's vectors of its tokens, with [CLS] and
// [SEP], padding left out. (The code of Wang and Izbicki 2022 takes the mean over
// padding as well, and has no [SEP].) The transformer itself is GoMLX's, the
// tokenizer that of go-huggingface. There is no dropout.
//
// On ONNX Runtime the embedding tables stay as they are: the gradient of a table
// sums rows that occur several times, and that backend does so wrongly, without an
// error.
package bert

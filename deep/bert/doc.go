// Package bert fine-tunes BERT and its multilingual kin, such as LaBSE, from a
// folder in the layout of Hugging Face, without a network:
//
//	config.json, tokenizer.json, model.safetensors --Open--> Encoder
//	texts --Encoder.Texts--> train.Data; Encoder.Task, train.Trainer --Fold--> Model
//	Model --Save--> one safetensors file --Load--> Model --Predict--> logits
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

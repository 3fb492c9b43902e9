// Package fasttext says what the commands and options of fastText are called in treeloss,
// for those who type them. docs/fasttext.md has the same with more words.
package fasttext

// Commands has, for each command of fastText, what to call in its place.
var Commands = map[string]string{
	"supervised":             "treeloss train --data FILE --model MODEL",
	"test":                   "treeloss evaluate --model MODEL --data FILE",
	"test-label":             "treeloss evaluate --model MODEL --data FILE --per-class",
	"predict-prob":           "treeloss predict --model MODEL FILE, which writes probabilities, too",
	"quantize":               "not needed: models of many weights are written in half precision",
	"nn":                     "treeloss vectors nearest --vectors VECTORS WORD",
	"print-word-vectors":     "treeloss vectors get --vectors VECTORS WORD...",
	"print-sentence-vectors": "not here: treeloss trains classifiers, and uses word vectors only for the names of classes",
	"print-ngrams":           "treeloss explain --model MODEL, which lists the n-grams of a text",
	"analogies":              "not here: treeloss trains classifiers, and uses word vectors only for the names of classes",
	"skipgram":               "not here: treeloss trains classifiers; it reads the vectors of fastText for the names of classes, --label-vectors",
	"cbow":                   "not here: treeloss trains classifiers; it reads the vectors of fastText for the names of classes, --label-vectors",
	"dump":                   "treeloss explain --model MODEL, or docs/model-file.md for the file itself",
}

// Options has the same for its options, without the dash they begin with.
var Options = map[string]string{
	"input":                "--data FILE, or FILE behind the command of predict",
	"output":               "--model MODEL",
	"label":                "--label-prefix PREFIX",
	"epoch":                "--epochs N, which goes with --trainer sgd; the default trains to convergence",
	"lr":                   "--rate X, which goes with --trainer sgd; the default needs none",
	"loss":                 "--loss NAME: softmax is cross-entropy, hs hierarchical-softmax, and one-vs-all squared-hinge",
	"thread":               "--threads N; the model is the same for any number",
	"seed":                 "--seed N",
	"verbose":              "--quiet",
	"minCount":             "not needed: --memory leaves out the rarest n-grams where they do not fit",
	"minCountLabel":        "not needed: a class may have one example",
	"wordNgrams":           "not needed: words and pairs of words are always used",
	"minn":                 "not needed: 2 to 4 letters are always used",
	"maxn":                 "not needed: 2 to 4 letters are always used",
	"bucket":               "not needed: n-grams are kept by name, not hashed",
	"dim":                  "not needed: a model is linear in its n-grams",
	"pretrainedVectors":    "not used for texts; --label-vectors uses word vectors for the names of the classes",
	"autotune-validation":  "--valid FILE; train chooses on held-out examples without it, too",
	"autotune-duration":    "treeloss tune --time 2m",
	"autotune-metric":      "treeloss tune --metric NAME",
	"autotune-predictions": "not needed: treeloss tune --metric top5 measures the first five",
	"autotune-modelsize":   "--memory SIZE bounds what training takes; models of many weights are packed",
	"t":                    "not needed: it is for word vectors",
	"ws":                   "not needed: it is for word vectors",
	"neg":                  "not needed: it is for word vectors, or fastText's loss ns",
	"lrUpdateRate":         "not needed: the rate falls by --schedule, which goes with --trainer sgd",
	"saveOutput":           "not needed: docs/model-file.md says what a model file holds",
}

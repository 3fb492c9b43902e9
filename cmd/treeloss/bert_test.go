package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/deep/fit"
	"github.com/treeloss/treeloss/evaluate"
	"github.com/treeloss/treeloss/internal/safetensors"
	"github.com/treeloss/treeloss/score"
)

// bertFolder writes a BERT of one small random layer, whose words are letters.
func bertFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	const hidden, inner, positions = 12, 16, 24
	vocabulary := map[string]int{}
	for _, w := range append([]string{"[PAD]", "[UNK]", "[CLS]", "[SEP]"}, strings.Split("abcdefghijklmnopqrstuvwxyz", "")...) {
		vocabulary[w] = len(vocabulary)
		if len(w) == 1 {
			vocabulary["##"+w] = len(vocabulary)
		}
	}
	special := func(w string) map[string]any {
		return map[string]any{"id": w, "ids": []int{vocabulary[w]}, "tokens": []string{w}}
	}
	one := func(kind, id string) map[string]any { return map[string]any{kind: map[string]any{"id": id}} }
	for name, v := range map[string]any{
		"config.json": map[string]any{"model_type": "bert", "hidden_size": hidden, "num_hidden_layers": 1, "num_attention_heads": 2,
			"intermediate_size": inner, "max_position_embeddings": positions, "vocab_size": len(vocabulary), "type_vocab_size": 2, "hidden_act": "gelu"},
		"tokenizer.json": map[string]any{"normalizer": map[string]any{"type": "BertNormalizer", "lowercase": true}, "pre_tokenizer": map[string]any{"type": "BertPreTokenizer"},
			"post_processor": map[string]any{"type": "TemplateProcessing", "single": []any{one("SpecialToken", "[CLS]"), one("Sequence", "A"), one("SpecialToken", "[SEP]")},
				"special_tokens": map[string]any{"[CLS]": special("[CLS]"), "[SEP]": special("[SEP]")}},
			"model": map[string]any{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocabulary}},
	} {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var all []safetensors.Tensor
	add := func(name string, dims ...int) {
		n := 1
		for _, d := range dims {
			n *= d
		}
		x := make([]float32, n)
		for i := range x {
			if x[i] = float32(0.3 * rng.NormFloat64()); strings.HasSuffix(name, "LayerNorm.weight") {
				x[i] = 1
			}
		}
		all = append(all, safetensors.New("bert."+name, x, dims...))
	}
	add("embeddings.word_embeddings.weight", len(vocabulary), hidden)
	add("embeddings.position_embeddings.weight", positions, hidden)
	add("embeddings.token_type_embeddings.weight", 2, hidden)
	both := func(name string, dims ...int) { add(name+".weight", dims...); add(name+".bias", dims[0]) }
	both("embeddings.LayerNorm", hidden)
	const layer = "encoder.layer.0."
	for _, name := range []string{"attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"} {
		both(layer+name, hidden, hidden)
	}
	both(layer+"attention.output.LayerNorm", hidden)
	both(layer+"intermediate.dense", inner, hidden)
	both(layer+"output.dense", hidden, inner)
	both(layer+"output.LayerNorm", hidden)
	if err := safetensors.WriteFile(filepath.Join(dir, "model.safetensors"), &safetensors.File{Tensors: all}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A BERT is trained with a tree on texts, broken off and resumed, measured and
// used.
func TestBERTCommands(t *testing.T) {
	dir := t.TempDir()
	model := filepath.Join(dir, "m.safetensors")
	alike := file(t, "alike.vec", "16 2\na 1 0\naccount 1 0\nbook 1 0\nbooks 1 0\ncard 1 0\nfine 1 0\nhours 1 0\nhouse 1 0\nloan 1 0\nlost 1 0\nopening 1 0\npay 1 0\nrenew 1 0\nreserve 1 0\nreturn 1 0\nroom 1 0\n")
	train := []string{"train", "--network", "bert:" + bertFolder(t), "--backend", "go", "--data", desk, "--valid", deskTest, "--taxonomy", deskGroups, "--label-vectors", alike,
		"--epochs", "8", "--rate", "0.01", "--batch", "8", "--tokens", "20", "--model", model, "--json"}
	var trained fit.Result
	o := succeed(t, append(train, "--resume")...) // from the beginning: there is nothing to go on from
	if err := json.Unmarshal([]byte(o.out), &trained); err != nil || !strings.Contains(o.log, "training starts at the beginning") {
		t.Fatal(err, o.log)
	}
	if trained.Sharing != "taxonomy" || trained.Classes != 6 || trained.Valid == nil || trained.Valid.Accuracy < 0.3 || trained.Epochs != 8 {
		t.Errorf("trained %+v, log %s", trained, o.log)
	}
	var measured evaluate.Result
	page := filepath.Join(t.TempDir(), "page")
	if err := json.Unmarshal([]byte(succeed(t, "evaluate", "--backend", "go", "--model", model, "--data", deskTest, "--json", "--report", page).out), &measured); err != nil {
		t.Fatal(err)
	}
	if text := string(content(t, filepath.Join(page, "index.html"))); !strings.Contains(text, "a network on texts") || !strings.Contains(text, fmt.Sprintf("right for %.1f %% of them", 100*measured.Report.Accuracy)) {
		t.Error("the page is not that of the network")
	}
	if r := measured.Report; math.Abs(r.Accuracy-trained.Valid.Accuracy) > 1e-9 || math.Abs(r.LogLoss-trained.Valid.Loss) > 1e-4 ||
		measured.Tree != "model" || measured.SimilarityOf != score.LabelVectors || math.Abs(r.SimilarityAccuracy-1) > 1e-6 { // vectors that all point the same way
		t.Errorf("evaluate says %+v, training %+v", r, trained.Valid)
	}
	answer := callWith(t, "may I keep this book for longer\nwhere is the wc\n", "predict", "--backend", "go", "--model", model, "--top", "2")
	if lines := strings.Split(strings.TrimSpace(answer.out), "\n"); answer.status != 0 || len(lines) != 2 || strings.Count(lines[0], "\t") != 3 {
		t.Errorf("predicted %+v", answer)
	}
	features := filepath.Join(dir, "x.npy")
	succeed(t, "embed", "--backend", "go", "--model", model, "--data", desk, "--out", features)
	linear := succeed(t, "train", "--data", features, "--labels", filepath.Join(dir, "x.labels.txt"), "--sharing", "none", "--model", filepath.Join(dir, "linear"), "--json")
	if !strings.Contains(linear.out, `"features": 12`) {
		t.Errorf("trained on features: %s", linear.out)
	}
	first := content(t, model)
	refuseCall(t, "go on with it by --resume", train...)
	succeed(t, append(train, "--resume")...)
	if string(first) != string(content(t, model)) {
		t.Error("the resumed model differs")
	}
	decideWithNetwork(t, model, deskTest, strange(t))
	refuseCall(t, "is a class of the model", "evaluate", "--backend", "go", "--model", model, "--data", deskTest, "--oos", desk)
	refuseCall(t, "--class-names has no effect", "evaluate", "--model", model, "--data", deskTest, "--class-names", desk)
	refuseCall(t, "--threads has no effect", "predict", "--model", model, "--threads", "1", desk)
	refuseCall(t, "--labels has no effect", "embed", "--model", model, "--data", desk, "--labels", desk, "--out", features)
	mixed := file(t, "mixed.jsonl", `{"text":"a","labels":{"pay a fine":0.75,"opening hours":0.25}}`+"\n")
	if r := parse(t, succeed(t, "evaluate", "--backend", "go", "--model", model, "--data", mixed, "--json").out); r["examples"] != 1.0 || r["log_loss"] == nil {
		t.Errorf("a shared label: %v", r)
	}
	renamed := file(t, "renamed.csv", "said,kind\nwhere is the wc,opening hours\n")
	succeed(t, "embed", "--backend", "go", "--model", model, "--data", renamed, "--text", "said", "--label", "kind", "--out", features)
	if got := string(content(t, filepath.Join(dir, "x.labels.txt"))); got != "opening hours\n" {
		t.Errorf("labels %q", got)
	}
	refuseCall(t, "the model was trained on text; name the column of the text with --text", "evaluate", "--backend", "go", "--model", model, "--data", breads, "--label", "bread")
	refuseCall(t, "none of the 1 examples has a label of", "evaluate", "--backend", "go", "--model", model, "--data", strangers(t), "--unknown-labels", "skip")
}

// strangers is a file of texts of a class that no model has.
func strangers(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "strangers.csv")
	if err := os.WriteFile(path, []byte("text,label\nwho are you,nobody\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBERTRefusals(t *testing.T) {
	folder, model := bertFolder(t), filepath.Join(t.TempDir(), "m.safetensors")
	for want, args := range map[string][]string{
		"want one of":                       {"--network", "bert:"},
		"no config.json":                    {"--network", "bert:" + t.TempDir()},
		"--augment has no effect":           {"--network", "bert:" + folder, "--augment", "none"},
		"--features has no effect":          {"--network", "bert:" + folder, "--features", "x"},
		"not there for bert":                {"--network", "bert:" + folder, "--loss", "hierarchical-softmax"},
		"--tokens has no effect":            {"--network", "resnet20", "--tokens", "9"},
		"want 2 to 24":                      {"--network", "bert:" + folder, "--tokens", "25"},
		"--epochs 0":                        {"--network", "bert:" + folder, "--epochs", "0"},
		"--patience needs texts":            {"--network", "bert:" + folder, "--patience", "2"},
		"is it the right file for --valid?": {"--network", "bert:" + folder, "--valid", strangers(t)},
		"no such file":                      {"--network", "bert:" + folder, "--valid", filepath.Join(folder, "x.csv")},
	} {
		refuseCall(t, want, append([]string{"train", "--backend", "go", "--data", desk, "--model", model}, args...)...)
	}
	mixed := file(t, "m.jsonl", `{"text":"a","labels":{"a":1,"b":1}}`+"\n")
	refuseCall(t, "m.jsonl:1: the label is shared", "train", "--backend", "go", "--data", mixed, "--model", model, "--network", "bert:"+folder)
	refuseCall(t, "--tokens has no effect without --network", "train", "--data", desk, "--model", model, "--tokens", "9")
	refuseCall(t, "BERT wants texts", "train", "--backend", "go", "--data", breads, "--label", "bread", "--model", model, "--network", "bert:"+folder)
}

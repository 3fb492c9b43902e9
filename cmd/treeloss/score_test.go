package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/decide"
	"github.com/treeloss/treeloss/feature"
	"github.com/treeloss/treeloss/internal/safetensors"
	"github.com/treeloss/treeloss/softmax"
)

// scoreAll is a Python program that prints all probabilities of each example.
const scoreAll = `
import json, sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import score
model = score.Model(sys.argv[2])
for x in score.examples(model, open(sys.argv[3], encoding="utf-8", newline="\n")):
    print(json.dumps(dict(zip(model.labels, model.probabilities(x)))))
`

// scripts are texts whose n-grams are cut in every way that there is.
func scripts() []string {
	return []string{
		"Where's my card?! It has-not come (yet)", "card_arrival: e-mail me@bank.com 24/7", "a b c d 1 2 x9 $5.00 50%",
		"ﬁnd the Straße of İSTANBUL, ΟΔΟΣ", "naïve café — déjà vu…", "cafe\u0301 nai\u0308ve", "🙂🙂 ok 👍🏽 ☀️",
		"我的银行卡还没有到。请问在哪里?", "カードーはｶｰﾄﾞ、まだ届いていません ー", "ฉันยังไม่ได้รับบัตร ๆ", "ຂ້ອຍ ຍັງບໍ່ໄດ້", "ខ្ញុំមិនទាន់", "ကျွန်ုပ် ကတ်။",
		"کارت من هنوز نرسیده است؟", "मेरा कार्ड अभी तक नहीं आया", "카드가 아직 안 왔어요", "Карта ещё не пришла…", "mixed中文text混合 และไทย2ok",
		"tab\u00a0no-break\u3000wide\u2028line", strings.Repeat("z", 300) + " after", "I I'd we're C++ #tag @you _under_ x",
		"", "   ", "…!?", "ﷺ ½ ² Ⅷ ㍿", "ÆØÅ ǅ ß ẞ", "e\u0301\u0327 \u0301x 中\u0301文",
	}
}

// TestScoreInPython runs docs/score.py, which docs/model-file.md gives to those who use
// models elsewhere, on every kind of linear model file: its probabilities are those of predict.
func TestScoreInPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 here: docs/score.py is not run")
	}
	docs, err := filepath.Abs("../../docs")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	texts, questions := file("texts.csv", trainingTexts(t)), file("questions.txt", strings.Join(scripts(), "\n")+"\n")
	groups := file("groups.csv", "child,parent\nalpha,greek\nbeta,greek\ngamma,greek\naleph,hebrew\nbet,hebrew\n")
	rows, measurements := numbersFile(1), numbersFile(2)
	numbers, new := file("numbers.csv", rows), file("new.csv", measurements+"7e9,-3e12,0,1e-30,alpha\n")
	sparse := file("sparse.svm", "a 1:1 3:0.5\nb 2:2 3:1\na 1:2\nb 2:1\na 1:3 3:0.25\nb 2:1.5 4:1\na 1:1\nb 2:3\n")
	train := func(args ...string) string { return trainOn(t, append(args, "--seed", "3")...) }
	for _, tc := range []struct {
		name, model, data string
		want              string // a tensor that this kind of file has
	}{
		{"texts", train("--data", texts), questions, "vocabulary"},
		{"texts, not calibrated", train("--data", texts, "--calibrate=false"), questions, "vocabulary"},
		{"names", train("--data", texts, "--sharing", "names", "--names-as-examples", "on"), questions, "vocabulary"},
		{"squared hinge", train("--data", texts, "--loss", "squared-hinge"), questions, "vocabulary"},
		{"hierarchical softmax", train("--data", texts, "--taxonomy", groups, "--loss", "hierarchical-softmax"), questions, "vocabulary"},
		{"numbers", train("--data", numbers, "--fourier", "off"), new, "mean"},
		{"Fourier features", train("--data", numbers, "--fourier", "on"), new, "fourier_phase"},
		{"several labels", train("--data", topicFiles(t, 60)["a.jsonl"]), questions, "threshold"},
		{"LIBSVM", train("--data", sparse), sparse, "bias"},
		{"8 bits", exportedModel(t, train("--data", texts), "--quantize", "int8"), questions, "weight_byte"},
		{"half precision of a tree", exportedModel(t, train("--data", texts, "--taxonomy", groups, "--loss", "hierarchical-softmax"), "--quantize", "fp16"), questions, "weight_half"},
		{"pruned", exportedModel(t, train("--data", numbers), "--prune", "0.4"), new, "weight_class"},
		{"many classes, most weights alike", manyClasses(t, dir, "base", false), questions, "weight_base"},
		{"many classes, half precision", manyClasses(t, dir, "half", true), questions, "weight_half"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, err := safetensors.Map(tc.model)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Tensor(tc.want); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command(python, "-c", scoreAll, docs, tc.model, tc.data).Output()
			if err != nil {
				t.Fatalf("%v: %s", err, err.(*exec.ExitError).Stderr)
			}
			answers := strings.Split(strings.TrimSpace(string(out)), "\n")
			o := succeed(t, "predict", "--model", tc.model, "--output", "jsonl", "--top", "1000", tc.data)
			lines := strings.Split(strings.TrimSpace(o.out), "\n")
			if len(lines) != len(answers) || len(lines) < 8 {
				t.Fatalf("%d answers of predict, %d of score.py", len(lines), len(answers))
			}
			for i, line := range lines {
				var p map[string]float64
				if err := json.Unmarshal([]byte(answers[i]), &p); err != nil {
					t.Fatal(err)
				}
				var want classify.Line
				if err := json.Unmarshal([]byte(line), &want); err != nil {
					t.Fatal(err)
				}
				for _, c := range want.Top {
					if math.Abs(p[c.Label]-c.Probability) > 1e-5 {
						t.Errorf("example %d: %s has %.7f in Python, %.7f by predict", i+1, c.Label, p[c.Label], c.Probability)
					}
				}
				for label, q := range p {
					if q > p[want.Label]+1e-5 {
						t.Errorf("example %d: in Python %s is more probable than %s", i+1, label, want.Label)
					}
				}
			}
			if out, err := exec.Command("sh", "-c", `"$0" "$1" "$2" < "$3"`, python, filepath.Join(docs, "score.py"), tc.model, tc.data).CombinedOutput(); err != nil || strings.Count(string(out), "\n") != len(lines) {
				t.Errorf("as a program it prints %.300s (%v)", out, err)
			}
		})
	}
}

// trainingTexts are labelled texts with the n-grams of scripts.
func trainingTexts(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	out.WriteString("label,text\n")
	rng := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields(strings.Join(scripts(), " "))
	for i := range 100 {
		label := []string{"alpha", "beta", "gamma", "aleph", "bet"}[i%5]
		text := []string{label}
		for range 6 {
			text = append(text, words[rng.IntN(len(words)/5)*5+i%5*rng.IntN(2)])
		}
		fmt.Fprintf(&out, "%s,%q\n", label, strings.Join(text, " "))
	}
	return strings.ReplaceAll(out.String(), `\`, "")
}

// numbersFile has classes in a ring, which no straight boundary parts, and a constant column.
func numbersFile(seed uint64) string {
	var out strings.Builder
	out.WriteString("x,y,same,small,label\n")
	rng := rand.New(rand.NewPCG(seed, 1))
	for range 120 {
		x, y := rng.NormFloat64(), 1000*rng.NormFloat64()
		label := "inside"
		if x*x+y*y/1e6 > 1.5 {
			label = "outside"
		}
		fmt.Fprintf(&out, "%v,%v,4,%v,%s\n", x, y, 1e-9*rng.Float64(), label)
	}
	return out.String()
}

// manyClasses saves a model of so many weights that its file has them packed.
func manyClasses(t *testing.T, dir, name string, dense bool) string {
	t.Helper()
	const k = 700
	rng := rand.New(rand.NewPCG(7, 7))
	table := feature.NewTable(dataset.Text, nil)
	for _, text := range scripts() {
		table.AddText(text)
	}
	for range 1500 {
		word := make([]byte, 8)
		for i := range word {
			word[i] = byte('a' + rng.IntN(26))
		}
		table.AddText(string(word))
	}
	set, err := table.Fit(dataset.Range(0, table.Rows()), feature.Options{})
	if err != nil {
		t.Fatal(err)
	}
	layer := &softmax.Layer{Classes: k, Features: set.Dim(), Weight: make([]float32, k*set.Dim()), Bias: make([]float32, k)}
	var labels []string
	for c := range k {
		labels = append(labels, fmt.Sprintf("class %03d", c))
		layer.Bias[c] = float32(rng.NormFloat64())
	}
	for f := range set.Dim() {
		row := layer.Weight[f*k : (f+1)*k]
		base := float32(rng.NormFloat64())
		for c := range row {
			if row[c] = base; dense || rng.IntN(50) == 0 {
				row[c] += float32(8 * rng.NormFloat64())
			}
		}
	}
	slices.Sort(labels)
	path := filepath.Join(dir, name+".safetensors")
	model := &softmax.Model{Layer: layer, Features: set, Labels: labels}
	if dense { // a temperature of each row
		model.Training.Calibration = &decide.Calibration{Temperature: 1.7, ConfidenceScale: 0.6, ConfidencePower: -0.4}
	}
	if err := model.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

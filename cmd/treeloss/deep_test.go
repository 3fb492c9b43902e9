package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/treeloss/treeloss/classify"
	"github.com/treeloss/treeloss/deep/fit"
	"github.com/treeloss/treeloss/deep/network"
	"github.com/treeloss/treeloss/deep/train"
	"github.com/treeloss/treeloss/evaluate"
	"github.com/treeloss/treeloss/internal/tensorboard/eventtest"
	"github.com/treeloss/treeloss/score"
)

// pictureFolder writes n pictures of 3 classes in the form of CIFAR-100, each
// class of another colour, and a taxonomy.
func pictureFolder(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	var data []byte
	for i := range n {
		y := i % 3
		data = append(data, 0, byte(y))
		for plane := range 3 {
			for p := range 1024 {
				v := byte(40 + p*7%50)
				if plane == y {
					v += 130
				}
				data = append(data, v)
			}
		}
	}
	for name, content := range map[string][]byte{
		"train.bin": data, "test.bin": data[:3*3074], "coarse_label_names.txt": []byte("all\n"),
		"fine_label_names.txt": []byte("cat\ndog\ntruck\n"),
		"groups.csv":           []byte("child,parent\ncat,animal\ndog,animal\ntruck,thing\nanimal,thing\n"),
		"names.csv":            []byte("fine,name\n0,a\n1,b\n2,c\n"),
		"alike.vec":            []byte("3 2\ncat 1 0\ndog 2 0\ntruck 3 0\n"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A network is trained with the tree, measured, used, and its features written,
// each by its command.
func TestNetworkCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("trains a network, some seconds: left out by -short")
	}
	dir := pictureFolder(t, 3)
	in := func(name string) string { return filepath.Join(dir, name) }
	model := in("m.safetensors")
	train := []string{"train", "--network", "resnet20", "--backend", "go", "--data", dir, "--valid", in("test.bin"), "--taxonomy", in("groups.csv"), "--label-vectors", in("alike.vec"),
		"--epochs", "2", "--batch", "3", "--rate", "0.02", "--augment", "none", "--model", model, "--json", "--tensorboard", in("runs/tree")}
	o := succeed(t, train...)
	var trained fit.Result
	if err := json.Unmarshal([]byte(o.out), &trained); err != nil {
		t.Fatal(err)
	}
	if trained.Sharing != "taxonomy" || trained.Classes != 3 || trained.Steps != 2 || trained.Parameters != 269_072+3*65 || trained.Valid == nil {
		t.Errorf("trained %+v", trained)
	}
	if !strings.Contains(o.log, "epoch 2 of 2") || strings.Count(o.log, " left\n") != 1 {
		t.Errorf("log %s", o.log)
	}
	if _, err := os.Stat(filepath.Join(trainingOf(model), "log.jsonl")); err != nil {
		t.Error(err)
	}
	_, events, err := eventtest.ReadFolder(in("runs/tree"))
	if err != nil || len(events) != 1 || len(events[0]) != 4 {
		t.Fatalf("events %+v, error %v", events, err)
	}
	if e := events[0][3]; e.Step != 2 || e.Scalars["loss/valid"] != float32(trained.Valid.Loss) && trained.BestEpoch == 2 {
		t.Errorf("last event %+v, valid %+v", e, trained.Valid)
	}

	// A training that is over is resumed to the same bytes, event files or not, and
	// not overwritten without being asked.
	first := content(t, model)
	refuseCall(t, "go on with it by --resume", train...)
	resumed := succeed(t, append(train, "--resume", "--tensorboard", in("runs/other"))...)
	if !bytes.Equal(first, content(t, model)) {
		t.Error("the resumed model differs")
	}
	if !strings.Contains(resumed.out, fmt.Sprintf(`"parameters": %d`, trained.Parameters)) {
		t.Errorf("resumed: %s", resumed.out)
	}

	var measured evaluate.Result
	o = succeed(t, "evaluate", "--backend", "go", "--model", model, "--data", in("test.bin"), "--json")
	if err := json.Unmarshal([]byte(o.out), &measured); err != nil {
		t.Fatal(err)
	}
	if r := measured.Report; math.Abs(r.Accuracy-trained.Valid.Accuracy) > 1e-9 || math.Abs(r.LogLoss-trained.Valid.Loss) > 1e-4 || measured.Tree != "model" || r.Examples != 3 ||
		measured.SimilarityOf != score.LabelVectors || r.SimilarityAccuracy != 1 { // vectors that all point the same way
		t.Errorf("evaluate says %+v, training %+v", r, trained.Valid)
	}
	succeed(t, "evaluate", "--backend", "go", "--model", model, "--data", in("test.bin"), "--out", in("rows.csv"), "--report", filepath.Join(t.TempDir(), "page"))
	table, right := csvRows(t, in("rows.csv")), 0.0
	for i, row := range table[1:] {
		if row[0] != fmt.Sprintf("%s:%d", in("test.bin"), i+1) || row[2] != "" {
			t.Errorf("the row of picture %d is %q", i+1, row)
		}
		if row[5] == "1" {
			right++
		}
	}
	if len(table) != 4 || math.Abs(right/3-measured.Report.Accuracy) > 1e-9 {
		t.Errorf("%d rows of which %v are right, want 3 and %v of them", len(table)-1, right, measured.Report.Accuracy)
	}
	flatTree := file(t, "flat.csv", "child,parent\ncat,all\ndog,all\ntruck,all\n")
	o = succeed(t, "evaluate", "--backend", "go", "--model", model, "--data", in("test.bin"), "--taxonomy", flatTree)
	if !strings.Contains(o.out, "(tree of --taxonomy)") {
		t.Errorf("evaluate with another tree says %s", o.out)
	}
	o = succeed(t, "predict", "--backend", "go", "--model", model, "--top", "3", in("test.bin"))
	if lines := strings.Split(strings.TrimSpace(o.out), "\n"); len(lines) != 3 || strings.Count(lines[0], "\t") != 5 {
		t.Errorf("predicted %q", o.out)
	}
	for want, args := range map[string][]string{
		"--threads has no effect with": {"evaluate", "--data", in("test.bin"), "--threads", "1"},
		"--text has no effect with":    {"evaluate", "--data", in("test.bin"), "--text", "x"},
		"--features has no effect":     {"predict", "--features", "x", in("test.bin")},
		"is a class of the model":      {"evaluate", "--backend", "go", "--data", in("test.bin"), "--oos", in("test.bin")},
		"not from the standard input":  {"predict"},
		"a linear model is wanted":     {"explain", in("test.bin")},
		"--label has no effect":        {"embed", "--data", dir, "--label", "x", "--out", in("x.npy")},
		"neither a file of CIFAR-100":  {"predict", in("names.csv")},
	} {
		refuseCall(t, want, append(args[:1:1], append([]string{"--model", model}, args[1:]...)...)...)
	}
	decideWithNetwork(t, model, in("test.bin"), greyPictures(t, 2))
	succeed(t, "embed", "--backend", "go", "--model", model, "--data", dir, "--out", in("x.npy"))
	o = succeed(t, "train", "--data", in("x.npy"), "--labels", in("x.labels.txt"), "--sharing", "none", "--model", in("linear.safetensors"), "--json")
	if !strings.Contains(o.out, `"features": 64`) {
		t.Errorf("trained on features: %s", o.out)
	}
	refuseCall(t, "--backend has no effect with", "evaluate", "--model", in("linear.safetensors"), "--data", in("x.npy"), "--labels", in("x.labels.txt"), "--backend", "go")
	refuseCall(t, "--backend has no effect with", "predict", "--model", in("linear.safetensors"), "--backend", "go", in("x.npy"))
	refuseCall(t, "is a linear model", "embed", "--model", in("linear.safetensors"), "--data", dir, "--out", in("y.npy"))
	refuseCall(t, "no such model file", "embed", "--model", in("none"), "--data", dir, "--out", in("y.npy"))
	o = succeed(t, "compare", "--data", in("x.npy"), "--labels", in("x.labels.txt"), "--test", in("x.npy"), "--test-labels", in("x.labels.txt"),
		"--taxonomy", in("groups.csv"), "--methods", "cross-entropy,taxonomy")
	if !strings.Contains(o.out, "taxonomy") {
		t.Errorf("compared on features: %s", o.out)
	}
}

// The hierarchical cross entropy trains networks over the tree that linear models
// take: the taxonomy, else that of the sharing or of the names. Its alpha reaches
// the loss: next to none of it is cross entropy, more of it makes the same
// mistakes cost less.
func TestNetworksUnderHXE(t *testing.T) {
	if testing.Short() {
		t.Skip("trains networks, some seconds: left out by -short")
	}
	dir := t.TempDir()
	folder := bertFolder(t)
	trainLoss := func(name string, args ...string) float64 {
		t.Helper()
		model := filepath.Join(dir, name)
		// One step of all rows: the loss is that of the weights that training starts from.
		o := succeed(t, append([]string{"train", "--network", "bert:" + folder, "--backend", "go", "--data", desk, "--epochs", "1", "--batch", "1000", "--tokens", "20", "--model", model, "--json"}, args...)...)
		var trained fit.Result
		if err := json.Unmarshal([]byte(o.out), &trained); err != nil {
			t.Fatal(err)
		}
		if trained.Sharing != "none" || trained.Steps != 1 {
			t.Errorf("%s: trained %+v", name, trained)
		}
		return trained.TrainLoss
	}
	plain := trainLoss("plain", "--sharing", "none")
	none := trainLoss("none", "--loss", "hxe", "--hxe-alpha", "1e-9", "--taxonomy", deskGroups)
	usual := trainLoss("usual", "--loss", "hxe", "--taxonomy", deskGroups)
	more := trainLoss("more", "--loss", "hxe", "--hxe-alpha", "0.9", "--taxonomy", deskGroups)
	names := trainLoss("names", "--loss", "hxe", "--hxe-alpha", "0.9")
	if math.Abs(none-plain) > 1e-4 || !(usual < none-0.01) || !(more < usual-0.01) || math.Abs(names-more) < 1e-4 {
		t.Errorf("cross entropy %v; hxe: alpha 1e-9 %v, default %v, 0.9 %v, over names %v", plain, none, usual, more, names)
	}
	o := succeed(t, "evaluate", "--backend", "go", "--model", filepath.Join(dir, "names"), "--data", deskTest, "--json")
	if !strings.Contains(o.out, `"tree": "model"`) {
		t.Errorf("the model does not keep the tree of its loss: %s", o.out)
	}

	pictures := pictureFolder(t, 3)
	in := func(name string) string { return filepath.Join(pictures, name) }
	succeed(t, "train", "--network", "resnet20", "--backend", "go", "--data", pictures, "--loss", "hxe", "--sharing", "linkage", "--label-vectors", in("alike.vec"), "--from", "names",
		"--epochs", "1", "--batch", "3", "--augment", "none", "--model", in("m"))
	m, err := network.Load(in("m"))
	if err != nil {
		t.Fatal(err)
	}
	if m.Tree == nil || !m.Tree.Weighted() || m.Tree.Len() != 5 { // as linkages are, and V-trees are not
		t.Errorf("the tree is not the linkage of the sharing: %+v", m.Tree)
	}
}

// A folder of pictures, one of them grey, is trained on and measured; a file that
// is no picture ends the training with its name.
func TestNetworkOnFolder(t *testing.T) {
	if testing.Short() {
		t.Skip("trains a network, some seconds: left out by -short")
	}
	dir := t.TempDir()
	for i, name := range []string{"n01/a.jpg", "n01/b.png", "n02/c.jpg"} {
		var b bytes.Buffer
		m := image.NewGray(image.Rect(0, 0, 20, 16))
		for p := range m.Pix {
			m.Pix[p] = byte(p * (i + 1))
		}
		encode := func() error { return jpeg.Encode(&b, m, nil) }
		if filepath.Ext(name) == ".png" {
			encode = func() error { return png.Encode(&b, m) }
		}
		if err := errors.Join(encode(), os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777), os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	model := filepath.Join(t.TempDir(), "m.safetensors")
	train := []string{"train", "--network", "resnet20", "--backend", "go", "--side", "16", "--data", dir, "--epochs", "1", "--model", model}
	succeed(t, train...)
	o := succeed(t, "evaluate", "--backend", "go", "--model", model, "--data", dir, "--json")
	if !strings.Contains(o.out, `"examples": 3`) || !strings.Contains(o.out, `"label": "n02"`) {
		t.Errorf("evaluated %s", o.out)
	}
	// To predict, pictures need no folders of classes, and one is enough.
	flat := t.TempDir()
	for _, name := range []string{"n01/a.jpg", "n01/b.png", "n02/c.jpg"} {
		if err := os.WriteFile(filepath.Join(flat, filepath.Base(name)), content(t, filepath.Join(dir, name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	predict := func(path string) string {
		var answers []string
		for line := range strings.Lines(succeed(t, "predict", "--backend", "go", "--model", model, "--json", path).out) {
			var x classify.Line
			if err := json.Unmarshal([]byte(line), &x); err != nil {
				t.Fatal(err)
			}
			answers = append(answers, x.File+" "+x.Label)
		}
		return strings.Join(answers, "\n")
	}
	bare, filed := predict(flat), predict(dir)
	if strings.NewReplacer("n01/", "", "n02/", "").Replace(filed) != bare || strings.Count(bare, "jpg n0") != 2 {
		t.Errorf("in folders: %q, in one: %q", filed, bare)
	}
	if one := predict(filepath.Join(flat, "b.png")); !strings.Contains(bare, "\n"+one+"\n") {
		t.Errorf("one picture: %q, among others: %q", one, bare)
	}
	refuseCall(t, "no .jpg, .jpeg or .png", "predict", "--backend", "go", "--model", model, t.TempDir())
	// Nor do they to be embedded, if a file names their classes.
	labels := file(t, "labels.txt", "a.jpg n02\nb.png n01\nc.jpg n02\n")
	features := filepath.Join(flat, "x.npy")
	succeed(t, "embed", "--backend", "go", "--model", model, "--data", flat, "--labels", labels, "--out", features)
	if got := string(content(t, filepath.Join(flat, "x.labels.txt"))); got != "n02\nn01\nn02\n" {
		t.Errorf("labels %q", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "n02/d.jpg"), []byte("no picture"), 0o600); err != nil {
		t.Fatal(err)
	}
	refuseCall(t, "d.jpg: no readable picture", "evaluate", "--backend", "go", "--model", model, "--data", dir)
	refuseCall(t, "no such file", "evaluate", "--backend", "go", "--model", model, "--data", filepath.Join(dir, "none"))
}

// refuseCall runs the program and fails the test if it succeeds, or says other
// than want in one line.
func refuseCall(t *testing.T, want string, args ...string) {
	t.Helper()
	if o := call(t, args...); o.status == 0 || !strings.Contains(lastLine(o.log), want) {
		t.Errorf("treeloss %s: status %d, %s; want %q", strings.Join(args, " "), o.status, o.log, want)
	}
}

// What does not go together is refused before anything is read or trained.
func TestNetworkRefusals(t *testing.T) {
	dir := pictureFolder(t, 3)
	model := filepath.Join(dir, "m.safetensors")
	oneClass := t.TempDir()
	if err := os.Mkdir(filepath.Join(oneClass, "cat"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(oneClass, "cat", "a.jpg"), []byte("not looked at"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"want one of resnet20, resnet50":               {"--network", "alexnet"},
		"--text has no effect with --network resnet20": {"--network", "resnet20", "--text", "x"},
		"--rho has no effect":                          {"--network", "resnet20", "--rho", "1"},
		"--augment has no effect without --network":    {"--augment", "frozen"},
		"--tensorboard has no effect without":          {"--tensorboard", "runs"},
		"names.csv is no folder":                       {"--network", "resnet20", "--tensorboard", filepath.Join(dir, "names.csv")},
		"want fresh, frozen or none":                   {"--network", "resnet20", "--augment", "often"},
		"--backend \"gpu\"":                            {"--network", "resnet20", "--backend", "gpu"},
		"--patience needs pictures":                    {"--network", "resnet20", "--patience", "2"},
		"--epochs 0":                                   {"--network", "resnet20", "--epochs", "0"},
		"--batch 0":                                    {"--network", "resnet20", "--batch", "0"},
		"--patience -1":                                {"--network", "resnet20", "--patience", "-1"},
		"--momentum 1":                                 {"--network", "resnet20", "--momentum", "1"},
		"--weight-decay NaN":                           {"--network", "resnet20", "--weight-decay", "NaN"},
		"--milestones 2, want epochs":                  {"--network", "resnet20", "--milestones", "3,2"},
		"--rate -1, want a number above":               {"--network", "resnet20", "--rate", "-1"},
		"--warm-up -1, want a number":                  {"--network", "resnet20", "--warm-up", "-1"},
		"the path of --class-names":                    {"--network", "resnet20", "--class-names", "gone.txt"},
		"a multiple of 4":                              {"--network", "resnet20", "--side", "30"},
		"a multiple of 32":                             {"--network", "resnet50", "--side", "48"},
		"--side is for folders":                        {"--network", "resnet20", "--side", "64"},
		"--damaged is for folders":                     {"--network", "resnet20", "--damaged", "skip"},
		"--init-model has no effect with":              {"--network", "resnet20", "--init-model", "m.safetensors"},
		"--valid-labels goes with":                     {"--network", "resnet20", "--valid-labels", filepath.Join(dir, "names.csv")},
		"--prior has no effect":                        {"--network", "resnet20", "--prior", "3"},
		"--calibrate has no effect":                    {"--network", "resnet20", "--calibrate"},
		"2 class names":                                {"--network", "resnet20", "--class-names", filepath.Join(dir, "two.txt")},
		"no column \"wnid\"":                           {"--network", "resnet20", "--class-names", filepath.Join(dir, "names.csv") + ":wnid"},
		"goes with --loss hxe":                         {"--network", "resnet20", "--hxe-alpha", "0.2"},
		"--hxe-alpha -1":                               {"--network", "resnet20", "--loss", "hxe", "--hxe-alpha", "-1"},
	} {
		if err := os.WriteFile(filepath.Join(dir, "two.txt"), []byte("a\nb\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		refuseCall(t, want, append([]string{"train", "--data", dir, "--model", model}, args...)...)
	}
	refuseCall(t, "only one class", "train", "--network", "resnet20", "--backend", "go", "--model", model, "--data", oneClass)
	for want, args := range map[string][]string{
		"none: no such file":       {"--data", filepath.Join(dir, "none")},
		"no folders in it":         {"--data", t.TempDir()},
		"classes for 1 pictures":   {"--data", greyPictures(t, 2), "--labels", file(t, "labels.txt", "0.jpg n01\n")},
		"3 class names":            {"--data", greyPictures(t, 2), "--labels", file(t, "labels.txt", "0.jpg n01\n1.jpg n02\n"), "--class-names", filepath.Join(dir, "names.csv") + ":name"},
		"class \"n02\" has no row": {"--data", greyPictures(t, 2), "--labels", file(t, "labels.txt", "0.jpg n01\n1.jpg n02\n"), "--taxonomy", file(t, "t.csv", "child,parent\nn01,x\n")},
		"no picture \"7.jpg\"":     {"--data", greyPictures(t, 2), "--labels", file(t, "labels.txt", "0.jpg n01\n7.jpg n02\n")},
		"no picture of a class of": {"--data", dir, "--valid", greyPictures(t, 1), "--valid-labels", file(t, "labels.txt", "0.jpg n09\n")},
	} {
		refuseCall(t, want, append([]string{"train", "--network", "resnet20", "--backend", "go", "--model", model}, args...)...)
	}
	spoilt := t.TempDir()
	for _, name := range []string{"a/x.jpg", "b/y.jpg"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(spoilt, name)), 0o777), os.WriteFile(filepath.Join(spoilt, name), []byte("no picture"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for name, epochs := range map[string]int{"resnet20": 200, "resnet50": 90} { // those of their papers
		refuseCall(t, fmt.Sprintf("epoch 1 of %d: ", epochs), "train", "--network", name, "--backend", "go", "--side", "32", "--data", spoilt, "--model", model)
	}
	refuseCall(t, "none of the 2 pictures can be read", "train", "--network", "resnet20", "--damaged", "skip", "--data", spoilt, "--model", model)
	refuseCall(t, "only one class", "train", "--network", "resnet20", "--backend", "go", "--data", oneClass, "--model", model)
	refuseCall(t, "not compiled in", "train", "--network", "resnet20", "--backend", "xla", "--data", dir, "--model", model)
	refuseCall(t, "neither a file of CIFAR-100", "train", "--network", "resnet20", "--data", filepath.Join(dir, "names.csv"), "--model", model)
	refuseCall(t, "ends in .npy", "embed", "--model", model, "--data", dir, "--out", "x.csv")
	refuseCall(t, "embed needs", "embed", "--model", model)
}

// decideWithNetwork checks that networks decide by every rule.
func decideWithNetwork(t *testing.T, model, data, outside string) {
	t.Helper()
	o := parse(t, succeed(t, "evaluate", "--backend", "go", "--model", model, "--data", data, "--oos", outside, "--confidence", "0.9", "--reject", "0.5", "--json").out)
	if o["hedged"] == nil || o["reject"] == nil || o["out_of_scope"] == nil {
		t.Errorf("evaluate: %v, want hedged and rejected answers and those out of scope", o)
	}
	for line := range strings.Lines(succeed(t, "predict", "--backend", "go", "--model", model, "--confidence", "0.99", "--json", data).out) {
		var x classify.Line
		if err := json.Unmarshal([]byte(line), &x); err != nil || x.Path == nil || x.Probability < 0.99-1e-5 {
			t.Errorf("%q, %v: want a node of probability 0.99 at least", line, err)
		}
	}
	for line := range strings.Lines(succeed(t, "predict", "--backend", "go", "--model", model, "--decode", "cost", "--json", data).out) {
		if !strings.Contains(line, "expected_cost") {
			t.Errorf("%q, want its cost", line)
		}
	}
}

// greyPictures returns a folder of n grey pictures, 0.jpg and so on.
func greyPictures(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		var b bytes.Buffer
		if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8)), nil); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.jpg", i)), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLinesOfNetworks(t *testing.T) {
	p := train.Progress{Epoch: 2, Epochs: 3, Step: 4, Steps: 10, Loss: 1.5, Accuracy: 0.25, PerSecond: 812.4, Left: 75*time.Second + 300*time.Millisecond}
	if got, want := stepLine(p), "epoch 2 of 3  step 4 of 10  loss 1.5000  812 examples/s  1m15s left"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	p.Valid = &train.Valid{Accuracy: 0.5, Loss: 1.25}
	if got, want := epochLine(p), "epoch 2 of 3  loss 1.5000  accuracy 25.0  812 examples/s  valid: loss 1.2500  accuracy 50.0  1m15s left"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	p.Epoch, p.Left = 3, 0
	if got := epochLine(p); strings.Contains(got, "left") {
		t.Errorf("the last epoch: %q", got)
	}
}

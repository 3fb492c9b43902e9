package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/treeloss/treeloss/covertree"
	"github.com/treeloss/treeloss/internal/speed"
	"github.com/treeloss/treeloss/matrix"
	"github.com/treeloss/treeloss/metric"
	"github.com/treeloss/treeloss/softmax"
)

// The size of the texts made from a seed: that of clinc150 with n-grams cut at 50,000.
const (
	texts    = 13500
	features = 50000
	classes  = 150
)

// text compares an epoch on sparse text, on one thread: with scikit-learn, with
// fastText and, where there is time, a training to convergence with liblinear.
func (s *suite) text() error {
	ex := speed.Text(texts, features, classes)
	if err := s.writeText(ex); err != nil {
		return err
	}
	epoch, stop := speed.Epochs(context.Background(), ex, classes, softmax.Options{Trainer: softmax.SGD{}, Threads: 1})
	defer stop()
	// One epoch of a fit that goes on: the rows are in memory, as those of the peers are.
	ours := s.timed(cpu, epoch)
	nonzeros := len(ex.X.(*matrix.Sparse).Index) / texts
	what := fmt.Sprintf("epoch on %d texts of %d words, %d features, %d classes / ", texts, nonzeros, features, classes)
	if p, err := s.peer(1, "sklearn"); err != nil {
		log.Println("text:", err)
	} else if t, err := s.turns(ours, p.side(map[string]any{"task": "sgd", "file": s.path("text.svm"), "features": features})); err != nil {
		return err
	} else {
		s.add(what+"scikit-learn SGDClassifier(log_loss)", t[0], t[1], seconds, 12)
	}
	if err := s.fastText(what, ours); err != nil {
		log.Println("text:", err)
	}
	if _, err := exec.LookPath("liblinear-train"); err != nil || s.program == "" || !s.slow {
		log.Println("text: liblinear skipped: it needs -slow, liblinear-train and -treeloss")
		return nil
	}
	// Minutes a turn: a third of the rounds.
	t, err := turns((s.rounds+2)/3,
		processCPU(s.program, "train", "--quiet", "--data", s.path("text.svm"), "--model", s.path("text.safetensors"), "--sharing", "none", "--threads", "1"),
		processCPU("liblinear-train", "-q", "-s", "0", "-e", "0.1", s.path("text.svm"), s.path("text.liblinear")))
	if err != nil {
		return err
	}
	s.add("train to convergence on the same, file to model (ours also tries priors) / liblinear -s 0", t[0], t[1], seconds, 0)
	return nil
}

// fastText compares an epoch with a third of the difference between four epochs and
// one: so its start, the reading of the file and the writing of a model cancel out.
func (s *suite) fastText(what string, ours side) error {
	run := func(epochs int) side {
		return processCPU("fasttext", "supervised", "-input", s.path("text.txt"), "-output", s.path("fasttext"), "-epoch", strconv.Itoa(epochs), "-thread", "1", "-verbose", "0")
	}
	t, err := s.turns(ours, run(1), run(4))
	if err != nil {
		return err
	}
	s.add(what+"fastText supervised", t[0], (t[2]-t[1])/3, seconds, 12)
	return nil
}

// wall runs a program and returns its seconds by the clock on the wall, and the process
// that has ended. One that fails is an error with all that it printed.
func wall(name string, args ...string) (took float64, cmd *exec.Cmd, err error) {
	cmd = exec.Command(name, args...)
	start := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, cmd, fmt.Errorf("%s: %w: %s", filepath.Base(name), err, out)
	}
	return time.Since(start).Seconds(), cmd, nil
}

// processCPU returns a side that is the CPU time of a program, of all its threads and in
// the kernel, too.
func processCPU(name string, args ...string) side {
	return func() (float64, error) {
		_, cmd, err := wall(name, args...)
		if err != nil {
			return 0, err
		}
		return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), nil
	}
}

// path returns that of a file of the run.
func (s *suite) path(name string) string { return filepath.Join(s.dir, name) }

// writeText writes the texts for liblinear, features from 1 on and their values, and
// for fastText, a word for each feature: it counts words itself.
func (s *suite) writeText(ex softmax.Examples) error {
	x := ex.X.(*matrix.Sparse)
	var svm, txt bytes.Buffer
	for i := range x.Rows() {
		index, value := x.Row(i)
		fmt.Fprint(&svm, ex.Class[i])
		fmt.Fprintf(&txt, "__label__%d", ex.Class[i])
		for n, f := range index {
			fmt.Fprintf(&svm, " %d:%g", f+1, value[n])
			fmt.Fprintf(&txt, " w%d", f)
		}
		svm.WriteByte('\n')
		txt.WriteByte('\n')
	}
	return cmp.Or(os.WriteFile(s.path("text.svm"), svm.Bytes(), 0o600), os.WriteFile(s.path("text.txt"), txt.Bytes(), 0o600))
}

// clinc compares whole trainings, from a file to a model, on two threads, with their
// accuracy on the test rows. Ours has a bar of its own: 8 seconds and 500 MB.
func (s *suite) clinc() error {
	if s.program == "" || s.data == "" {
		return fmt.Errorf("it needs -treeloss and -data")
	}
	train, test := filepath.Join(s.data, "train.csv"), filepath.Join(s.data, "test.csv")
	if _, err := os.Stat(train); err != nil {
		return err
	}
	model := s.path("clinc.safetensors")
	var memory int64 // bytes, the most of all runs
	ours := func() (float64, error) {
		took, cmd, err := wall(s.program, "train", "--quiet", "--data", train, "--model", model, "--threads", "2")
		if err == nil {
			memory = max(memory, maxMemory(cmd))
		}
		return took, err
	}
	t, err := turns((s.rounds+2)/3, ours) // it takes seconds: a median of few will do
	if err != nil {
		return err
	}
	out, err := exec.Command(s.program, "evaluate", "--quiet", "--model", model, "--data", test, "--json").Output()
	if err != nil {
		return err
	}
	var result struct{ Accuracy float64 }
	if err := json.Unmarshal(out, &result); err != nil {
		return err
	}
	// Ours is the same in all rows: measured once, with the accuracy of its model.
	own := func(t float64) string { return fmt.Sprintf("%s, %.1f %%", seconds(t), 100*result.Accuracy) }
	s.rows = append(s.rows, row{what: "treeloss train on clinc150: time, memory", ours: fmt.Sprintf("%s, %d MB", own(t[0]), memory>>20), bar: "<= 8 s, <= 500 MB", missed: t[0] > 8 || memory > 500<<20})
	add := func(name string, peer, accuracy float64) {
		s.rows = append(s.rows, row{what: "the same / " + name, ours: own(t[0]), peer: fmt.Sprintf("%s, %.1f %%", seconds(peer), 100*accuracy), ratio: peer / t[0]})
	}
	// Trainings of peers take long and are measured once, not in turns.
	if name, err := exec.LookPath("fasttext"); err != nil {
		log.Println("clinc:", err)
	} else if took, accuracy, err := s.clincFastText(name); err != nil {
		return err
	} else {
		add("fastText supervised, 25 epochs, pairs of words, learning rate 1", took, accuracy)
	}
	p, err := s.peer(2, "sklearn")
	if err != nil {
		return err
	}
	methods := []string{"LinearSVC"}
	if s.slow {
		methods = append(methods, "LogisticRegression")
	}
	for _, method := range methods {
		answer, err := p.ask(map[string]any{"task": "clinc", "method": method, "train": train, "test": test})
		if err != nil {
			return err
		}
		took, _ := answer["seconds"].(float64)
		accuracy, _ := answer["accuracy"].(float64)
		add("scikit-learn "+method+" on tf-idf of the same n-grams", took, accuracy)
	}
	return nil
}

// clincFastText trains fastText on clinc150 as its tutorial does. It prints the share
// of right answers as P@1.
func (s *suite) clincFastText(name string) (took, accuracy float64, err error) {
	for _, part := range []string{"train", "test"} {
		if err := fastTextFile(filepath.Join(s.data, part+".csv"), s.path(part+".txt")); err != nil {
			return 0, 0, err
		}
	}
	took, _, err = wall(name, "supervised", "-input", s.path("train.txt"), "-output", s.path("clinc"), "-epoch", "25", "-lr", "1.0", "-wordNgrams", "2", "-thread", "2", "-verbose", "0")
	if err != nil {
		return 0, 0, err
	}
	out, err := exec.Command(name, "test", s.path("clinc.bin"), s.path("test.txt")).Output()
	if err != nil {
		return 0, 0, err
	}
	for _, line := range strings.Split(string(out), "\n") {
		if v, found := strings.CutPrefix(line, "P@1"); found {
			accuracy, err = strconv.ParseFloat(strings.TrimSpace(v), 64)
		}
	}
	return took, accuracy, err
}

// coverTree compares the building of trees over points, and finds the exponent with
// which the time grows with their number.
func (s *suite) coverTree() error {
	var last, lastPoints float64
	// What is said behind a time, but for the first: p of t = c k^p from the row before.
	growth := func(k int, t float64) string {
		defer func() { last, lastPoints = t, float64(k) }()
		if last == 0 {
			return ""
		}
		return fmt.Sprintf(", growth k^%.2f", exponent(last, t, lastPoints, float64(k)))
	}
	p, err := s.peer(1, "sklearn")
	if err != nil {
		log.Println("covertree:", err)
	}
	for _, tc := range []struct {
		k   int
		bar float64 // seconds; 0: none
	}{{10_000, 0}, {100_000, 0.5}, {1_000_000, 10}} {
		if tc.k > 100_000 && !s.slow {
			continue
		}
		points := speed.Points(tc.k, 50)
		space, err := metric.Euclidean(points)
		if err != nil {
			return err
		}
		ours := func() (float64, error) {
			start := cpu()
			_, err := covertree.New(space, covertree.Options{})
			return (cpu() - start).Seconds(), err
		}
		r := row{what: fmt.Sprintf("cover tree, %d points in 50 dimensions", tc.k)}
		t, err := []float64{0}, error(nil)
		if p == nil || tc.k > 100_000 {
			t[0], err = ours()
		} else if err = writeFloats(s.path("points.f32"), points.Data); err == nil {
			t, err = s.turns(ours, p.side(map[string]any{"task": "balltree", "file": s.path("points.f32"), "columns": 50}))
		}
		if err != nil {
			return err
		}
		r.ours = seconds(t[0]) + growth(tc.k, t[0])
		if len(t) > 1 {
			r.what, r.peer, r.ratio = r.what+" / scikit-learn BallTree(leaf_size=2)", seconds(t[1]), t[1]/t[0]
		}
		if tc.bar > 0 {
			r.bar, r.missed = fmt.Sprintf("<= %g s", tc.bar), t[0] > tc.bar
		}
		s.rows = append(s.rows, r)
	}
	return nil
}

// quickstart times the program's own main job, start to end.
func (s *suite) quickstart() error {
	if s.program == "" {
		return fmt.Errorf("it needs -treeloss")
	}
	t, err := s.turns(func() (float64, error) {
		took, _, err := wall(s.program, "quickstart", "--quiet")
		return took, err
	})
	if err != nil {
		return err
	}
	s.rows = append(s.rows, row{what: "treeloss quickstart", ours: seconds(t[0]), bar: "<= 5 s", missed: t[0] > 5})
	return nil
}

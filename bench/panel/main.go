// Command panel compares treeloss with scikit-learn and fastText on many data
// sets: accuracy, macro F1, calibration error, seconds and memory of each, with few
// rows a class and with all.
//
//	go run ./panel -treeloss ../treeloss ../../shared/data/panel/* > panel.md
//
// A set is a folder with train.csv and test.csv, whose column "label" is the class
// and whose column "text" is the text; without one all other columns are numbers. A
// taxonomy.csv beside them is class information. What is measured is appended to
// -results, and what stands there is not measured again.
package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// peersScript is the program of the peers, written beside the data of a run.
//
//go:embed peers.py
var peersScript string

// cell is one measurement.
type cell struct {
	Set    string `json:"set"`
	Shots  int    `json:"shots"` // rows of a class; 0: all
	Seed   uint64 `json:"seed"`
	Method string `json:"method"`
}

// result is what came of a cell. Rates are percentages.
type result struct {
	cell
	Accuracy         float64  `json:"accuracy"`
	MacroF1          float64  `json:"macro_f1"`
	CalibrationError *float64 `json:"calibration_error"` // nil: no probabilities
	Seconds          float64  `json:"seconds"`           // from the file to the model
	Megabytes        float64  `json:"megabytes"`         // peak
	Failed           string   `json:"failed,omitempty"`
}

// panel is a run of the command.
type panel struct {
	program, python, fasttext, dir string
	limit                          time.Duration
	done                           map[cell]result
	results                        *os.File
}

// methods in the order of the table. Of treeloss "none" knows nothing of the
// classes, "default" has their names and the taxonomy; "treeloss --loss hxe" and the
// like are trained with these flags.
var methods = []string{"treeloss none", "treeloss default", "LinearSVC", "LogisticRegression", "MultinomialNB", "ComplementNB", "fastText"}

func main() {
	log.SetFlags(0)
	log.SetPrefix("panel: ")
	p := &panel{done: map[cell]result{}}
	flag.StringVar(&p.program, "treeloss", "treeloss", "the treeloss program")
	flag.StringVar(&p.python, "python", "python3", "Python with sklearn")
	flag.StringVar(&p.fasttext, "fasttext", "fasttext", "the fastText program")
	flag.DurationVar(&p.limit, "limit", 10*time.Minute, "time limit of one training")
	shots := flag.String("shots", "1,5,10,0", "rows of a class, separated by commas; 0 takes all")
	seeds := flag.Int("seeds", 5, "draws of few rows; all rows of fewer than 1000 are drawn once")
	only := flag.String("methods", strings.Join(methods, ","), "methods, separated by commas; \"treeloss FLAGS\" takes flags of train")
	path := flag.String("results", "panel.jsonl", "file of results, appended to")
	flag.Parse()
	if err := p.run(flag.Args(), *shots, *seeds, strings.Split(*only, ","), *path); err != nil {
		log.Fatal(err)
	}
}

// run measures all methods on all folders and prints the table. A folder without a
// train.csv is left out.
func (p *panel) run(folders []string, shots string, seeds int, only []string, path string) error {
	if err := p.open(path); err != nil {
		return err
	}
	defer p.results.Close()
	var err error
	if p.dir, err = os.MkdirTemp("", "treeloss-panel"); err != nil {
		return err
	}
	defer os.RemoveAll(p.dir)
	if err := os.WriteFile(filepath.Join(p.dir, "peers.py"), []byte(peersScript), 0o644); err != nil {
		return err
	}
	var all []result
	for _, folder := range folders {
		rows, err := readRows(filepath.Join(folder, "train.csv"))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		for field := range strings.SplitSeq(shots, ",") {
			n, err := strconv.Atoi(field)
			if err != nil || n < 0 {
				return fmt.Errorf("-shots %q, want whole numbers separated by commas", shots)
			}
			// All rows are the same rows for every seed.
			for seed := range seeds {
				if n == 0 && seed > 0 {
					break
				}
				done, err := p.draw(folder, rows, n, uint64(seed+1), only)
				if err != nil {
					return err
				}
				all = append(all, done...)
			}
		}
	}
	printTable(os.Stdout, all)
	return nil
}

// open reads the results so far, a line of JSON each, and leaves the file open: each
// result is written when it is there, so that a run may be broken off at any time.
func (p *panel) open(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	p.results = f
	for d := json.NewDecoder(f); ; {
		var r result
		if err := d.Decode(&r); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: %w; move it away", path, err)
		}
		p.done[r.cell] = r
	}
}

// draw measures the methods on one draw of the rows of a set, those that were not
// measured before. The rows are written once, when they are needed.
func (p *panel) draw(folder string, rows [][]string, shots int, seed uint64, only []string) (out []result, err error) {
	train := ""
	for _, method := range only {
		c := cell{filepath.Base(folder), shots, seed, method}
		r, there := p.done[c]
		if !there {
			if train == "" {
				train = filepath.Join(p.dir, "train.csv")
				if err := writeRows(train, sample(rows, shots, seed)); err != nil {
					return nil, err
				}
			}
			if r, err = p.measure(c, folder, train); err != nil {
				return nil, err
			}
		}
		out = append(out, r)
	}
	return out, nil
}

// measure trains and tests one method and writes the result down. A method that fails
// is a result, too: the table has a dash for it.
func (p *panel) measure(c cell, folder, train string) (result, error) {
	r := result{cell: c}
	test := filepath.Join(folder, "test.csv")
	var err error
	if variant, ours := strings.CutPrefix(c.Method, "treeloss "); ours {
		err = p.treeloss(&r, variant, folder, train, test)
	} else {
		err = p.peer(&r, train, test)
	}
	if err != nil {
		r.Failed = err.Error()
	}
	line, err := json.Marshal(r)
	if err != nil {
		return r, err
	}
	fmt.Fprintf(os.Stderr, "%s\n", line)
	_, err = p.results.Write(append(line, '\n'))
	return r, err
}

// treeloss trains by the program and evaluates on the test rows.
func (p *panel) treeloss(r *result, variant, folder, train, test string) error {
	model := filepath.Join(p.dir, "model")
	args := []string{"train", "--quiet", "--data", train, "--model", model}
	switch taxonomy := filepath.Join(folder, "taxonomy.csv"); {
	case strings.HasPrefix(variant, "--"):
		args = append(args, strings.Fields(variant)...)
	case variant == "none":
		args = append(args, "--sharing", "none", "--names-as-examples", "off")
	default:
		if _, err := os.Stat(taxonomy); err == nil {
			args = append(args, "--taxonomy", taxonomy)
		}
	}
	// What counts is the training alone; evaluate starts anew from the model file.
	_, seconds, megabytes, err := p.command(p.program, args...)
	if err != nil {
		return err
	}
	r.Seconds, r.Megabytes = seconds, megabytes
	text, _, _, err := p.command(p.program, "evaluate", "--quiet", "--json", "--model", model, "--data", test)
	if err != nil {
		return err
	}
	var report struct {
		Accuracy         float64  `json:"accuracy"`
		MacroF1          float64  `json:"macro_f1"`
		CalibrationError *float64 `json:"calibration_error"`
	}
	if err := json.Unmarshal(text, &report); err != nil {
		return err
	}
	r.Accuracy, r.MacroF1 = 100*report.Accuracy, 100*report.MacroF1
	if e := report.CalibrationError; e != nil {
		rate := 100 * *e
		r.CalibrationError = &rate
	}
	return nil
}

// peer trains and tests in Python, which times the training itself: the start of the
// interpreter does not count.
func (p *panel) peer(r *result, train, test string) error {
	text, _, megabytes, err := p.command(p.python, filepath.Join(p.dir, "peers.py"), r.Method, train, test, p.fasttext, p.dir)
	if err != nil {
		return err
	}
	r.Megabytes = megabytes
	return json.Unmarshal(text, r)
}

// command runs a program and returns its standard output, its seconds by the clock and
// its peak memory, that of its children included. One that is not done at the time limit
// is killed with all that it started; of one that fails the last line of its standard error is the reason.
func (p *panel) command(name string, args ...string) (stdout []byte, seconds, megabytes float64, err error) {
	var out, errs bytes.Buffer
	c := exec.Command(name, args...)
	c.Stdout, c.Stderr = &out, &errs
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that what it started is killed with it
	begin := time.Now()
	if err := c.Start(); err != nil {
		return nil, 0, 0, err
	}
	timer := time.AfterFunc(p.limit, func() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) })
	err = c.Wait()
	seconds = time.Since(begin).Seconds()
	if !timer.Stop() {
		return nil, 0, 0, fmt.Errorf("not done after %s", p.limit)
	}
	if err != nil {
		lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
		return nil, 0, 0, fmt.Errorf("%w: %s", err, lines[len(lines)-1])
	}
	usage := c.ProcessState.SysUsage().(*syscall.Rusage)
	return out.Bytes(), seconds, float64(usage.Maxrss) / 1024, nil
}

// readRows reads a CSV file, its header first.
func readRows(path string) ([][]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return rows, nil
}

// writeRows writes a CSV file.
func writeRows(path string, rows [][]string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	err = w.WriteAll(rows)
	return cmp.Or(err, f.Close())
}

// sample draws shots rows of each class, all of a class that has fewer; the header
// stays. A seed draws the same rows of a file each time, and those of fewer shots are
// among those of more.
func sample(rows [][]string, shots int, seed uint64) [][]string {
	if shots == 0 {
		return rows
	}
	label := slices.Index(rows[0], "label")
	taken := map[string]int{}
	out := rows[:1:1]
	// Rows of all classes in one order, of which each class takes its first.
	for _, i := range rand.New(rand.NewPCG(seed, 1)).Perm(len(rows) - 1) {
		row := rows[i+1]
		if taken[row[label]] < shots {
			taken[row[label]]++
			out = append(out, row)
		}
	}
	return out
}

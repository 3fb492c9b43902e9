package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"regexp"
	"time"

	"golang.org/x/sys/unix"

	"github.com/treeloss/treeloss/internal/speed"
)

// suite is what all rows share: the flags, the processes of peers, which are started
// once, and the rows so far.
type suite struct {
	rounds   int
	budget   time.Duration // of timing a side in a round
	python   string
	program  string // treeloss
	openblas string
	data     string // folder of clinc150
	dir      string // for files of the run
	slow     bool
	only     *regexp.Regexp
	peers    map[int]*python // by threads; nil: could not be started
	rows     []row
	meters   map[int]*meter // by threads
}

// row is a line of the table.
type row struct {
	what, ours, peer string
	ratio            float64   // 0: none
	bar              string    // "" is none
	missed           bool      // the bar
	core             *coreRate // nil: not measured
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench: ")
	s := &suite{peers: map[int]*python{}, meters: map[int]*meter{}}
	flag.IntVar(&s.rounds, "rounds", 5, "times that each pair takes turns; rows of milliseconds do so four times as often, for a quarter of the budget")
	flag.DurationVar(&s.budget, "budget", 300*time.Millisecond, "time of one side in one round")
	flag.StringVar(&s.python, "python", "python3", "Python with torch and sklearn")
	flag.StringVar(&s.program, "treeloss", "", "the treeloss program")
	flag.StringVar(&s.openblas, "openblas", "", "the program of the folder openblas")
	flag.StringVar(&s.data, "data", "", "folder with train.csv and test.csv of clinc150")
	flag.BoolVar(&s.slow, "slow", false, "also rows that take minutes")
	only := flag.String("only", "", "regular expression: only the groups that match")
	flag.Parse()
	// An empty expression matches every group.
	var err error
	if s.only, err = regexp.Compile(*only); err != nil {
		log.Fatal(err)
	}
	if s.dir, err = os.MkdirTemp("", "treeloss-bench"); err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(s.dir)
	// A group that cannot be measured is skipped; the others go on.
	for _, group := range []struct {
		name string
		run  func() error
	}{
		{"openblas", s.products}, {"gonum", s.gonum}, {"softmax", s.softmax}, {"step", s.steps}, {"overhead", s.treeSteps},
		{"text", s.text}, {"clinc", s.clinc}, {"covertree", s.coverTree}, {"quickstart", s.quickstart},
	} {
		if !s.only.MatchString(group.name) {
			continue
		}
		log.Printf("%s", group.name)
		if err := group.run(); err != nil {
			log.Printf("%s: skipped: %v", group.name, err)
		}
	}
	for _, p := range s.peers {
		if p != nil {
			p.close()
		}
	}
	s.print(os.Stdout)
}

// print writes the table. What misses its bar is bold: the ratio, or where there is none
// what is ours.
func (s *suite) print(out io.Writer) {
	fmt.Fprintln(out, "| what | ours | peer | ratio | bar | core |\n|---|---|---|---|---|---|")
	for _, r := range s.rows {
		ratio := ""
		if r.ratio > 0 {
			ratio = fmt.Sprintf("%.2f", r.ratio)
		}
		switch {
		case r.missed && ratio != "":
			ratio = "**" + ratio + "**"
		case r.missed:
			r.ours = "**" + r.ours + "**"
		}
		fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s |\n", r.what, r.ours, r.peer, ratio, r.bar, r.core)
	}
}

// add adds a row of which the ratio, peer over ours, should be at least the bar;
// 0 is no bar.
func (s *suite) add(what string, ours, peer float64, show func(float64) string, bar float64) *row {
	r := row{what: what, ours: show(ours), peer: show(peer), ratio: peer / ours}
	if bar > 0 {
		r.bar, r.missed = fmt.Sprintf(">= %g", bar), r.ratio < bar
	}
	return s.addRow(r)
}

// addAtMost adds a row of which a over b should be at most the bar.
func (s *suite) addAtMost(what string, a, b float64, bar float64) *row {
	return s.addRow(row{what: what, ours: seconds(a), peer: seconds(b) + " (ours)", ratio: a / b, bar: fmt.Sprintf("<= %g", bar), missed: a/b > bar})
}

// addRow adds a row and says so in the log, as the table comes at the end.
func (s *suite) addRow(r row) *row {
	s.rows = append(s.rows, r)
	log.Printf("%s: %s, %s: %.2f", r.what, r.ours, r.peer, r.ratio)
	return &s.rows[len(s.rows)-1]
}

// timed returns a side that is work done here, for quietTurns: the median of the calls
// of a quarter of the budget, as there are four times as many rounds.
func (s *suite) timed(clock speed.Clock, work func()) side {
	return func() (float64, error) { return speed.Medians(clock, s.budget/shorter, work)[0], nil }
}

// cpu is the CPU time of this process, of all its threads: where a peer in this process
// takes several, all count.
func cpu() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		log.Fatal(err)
	}
	return time.Duration(t.Nano())
}

// clockOf returns the clock by which a number of threads is timed, and its name in
// peers.py. Several threads are timed by the clock on the wall: their CPU times add up.
func clockOf(threads int) (speed.Clock, string) {
	if threads == 1 {
		return cpu, "cpu"
	}
	return speed.Wall(), "wall"
}

// seconds prints a time with three digits, in s, ms or us.
func seconds(t float64) string {
	switch {
	case t >= 1:
		return fmt.Sprintf("%.3g s", t)
	case t >= 1e-3:
		return fmt.Sprintf("%.3g ms", t*1e3)
	}
	return fmt.Sprintf("%.3g us", t*1e6)
}

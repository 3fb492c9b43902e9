// Command serve measures treeloss serve from a second process, beside a trivial handler
// of net/http that reads the same bodies and answers as many bytes:
//
//	go run ./serve -treeloss PROGRAM -model MODEL -data TEXTS.csv
//
// It asks for the text column of a CSV, one text a request, over -connections kept open,
// each as soon as it has its answer. The two take turns, -rounds times. Each row has the
// requests a second of time of day, and of processor time of the server, which other
// programs on the machine disturb less; percentiles of the time of a request; and the
// memory of the server at the end. All answers must be those of treeloss predict --json.
//
// With -reloads N the model file is replaced so often under the same load. With -hostile
// the server gets what no client should send, between requests that must be answered.
//
// Linux only: processor time and memory are those of /proc.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

type settings struct {
	program, model, data string
	connections, rounds  int
	round                time.Duration
	reloads              int
	hostile              bool
	trivial              int
}

func main() {
	var s settings
	flag.StringVar(&s.program, "treeloss", "treeloss", "the program")
	flag.StringVar(&s.model, "model", "", "a model of texts")
	flag.StringVar(&s.data, "data", "", "CSV with a column text")
	flag.IntVar(&s.connections, "connections", 32, "connections")
	flag.IntVar(&s.rounds, "rounds", 5, "turns of each server")
	flag.DurationVar(&s.round, "round", 4*time.Second, "time of a turn")
	flag.IntVar(&s.reloads, "reloads", 0, "how often to replace the model under load")
	flag.BoolVar(&s.hostile, "hostile", false, "send what no client should")
	flag.IntVar(&s.trivial, "trivial", 0, "for internal use: be the trivial server, with answers of so many bytes")
	flag.Parse()
	err := s.run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

func (s settings) run() error {
	if s.trivial > 0 {
		return trivial(s.trivial)
	}
	questions, err := s.questions()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "serve")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	model := filepath.Join(dir, "m.safetensors")
	if err := copyFile(model, s.model); err != nil {
		return err
	}
	server, err := start(exec.Command(s.program, "serve", "--model", model, "--addr", "127.0.0.1:0", "--log", "json"), filepath.Join(dir, "log"))
	if err != nil {
		return err
	}
	defer server.stop()
	if err := s.check(server, questions); err != nil {
		return err
	}
	switch {
	case s.hostile:
		return s.attack(server, questions)
	case s.reloads > 0:
		return s.reload(server, questions, model)
	}
	size := 0
	for _, q := range questions {
		size += len(q.answer)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	other, err := start(exec.Command(self, "-trivial", strconv.Itoa(size/len(questions))), filepath.Join(dir, "other"))
	if err != nil {
		return err
	}
	defer other.stop()
	fmt.Printf("%d connections, %d texts\n\n| server | requests/s | requests/s of processor time | p50 ms | p99 ms | errors | memory MB |\n|---|---|---|---|---|---|---|\n", s.connections, len(questions))
	var ratios []float64
	for range s.rounds {
		a := load(server, questions, s.connections, time.After(s.round), true)
		a.print("treeloss serve", server)
		b := load(other, questions, s.connections, time.After(s.round), false)
		b.print("trivial handler", other)
		ratios = append(ratios, b.ofProcessor()/a.ofProcessor())
		if a.failed > 0 {
			return a.first
		}
	}
	slices.Sort(ratios)
	fmt.Printf("\nprocessor time of a request, as a multiple of the trivial handler's: %.2f (median; %.2f to %.2f)\n", ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1])
	return nil
}

// question is a request and the answers that predict gives to it.
type question struct {
	request []byte
	answer  []byte // "answers" of the body
}

func copyFile(to, from string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(to+".new", to)
}

// questions reads the texts and has them answered by treeloss predict.
func (s settings) questions() ([]question, error) {
	f, err := os.Open(s.data)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, err
	}
	column := slices.Index(rows[0], "text")
	if column < 0 {
		return nil, fmt.Errorf("%s: no column text", s.data)
	}
	predict := exec.Command(s.program, "predict", "--quiet", "--json", "--model", s.model, "--text", "text", s.data)
	predict.Stderr = os.Stderr
	out, err := predict.Output()
	if err != nil {
		return nil, err
	}
	answers := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	if len(answers) != len(rows)-1 {
		return nil, fmt.Errorf("%d answers for %d texts", len(answers), len(rows)-1)
	}
	var list []question
	for i, row := range rows[1:] {
		body, err := json.Marshal(map[string]string{"text": row[column]})
		if err != nil {
			return nil, err
		}
		request := fmt.Appendf(nil, "POST /v1/predict HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		list = append(list, question{request, answers[i]})
	}
	return list, nil
}

// server is a process that answers.
type server struct {
	command *exec.Cmd
	address string
}

// start runs a server that writes where it serves to its standard error.
func start(c *exec.Cmd, log string) (*server, error) {
	to, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer to.Close()
	c.Stderr = to
	if err := c.Start(); err != nil {
		return nil, err
	}
	s := &server{command: c}
	for range 1000 {
		time.Sleep(10 * time.Millisecond)
		text, err := os.ReadFile(log)
		if err != nil {
			return nil, err
		}
		if _, rest, found := strings.Cut(string(text), "serving on http://"); found {
			if address, _, whole := strings.Cut(rest, "\n"); whole {
				s.address = address
				return s, nil
			}
		}
	}
	s.stop()
	return nil, fmt.Errorf("%v does not serve; %s has its log", c.Args, log)
}

func (s *server) stop() {
	s.command.Process.Signal(syscall.SIGTERM)
	s.command.Wait()
}

// processor returns the processor time so far, in seconds.
func (s *server) processor() float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.command.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100
}

// memory returns a line of /proc/PID/status in MB: VmRSS, or VmHWM, the most so far.
func (s *server) memory(line string) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.command.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), line+":")
	kb, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	return kb / 1024
}

// connection is one that is kept open.
type connection struct {
	net.Conn
	in   *bufio.Reader
	body []byte
}

func dial(address string) (*connection, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &connection{Conn: c, in: bufio.NewReader(c)}, nil
}

// ask sends a request and returns status and body of the answer, valid until the next.
func (c *connection) ask(request []byte) (status int, body []byte, err error) {
	if _, err := c.Write(request); err != nil {
		return 0, nil, err
	}
	length := 0
	for first := true; ; first = false {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return 0, nil, err
		}
		switch {
		case first:
			status, _ = strconv.Atoi(string(line[9:12]))
		case len(line) == 2:
			c.body = slices.Grow(c.body[:0], length)[:length]
			_, err := io.ReadFull(c.in, c.body)
			return status, c.body, err
		case len(line) > 16 && strings.EqualFold(string(line[:15]), "Content-Length:"):
			length, _ = strconv.Atoi(strings.TrimSpace(string(line[15:])))
		}
	}
}

// is tells whether a body has the answer of predict.
func (q question) is(body []byte) bool {
	_, rest, _ := bytes.Cut(body, []byte(`"answers":[`))
	return bytes.HasPrefix(rest, q.answer) && len(rest) == len(q.answer)+len("]}\n")
}

// check asks each question once.
func (s settings) check(server *server, questions []question) error {
	c, err := dial(server.address)
	if err != nil {
		return err
	}
	defer c.Close()
	for i, q := range questions {
		status, body, err := c.ask(q.request)
		if err != nil || status != 200 || !q.is(body) {
			return fmt.Errorf("text %d: %d %s %v, want %s", i+1, status, body, err, q.answer)
		}
	}
	fmt.Printf("%d answers are those of treeloss predict --json, to the byte\n", len(questions))
	return nil
}

// result is what a turn of load was like.
type result struct {
	seconds, processor float64
	times              []time.Duration // of requests, sorted
	failed             int
	first              error
}

func (r result) ofProcessor() float64 { return float64(len(r.times)) / r.processor }

func (r result) print(name string, s *server) {
	at := func(share float64) float64 {
		return float64(r.times[int(share*float64(len(r.times)-1))].Microseconds()) / 1000
	}
	fmt.Printf("| %s | %.0f | %.0f | %.2f | %.2f | %d | %.1f |\n", name, float64(len(r.times))/r.seconds, r.ofProcessor(), at(0.5), at(0.99), r.failed, s.memory("VmRSS"))
}

// load asks until over.
func load(s *server, questions []question, connections int, over <-chan time.Time, checked bool) result {
	var r result
	var mutex sync.Mutex
	var stop atomic.Bool
	var group sync.WaitGroup
	begin, used := time.Now(), s.processor()
	for n := range connections {
		group.Go(func() {
			var times []time.Duration
			failed, first := 0, error(nil)
			c, err := dial(s.address)
			for i := n; err == nil && !stop.Load(); i += connections {
				q := questions[i%len(questions)]
				from := time.Now()
				status, body, failure := c.ask(q.request)
				times = append(times, time.Since(from))
				if err = failure; err == nil && (status != 200 || checked && !q.is(body)) {
					failed, first = failed+1, fmt.Errorf("%d %s, want %s", status, body, q.answer)
				}
			}
			if c != nil {
				c.Close()
			}
			if err != nil {
				failed, first = failed+1, err
			}
			mutex.Lock()
			defer mutex.Unlock()
			r.times = append(r.times, times...)
			r.failed += failed
			if r.first == nil {
				r.first = first
			}
		})
	}
	<-over
	stop.Store(true)
	group.Wait()
	r.seconds, r.processor = time.Since(begin).Seconds(), s.processor()-used
	slices.Sort(r.times)
	return r
}

// reload replaces the model under load.
func (s settings) reload(server *server, questions []question, model string) error {
	over := make(chan time.Time)
	var failed error
	done := make(chan result)
	go func() { done <- load(server, questions, s.connections, over, true) }()
	before := server.memory("VmRSS")
	for i := range s.reloads {
		if i%2 == 0 {
			failed = errors.Join(failed, copyFile(model, s.model))
		}
		// A signal that comes before the one before it is done is one with that.
		server.command.Process.Signal(syscall.SIGHUP)
		for n := 0; n < i+2 && failed == nil; {
			var err error
			n, err = reloads(server)
			failed = errors.Join(failed, err)
		}
	}
	close(over)
	r := <-done
	if failed != nil {
		return failed
	}
	fmt.Printf("%d reloads under load: %d requests, %d failed, p99 %.1f ms, memory %.1f MB before, %.1f after, %.1f at most\n",
		s.reloads, len(r.times), r.failed, float64(r.times[len(r.times)*99/100].Microseconds())/1000, before, server.memory("VmRSS"), server.memory("VmHWM"))
	return r.first
}

// reloads asks the server how often it has opened its model.
func reloads(s *server) (int, error) {
	answer, err := http.Get("http://" + s.address + "/metrics")
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	_, rest, _ := strings.Cut(string(text), `result="done"} `)
	line, _, _ := strings.Cut(rest, "\n")
	count, _ := strconv.Atoi(line)
	return count, err
}

// trivial is a server that reads a body and answers with as many bytes as a model would.
func trivial(size int) error {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	answer := bytes.Repeat([]byte("a"), size)
	fmt.Fprintf(os.Stderr, "serving on http://%s\n", l.Addr())
	return http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
		w.Write(answer)
	}))
}

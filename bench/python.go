package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
)

// python is a process of peers.py, which answers a line with a line. It is started once:
// to import PyTorch takes seconds, and its first steps warm up.
type python struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// peer returns the process for a number of threads. It must be one that has the
// package.
func (s *suite) peer(threads int, pkg string) (*python, error) {
	// A start that failed is remembered as nil, and not tried again.
	p, started := s.peers[threads]
	if !started {
		var err error
		if p, err = startPython(s.python, threads); err != nil {
			s.peers[threads] = nil
			return nil, err
		}
		s.peers[threads] = p
	}
	if p == nil {
		return nil, fmt.Errorf("%s cannot be started", s.python)
	}
	// A package that is missing is found here, before anything is measured.
	version, err := p.ask(map[string]any{"task": "version", "package": pkg})
	if err != nil || version["version"] == nil {
		return nil, fmt.Errorf("%s has no %s; set PYTHON to one that has", s.python, pkg)
	}
	return p, nil
}

// startPython starts peers.py. OpenMP and OpenBLAS read their number of threads once,
// from the environment, so each number needs a process of its own.
func startPython(name string, threads int) (*python, error) {
	p := &python{cmd: exec.Command(name, "peers.py")}
	n := strconv.Itoa(threads)
	p.cmd.Env = append(os.Environ(), "OMP_NUM_THREADS="+n, "OPENBLAS_NUM_THREADS="+n)
	p.cmd.Stderr = os.Stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewScanner(out)
	return p, p.cmd.Start()
}

// ask sends a task, one line of JSON, and returns the answer, which is another. An
// answer with an error is one.
func (p *python) ask(task map[string]any) (answer map[string]any, err error) {
	b, err := json.Marshal(task)
	if err != nil {
		return nil, err
	}
	if _, err := p.in.Write(append(b, '\n')); err != nil {
		return nil, err
	}
	if !p.out.Scan() {
		return nil, errors.Join(errors.New("peers.py ended"), p.out.Err())
	}
	if err := json.Unmarshal(p.out.Bytes(), &answer); err != nil {
		return nil, err
	}
	if message, failed := answer["error"]; failed {
		return nil, fmt.Errorf("peers.py: %v", message)
	}
	return answer, nil
}

// side returns a task as one side of a pair; its answer has the seconds of a call.
func (p *python) side(task map[string]any) side {
	return func() (float64, error) {
		answer, err := p.ask(task)
		if err != nil {
			return 0, err
		}
		t, _ := answer["seconds"].(float64)
		return t, nil
	}
}

// close ends the process: peers.py stops at the end of its input.
func (p *python) close() {
	p.in.Close()
	p.cmd.Wait()
}

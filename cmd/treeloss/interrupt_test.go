package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A signal has the exit status and the word of its own, and no word of Go.
func TestInterruptionInWords(t *testing.T) {
	failed := fmt.Errorf("training on a.csv: stopped in epoch 3: %w", context.Canceled)
	for _, tc := range []struct {
		cause  error
		err    error
		status int
		want   string
	}{
		{interruption{syscall.SIGINT}, failed, 130, "training on a.csv: stopped in epoch 3: interrupted"},
		{interruption{syscall.SIGTERM}, failed, 143, "training on a.csv: stopped in epoch 3: terminated"},
		{interruption{syscall.SIGTERM}, errors.New("a pipe broke"), 143, "terminated: a pipe broke"},
		{nil, failed, 130, "training on a.csv: stopped in epoch 3: interrupted"},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(tc.cause)
		i, yes := interruptionOf(ctx, tc.err)
		if got := i.inWords(tc.err.Error()); !yes || i.status() != tc.status || got != tc.want {
			t.Errorf("%v: %v, status %d, %q, want %d, %q", tc.cause, yes, i.status(), got, tc.status, tc.want)
		}
	}
	if _, yes := interruptionOf(t.Context(), errors.New("no such file")); yes {
		t.Error("an error without a signal counts as one")
	}
}

// A command that does not look at its context is left behind.
func TestPatiently(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	never := make(chan struct{})
	defer close(never)
	if err := patiently(ctx, time.Millisecond, func() error { <-never; return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("left behind with %v", err)
	}
	want := errors.New("ended by itself")
	if err := patiently(ctx, time.Hour, func() error { return want }); err != want {
		t.Errorf("got %v", err)
	}
}

// SIGTERM in a long training ends the process with 143.
func TestTerminated(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self, "train", "--data", desk, "--trainer", "sgd", "--epochs", "1000000", "--model", t.TempDir()+"/m.st")
	c.Env = append(os.Environ(), asProgram+"=1")
	c.WaitDelay = time.Minute
	log, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for b := make([]byte, 1); !strings.Contains(text.String(), "memory: about"); {
		if _, err := log.Read(b); err != nil {
			t.Fatalf("%v after %q", err, text.String())
		}
		text.Write(b)
	}
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Skipf("this system sends no SIGTERM to a process: %v", err)
	}
	if _, err := io.Copy(&text, log); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if got := text.String(); c.ProcessState.ExitCode() != 143 || !strings.Contains(got, "terminated") || strings.Contains(got, "cancel") {
		t.Errorf("status %d, %q; want 143 and a word", c.ProcessState.ExitCode(), got)
	}
}

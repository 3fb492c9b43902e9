package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// interruption is why a context was cancelled: the signal that the process was sent.
type interruption struct{ syscall.Signal }

// Error says what a person sees in the place of "context canceled".
func (i interruption) Error() string {
	if i.Signal == syscall.SIGTERM {
		return "terminated"
	}
	return "interrupted"
}

// status is the exit status that shells give to a program ended by the signal: 130
// for Ctrl-C, 143 for SIGTERM.
func (i interruption) status() int { return 128 + int(i.Signal) }

// untilSignal returns a context that Ctrl-C or SIGTERM cancels, and what ends the
// waiting for them. A second signal ends the program at once.
func untilSignal() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		s, _ := (<-signals).(syscall.Signal)
		signal.Stop(signals)
		cancel(interruption{s})
	}()
	return ctx, func() { signal.Stop(signals) }
}

// interruptionOf returns the interruption that made a command end with err. Tests
// cancel without a signal, which counts as Ctrl-C.
func interruptionOf(ctx context.Context, err error) (i interruption, yes bool) {
	if !errors.Is(err, context.Canceled) && ctx.Err() == nil {
		return i, false
	}
	if i, yes = errors.AsType[interruption](context.Cause(ctx)); yes {
		return i, true
	}
	return interruption{syscall.SIGINT}, true
}

// inWords puts the interruption into the text of an error.
func (i interruption) inWords(text string) string {
	text = strings.ReplaceAll(text, context.Canceled.Error(), i.Error())
	if !strings.Contains(text, i.Error()) {
		text = i.Error() + ": " + text
	}
	return text
}

// patience is how long an interrupted command has to come to an end, such as that of
// a step of a network. It is less than the 5 s after which people reach for kill -9.
const patience = 4 * time.Second

// patiently runs a command. One that does not end when ctx is cancelled is left: what it
// writes takes the place of a file only when it is whole.
func patiently(ctx context.Context, wait time.Duration, command func() error) error {
	done := make(chan error, 1)
	go func() { done <- command() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(wait):
		return context.Canceled
	}
}

//go:build linux || darwin

package main

import (
	"os"
	"os/signal"
	"strconv"
	"syscall"
)

// fileLimit is the environment variable with the longest file, in bytes, that
// the program may write: a disk without room, as far as a test can have one.
const fileLimit = "TREELOSS_TEST_FILE_LIMIT"

func limitFiles() {
	n, err := strconv.ParseUint(os.Getenv(fileLimit), 10, 64)
	if err != nil {
		return
	}
	signal.Ignore(syscall.SIGXFSZ) // the write then fails instead
	limit := syscall.Rlimit{Cur: n, Max: n}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		panic(err)
	}
}

//go:build !linux

package main

// onOneCore does the work: only Linux lets a program choose its core.
func onOneCore(work func() error) error { return work() }

//go:build !linux

package main

// onOneCore does the work: only Linux lets a program choose its core. Ratios of a machine
// whose cores differ have more noise then.
func onOneCore(work func() error) error { return work() }

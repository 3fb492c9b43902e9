//go:build !linux && !darwin

package main

const fileLimit = "TREELOSS_TEST_FILE_LIMIT"

func limitFiles() {}

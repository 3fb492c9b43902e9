module github.com/treeloss/treeloss/bench/openblas

go 1.26.8

require github.com/treeloss/treeloss v0.0.0

require (
	github.com/klauspost/compress v1.20.3 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/term v0.47.0 // indirect
	golang.org/x/text v0.35.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)

replace github.com/treeloss/treeloss => ../..

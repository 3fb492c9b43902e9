module github.com/treeloss/treeloss/bench/openblas

go 1.26.8

require github.com/treeloss/treeloss v0.0.0

require golang.org/x/sys v0.49.0 // indirect

replace github.com/treeloss/treeloss => ../..

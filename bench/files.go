package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/treeloss/treeloss/dataset"
)

// fastTextFile writes a CSV as fastText reads it, in lower case and with
// punctuation apart, as its tutorial advises.
func fastTextFile(from, to string) error {
	r, err := dataset.Open(from, dataset.Options{})
	if err != nil {
		return err
	}
	defer r.Close()
	var out bytes.Buffer
	apart := strings.NewReplacer(".", " . ", "!", " ! ", "?", " ? ", ",", " , ", "'", " ' ", "(", " ( ", ")", " ) ", "\n", " ")
	for ex, err := range r.All() {
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "__label__%s %s\n", strings.ReplaceAll(ex.Label, " ", "_"), apart.Replace(strings.ToLower(ex.Text)))
	}
	return os.WriteFile(to, out.Bytes(), 0o600)
}

// writeFloats writes numbers as they lie in memory of most machines, for numpy.fromfile.
func writeFloats(path string, x []float32) error {
	data, err := binary.Append(nil, binary.LittleEndian, x)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

// maxMemory returns the most memory that a process that has ended took, in bytes, 0
// where the system does not say. Linux counts it in KiB.
func maxMemory(cmd *exec.Cmd) int64 {
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return int64(usage.Maxrss) << 10
}

// exponent returns p of t = c k^p, from the times of two sizes.
func exponent(t0, t1, k0, k1 float64) float64 { return math.Log(t1/t0) / math.Log(k1/k0) }

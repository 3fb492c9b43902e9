package kernel

import (
	"bufio"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestAVX2KernelsUseItsRegisters reads the assembly: registers 16 to 31, Z and K
// registers are AVX-512's. A processor without them ends the program at their
// first use, which no test sees on one that has them.
func TestAVX2KernelsUseItsRegisters(t *testing.T) {
	file, err := os.Open("kernel_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	foreign := regexp.MustCompile(`\b(Z\d+|K\d|[XY](1[6-9]|2\d|3[01]))\b`)
	kernel, kernels := "", 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := lines.Text()
		if name, ok := strings.CutPrefix(line, "TEXT ·"); ok {
			kernel, _, _ = strings.Cut(name, "(")
			if strings.HasSuffix(kernel, "AVX2") {
				kernels++
			}
		}
		if strings.HasSuffix(kernel, "AVX2") && foreign.MatchString(line) {
			t.Errorf("%s: %s", kernel, strings.TrimSpace(line))
		}
	}
	if kernels == 0 {
		t.Error("no AVX2 kernel found")
	}
}

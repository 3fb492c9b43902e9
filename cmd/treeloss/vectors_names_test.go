package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestVectorsNames(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	vectors := file("v.txt", "5 2\ngreat 2 0\nwhite 0 2\nshark 4 4\ncrane 1 -1\nman-eater 8 8\n")
	names := file("map.txt", "n01484850 great white shark, white shark, man-eater\nn02012849 crane\nn03126707 crane\n")
	call := []string{"vectors", "names", "--vectors", vectors, "--names", names}
	if o := succeed(t, call...); o.out != "3 2\nn01484850 2 2\nn02012849 1 -1\nn03126707 1 -1\n" {
		t.Errorf("first names: %q", o.out)
	}
	// (2,2), (2,3) and (8,8)
	if o := succeed(t, append(call, "--synonyms", "all")...); !strings.Contains(o.out, "n01484850 4 4.3333335\n") {
		t.Errorf("all names: %q", o.out)
	}
	unknown := file("more.csv", "wnid,words\nn01484850,great shark\nn00000001,zyx\nn00000002,great zyx\n")
	call[len(call)-1] = unknown
	refuseCall(t, "(--unknown)", call...)
	o := succeed(t, append(call, "--unknown", "drop")...)
	if o.out != "1 2\nn01484850 3 2\n" || strings.Count(o.log, "skipped, no vector") != 2 {
		t.Errorf("without unknown ones: %q, %q", o.out, o.log)
	}
	for says, args := range map[string][]string{
		"--vectors":           {"--names", names},
		"--names":             {"--vectors", vectors},
		"want first or all":   {"--vectors", vectors, "--names", names, "--synonyms", "some"},
		"want error, average": {"--vectors", vectors, "--names", names, "--unknown", "root"},
		"no such file":        {"--vectors", vectors, "--names", names + "x"},
		"want a wnid":         {"--vectors", vectors, "--names", vectors},
		"none of the 1":       {"--vectors", vectors, "--names", file("one.txt", "n00000001 zyx\n"), "--unknown", "drop"},
	} {
		refuseCall(t, says, append([]string{"vectors", "names"}, args...)...)
	}
}

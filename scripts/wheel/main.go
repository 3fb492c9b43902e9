// Command wheel writes the Python package of the folder python as wheels, one a platform,
// each with the static program inside, and the licence texts of what that links:
//
//	go run ./scripts/wheel -version 0.1.0 -out dist
//
// It runs in the root of the repository, and needs Go alone. The same commit, version and
// release of Go give the same bytes.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/treeloss/treeloss/scripts/internal/licences"
)

// platform is what Go builds for, and what Python calls it.
type platform struct{ goos, goarch, tag string }

// platforms lists what wheels are made for. The program is static, so that one file does
// for Linux with glibc and with musl. The oldest macOS is that of Go 1.26.
var platforms = []platform{
	{"linux", "amd64", "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64"},
	{"linux", "arm64", "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64"},
	{"darwin", "amd64", "macosx_12_0_x86_64"},
	{"darwin", "arm64", "macosx_12_0_arm64"},
	{"windows", "amd64", "win_amd64"},
	{"windows", "arm64", "win_arm64"},
}

func main() {
	version := flag.String("version", "0.0.0", "version of the wheels, as PEP 440 has it")
	out := flag.String("out", "dist", "folder for the wheels")
	only := flag.String("platform", "all", "platforms, separated by commas: all, host, linux/amd64 ...")
	flag.Parse()
	if err := run(*version, *out, *only); err != nil {
		fmt.Fprintln(os.Stderr, "wheel:", err)
		os.Exit(1)
	}
}

// run writes the wheels, and prints their paths.
func run(version, out, only string) error {
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	if err := checkVersion(version); err != nil {
		return err
	}
	if _, err := sources("python"); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "wheel")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	for _, p := range chosen {
		program := filepath.Join(folder, p.program())
		if err := build(p, program); err != nil {
			return err
		}
		terms, err := licences.Texts(".", "./cmd/treeloss", licences.Platform{OS: p.goos, Arch: p.goarch})
		if err != nil {
			return err
		}
		files, err := contents("python", ".", p, version, program, terms)
		if err != nil {
			return err
		}
		path := filepath.Join(out, p.wheel(version))
		if err := write(path, files); err != nil {
			return err
		}
		fmt.Println(path)
	}
	return nil
}

// choose returns the platforms that a flag names.
func choose(names string) ([]platform, error) {
	var chosen []platform
	for name := range strings.SplitSeq(names, ",") {
		if name == "all" {
			return platforms, nil
		}
		if name == "host" {
			name = runtime.GOOS + "/" + runtime.GOARCH
		}
		i := slices.IndexFunc(platforms, func(p platform) bool { return p.goos+"/"+p.goarch == name })
		if i < 0 {
			return nil, fmt.Errorf("no wheel is made for %q; platforms are all, host, linux/amd64, linux/arm64, darwin/amd64, darwin/arm64, windows/amd64, windows/arm64", name)
		}
		chosen = append(chosen, platforms[i])
	}
	return chosen, nil
}

// checkVersion refuses what PEP 440 does not have in its normal form, which is the one
// that may stand in a file name.
func checkVersion(version string) error {
	if regexp.MustCompile(`^\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?(\+[a-z0-9]+(\.[a-z0-9]+)*)?$`).MatchString(version) {
		return nil
	}
	return fmt.Errorf("version %q, want one of PEP 440 such as 1.2.0, 1.2.0rc1 or 1.2.0.dev3", version)
}

// program is the file name of the program inside.
func (p platform) program() string {
	if p.goos == "windows" {
		return "treeloss.exe"
	}
	return "treeloss"
}

// wheel is the file name of the wheel (PEP 427): any Python 3, no interface of C.
func (p platform) wheel(version string) string {
	return "treeloss-" + version + "-py3-none-" + p.tag + ".whl"
}

// build makes the static program of a platform, without paths of this machine in it.
func build(p platform, path string) error {
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=auto", "-ldflags=-s -w -buildid=", "-o", path, "./cmd/treeloss")
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.goos, "GOARCH="+p.goarch)
	said, err := c.CombinedOutput()
	if err != nil {
		return fmt.Errorf("building for %s/%s: %s", p.goos, p.goarch, cmp.Or(strings.TrimSpace(string(said)), err.Error()))
	}
	return nil
}

package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// pack writes the wheel of a platform with a program that is a few bytes.
func pack(t *testing.T, p platform) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), p.program())
	if err := os.WriteFile(program, []byte("a program"), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := contents("../../python", "../..", p, "1.2.0rc1", program, []byte("terms"))
	path := filepath.Join(t.TempDir(), p.wheel("1.2.0rc1"))
	if err := errors.Join(err, write(path, files)); err != nil {
		t.Fatal(err)
	}
	return path
}

// A wheel is the same bytes each time, its RECORD is right, and its program may be
// executed.
func TestWheel(t *testing.T) {
	for _, p := range platforms {
		path := pack(t, p)
		data, err := os.ReadFile(path)
		again, err2 := os.ReadFile(pack(t, p))
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(data, again) {
			t.Errorf("%s: other bytes the second time", path)
		}
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]string{}
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			found[f.Name] = string(b)
			if executable := f.Mode()&0o111 != 0; executable != strings.HasPrefix(f.Name, "treeloss/bin/") {
				t.Errorf("%s: mode %v", f.Name, f.Mode())
			}
		}
		const info = "treeloss-1.2.0rc1.dist-info/"
		listed := strings.Split(strings.TrimSpace(found[info+"RECORD"]), "\n")
		if len(listed) != len(found) {
			t.Errorf("RECORD has %d lines for %d files", len(listed), len(found))
		}
		for _, line := range listed {
			name, rest, _ := strings.Cut(line, ",")
			sum := sha256.Sum256([]byte(found[name]))
			if want := "sha256=" + base64.RawURLEncoding.EncodeToString(sum[:]); !strings.HasPrefix(rest, want) && name != info+"RECORD" {
				t.Errorf("RECORD: %s, want %s", line, want)
			}
		}
		for name, want := range map[string]string{
			"treeloss/bin/" + p.program():  "a program",
			"treeloss/__init__.py":         `__version__ = "1.2.0rc1"`,
			"treeloss/classifier.py":       "class TreeLossClassifier",
			info + "METADATA":              "\nVersion: 1.2.0rc1\n",
			info + "WHEEL":                 "\nTag: py3-none-" + p.tag[strings.LastIndex(p.tag, ".")+1:] + "\n",
			info + "entry_points.txt":      "treeloss = treeloss.__main__:main",
			info + "licenses/LICENSE":      "Apache License",
			info + "licenses/LICENSES.txt": "terms",
		} {
			if !strings.Contains(found[name], want) {
				t.Errorf("%s: %s is %.200q, want %q in it", path, name, found[name], want)
			}
		}
	}
}

func TestArguments(t *testing.T) {
	for _, good := range []string{"1.0", "0.0.0", "1.2.0rc1", "1.2.post1", "1.2.dev3", "0.0.0.dev0+g12ab"} {
		if err := checkVersion(good); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"", "v1.0", "1.0-2", "1..0", "../x", "1.0+A"} {
		if checkVersion(bad) == nil {
			t.Errorf("version %q is allowed", bad)
		}
	}
	if _, err := choose("plan9/amd64"); err == nil {
		t.Error("a wheel for Plan 9")
	}
	if p, err := choose("linux/amd64,windows/arm64"); err != nil || len(p) != 2 {
		t.Errorf("%v, %v", p, err)
	}
	if err := run("1.0", t.TempDir(), "host"); err == nil || !strings.Contains(err.Error(), "root of the repository") {
		t.Errorf("in another folder: %v", err)
	}
}

// program builds the program once for all tests.
var program = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "wheel-test")
	if err != nil {
		return "", err
	}
	p := platform{runtime.GOOS, runtime.GOARCH, ""}
	path := filepath.Join(folder, p.program())
	c := exec.Command("go", "build", "-o", path, "../../cmd/treeloss")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	said, err := c.CombinedOutput()
	if err != nil {
		return "", errors.Join(err, errors.New(string(said)))
	}
	return path, nil
})

func TestMain(m *testing.M) {
	status := m.Run()
	if path, err := program(); err == nil {
		os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(status)
}

// pythons are the programs called python3 here: that of the path, and Debian's, which
// has its packages.
func pythons(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		said, err := exec.Command(name, "-c", "import sys; assert sys.version_info >= (3, 9); print(sys.executable)").Output()
		if path := strings.TrimSpace(string(said)); err == nil && !slices.Contains(found, path) {
			found = append(found, path)
		}
	}
	if len(found) == 0 {
		t.Skip("no python3 here: install Python 3.9 or later, and python3-sklearn and python3-pandas for all tests")
	}
	return found
}

// The tests of the package pass: all with the last Python, Debian's where it is there, and
// those that need no other package with each; with -short only these, with one.
func TestPackage(t *testing.T) {
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	all := pythons(t)
	for i, python := range all {
		args := []string{"-W", "error::ResourceWarning", "-m", "unittest", "tests.test_classifier"}
		if i == len(all)-1 && !testing.Short() {
			args = append(args[:4], "discover", "-s", "tests", "-t", ".")
		}
		c := exec.Command(python, args...)
		c.Dir = "../../python"
		c.Env = append(os.Environ(), "TREELOSS_PROGRAM="+path, "PYTHONDONTWRITEBYTECODE=1")
		if said, err := c.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", python, err, said)
		} else if lines := strings.Split(strings.TrimSpace(string(said)), "\n"); len(lines) > 0 {
			t.Logf("%s: %s", python, lines[len(lines)-1])
		}
		if testing.Short() {
			return
		}
	}
}

// A wheel installs without a network, by pip or by unpacking it, and needs no program but
// its own.
func TestInstalled(t *testing.T) {
	if testing.Short() {
		t.Skip("packs 47 MB: left out by -short")
	}
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	p, err := choose("host")
	if err != nil {
		t.Skipf("no wheel is made for the machine that this runs on: %v", err)
	}
	files, err := contents("../../python", "../..", p[0], "1.2.0", path, nil)
	wheel := filepath.Join(t.TempDir(), p[0].wheel("1.2.0"))
	if err := errors.Join(err, write(wheel, files)); err != nil {
		t.Fatal(err)
	}
	for _, python := range pythons(t) {
		for _, how := range [][]string{{"pip", "install", "--quiet", "--no-index", "--no-cache-dir", "--target"}, {"zipfile", "-e"}} {
			target := t.TempDir()
			args := append([]string{"-m"}, how...)
			if how[0] == "pip" {
				if exec.Command(python, "-m", "pip", "--version").Run() != nil {
					t.Logf("%s has no pip", python)
					continue
				}
				args = append(args, target, wheel)
			} else {
				args = append(args, wheel, target)
			}
			if said, err := exec.Command(python, args...).CombinedOutput(); err != nil {
				t.Fatalf("%s %v: %v\n%s", python, args, err, said)
			}
			c := exec.Command(python, "-c", `
import treeloss
m = treeloss.TreeLossClassifier().fit(["a card", "my card", "a pin", "my pin"] * 3, ["card", "card", "pin", "pin"] * 3)
print(treeloss.__version__, *m.predict(["the card"]))
`)
			c.Env = []string{"PYTHONPATH=" + target, "PATH=", "PYTHONDONTWRITEBYTECODE=1", "HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir()}
			if said, err := c.CombinedOutput(); err != nil || string(said) != "1.2.0 card\n" {
				t.Errorf("%s, by %s: %v, %q", python, how[0], err, said)
			}
			c = exec.Command(python, "-m", "treeloss", "--version")
			c.Env = []string{"PYTHONPATH=" + target, "PATH=", "PYTHONDONTWRITEBYTECODE=1"}
			if said, err := c.CombinedOutput(); err != nil || !strings.HasPrefix(string(said), "treeloss version") {
				t.Errorf("%s -m treeloss, by %s: %v, %q", python, how[0], err, said)
			}
		}
	}
}

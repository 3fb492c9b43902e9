// Package licences collects the licence texts of what a program links: of Go itself, and
// of each module the files that its authors put beside their packages. Most licences ask
// that their text goes with every copy of the program, so releases and wheels hold them.
package licences

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// legal is how files with terms are called.
var legal = regexp.MustCompile(`(?i)^(un)?(licen[cs]es?|copying|copyright|notice|patents|authors|contributors)([-._].*)?$`)

// license is how at least one of them is called.
var license = regexp.MustCompile(`(?i)licen[cs]e|copying`)

// code ends the names of files that are no text.
var code = regexp.MustCompile(`(?i)\.(go|s|h|c|tmpl|html)$`)

// Platform is what Go builds for.
type Platform struct{ OS, Arch string }

// Texts returns the texts for a main package, as go build has it on some platforms, each
// under the name and version of its module, in their order. Root is the folder of the
// repository, whose own licence is left out. A module without any is an error that names it.
// It costs a call of go list for each platform.
func Texts(root, main string, platforms ...Platform) ([]byte, error) {
	packages := map[string]module{} // folder to what it belongs to
	for _, p := range platforms {
		if err := list(root, main, p, packages); err != nil {
			return nil, err
		}
	}
	files := map[module]map[string]bool{}
	for folder, m := range packages {
		if files[m] == nil {
			files[m] = map[string]bool{}
		}
		if err := m.find(folder, files[m]); err != nil {
			return nil, err
		}
	}
	var text bytes.Buffer
	byName := func(a, b module) int { return strings.Compare(a.name, b.name) }
	for _, m := range slices.SortedFunc(maps.Keys(files), byName) {
		if err := m.write(&text, files[m]); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}

// module is a module that is linked, or the standard library.
type module struct{ name, folder string }

// list adds the packages of main on a platform.
func list(root, main string, p Platform, packages map[string]module) error {
	c := exec.Command("go", "list", "-deps", "-f", `{{if .Standard}}{{else if not .Module.Main}}{{.Dir}}	{{.Module.Path}} {{.Module.Version}}	{{.Module.Dir}}{{end}}`, main)
	c.Dir, c.Env = root, append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.OS, "GOARCH="+p.Arch)
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		return fmt.Errorf("listing the packages of %s: %s", main, strings.TrimSpace(said.String()+" "+err.Error()))
	}
	for line := range strings.Lines(string(out)) {
		if f := strings.Split(strings.TrimSpace(line), "\t"); len(f) == 3 {
			packages[f[0]] = module{f[1], f[2]}
		}
	}
	goRoot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	folder := strings.TrimSpace(string(goRoot))
	packages[folder] = module{"Go, its standard library and runtime", folder}
	return nil
}

// find adds the files with terms in a folder and those above it, up to the module's.
func (m module) find(folder string, files map[string]bool) error {
	for {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return err
		}
		for _, e := range entries {
			switch path := filepath.Join(folder, e.Name()); {
			case !legal.MatchString(e.Name()) || code.MatchString(e.Name()):
			case e.IsDir():
				texts, err := filepath.Glob(filepath.Join(path, "*.txt"))
				if err != nil {
					return err
				}
				for _, text := range texts {
					files[text] = true
				}
			case e.Type().IsRegular():
				files[path] = true
			}
		}
		if folder == m.folder || folder == filepath.Dir(folder) {
			return nil
		}
		folder = filepath.Dir(folder)
	}
}

// write writes the texts of a module, a shorter path first.
func (m module) write(out *bytes.Buffer, files map[string]bool) error {
	paths := slices.SortedFunc(maps.Keys(files), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	if !slices.ContainsFunc(paths, func(path string) bool { return license.MatchString(filepath.Base(path)) }) {
		return fmt.Errorf("%s has no licence text beside its packages, so nobody may be given the program; ask its authors, or leave it out", m.name)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(m.folder, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s\n%s: %s\n\n%s\n\n", strings.Repeat("=", 80), m.name, filepath.ToSlash(name), bytes.TrimSpace(text))
	}
	return nil
}

package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/treeloss/treeloss/internal/atomicfile"
)

// file is an entry of a wheel.
type file struct {
	name string
	data []byte
	mode os.FileMode
}

// contents are the files of a wheel (PEP 427, core metadata 2.1): the package, the program
// inside it, and the folder dist-info, whose RECORD lists all others with their SHA-256.
func contents(python, root string, p platform, version, program string, terms []byte) ([]file, error) {
	var files []file
	add := func(name string, data []byte, mode os.FileMode) { files = append(files, file{name, data, mode}) }
	modules, err := sources(python)
	if err != nil {
		return nil, err
	}
	info := "treeloss-" + version + ".dist-info/"
	copies := map[string]string{ // where it comes from to its name in the wheel
		program:                        "treeloss/bin/" + p.program(),
		filepath.Join(root, "LICENSE"): info + "licenses/LICENSE",
		filepath.Join(root, "NOTICE"):  info + "licenses/NOTICE",
	}
	for _, path := range modules {
		copies[path] = "treeloss/" + filepath.Base(path)
	}
	for path, name := range copies {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if name == "treeloss/__init__.py" {
			data = bytes.Replace(data, []byte(`__version__ = "0.0.0"`), fmt.Appendf(nil, "__version__ = %q", version), 1)
		}
		mode := os.FileMode(0o644)
		if path == program {
			mode = 0o755
		}
		add(name, data, mode)
	}
	readme, err := os.ReadFile(filepath.Join(python, "README.md"))
	if err != nil {
		return nil, err
	}
	add(info+"METADATA", fmt.Appendf(nil, metadata, version, readme), 0o644)
	add(info+"licenses/LICENSES.txt", terms, 0o644)
	add(info+"WHEEL", []byte(wheelFile(p)), 0o644)
	add(info+"entry_points.txt", []byte("[console_scripts]\ntreeloss = treeloss.__main__:main\n"), 0o644)
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	return append(files, file{info + "RECORD", record(files, info+"RECORD"), 0o644}), nil
}

// sources are the modules of the package.
func sources(python string) ([]string, error) {
	modules, err := filepath.Glob(filepath.Join(python, "treeloss", "*.py"))
	if err != nil || len(modules) == 0 {
		return nil, fmt.Errorf("no package in %s; run this in the root of the repository", filepath.Join(python, "treeloss"))
	}
	return modules, nil
}

const metadata = `Metadata-Version: 2.1
Name: treeloss
Version: %s
Summary: Classifiers with many similar classes, from few examples of each
Home-page: https://github.com/treeloss/treeloss
License: Apache-2.0
License-File: LICENSE
License-File: NOTICE
License-File: LICENSES.txt
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Scientific/Engineering :: Artificial Intelligence
Requires-Python: >=3.9
Description-Content-Type: text/markdown

%s`

// wheelFile says what the wheel may be installed on: a line for each of the tags that
// are joined by dots in its name.
func wheelFile(p platform) string {
	text := "Wheel-Version: 1.0\nGenerator: treeloss-scripts-wheel\nRoot-Is-Purelib: false\n"
	for tag := range strings.SplitSeq(p.tag, ".") {
		text += "Tag: py3-none-" + tag + "\n"
	}
	return text
}

// record lists files with their hashes and sizes, and itself without.
func record(files []file, own string) []byte {
	var text bytes.Buffer
	for _, f := range files {
		sum := sha256.Sum256(f.data)
		fmt.Fprintf(&text, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
	}
	fmt.Fprintf(&text, "%s,,\n", own)
	return text.Bytes()
}

// write packs files. Their times are all the first that a zip can hold, so that only
// what they hold decides the bytes.
func write(path string, files []file) error {
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
		h.SetMode(f.mode)
		w, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := w.Write(f.data); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return atomicfile.WriteBytes(path, packed.Bytes())
}

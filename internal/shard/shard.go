// Package shard divides work into parts that need no talk with each other, on one machine
// or many: each part is written into one folder, whole or not at all, beside a manifest that
// says what it was made of, and Open checks that all are there. What a part is, its command
// knows: lines of answers, counts, cells of a grid (Cells), trained leaves.
//
// A part is two files, part-00003-of-00008 and part-00003-of-00008.json, written in this
// order. A part that was killed has no manifest, one that ran twice has the same bytes.
package shard

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/atomicfile"
	"github.com/treeloss/treeloss/internal/option"
)

// Most is the largest number of parts: their names have five digits.
const Most = 100_000

// Parse reads "3/8", part 3, from 0, of 8. "auto" takes them from what Kubernetes gives a
// pod of an Indexed Job (JOB_COMPLETION_INDEX, and JOB_COMPLETIONS, which the job has to
// set) or Slurm a task of an array (SLURM_ARRAY_TASK_ID, _MIN, _STEP and _COUNT), by getenv.
func Parse(text string, getenv func(string) string) (dataset.Shard, error) {
	const want = "an index from 0 and the number of parts, such as 3/8, or auto in a job of Kubernetes or Slurm"
	if text != "auto" {
		index, count, _ := strings.Cut(text, "/")
		i, err := strconv.Atoi(index)
		n, failed := strconv.Atoi(count)
		ok := err == nil && failed == nil && 0 <= i && i < n && n <= Most
		return dataset.Shard{Index: i, Count: n}, option.Check("Shard", text, ok, want)
	}
	for _, job := range []struct{ index, count, first, step string }{
		{"JOB_COMPLETION_INDEX", "JOB_COMPLETIONS", "", ""},
		{"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_STEP"},
	} {
		if getenv(job.index) == "" {
			continue
		}
		number := func(name, otherwise string) int {
			n, err := strconv.Atoi(cmp.Or(getenv(name), otherwise))
			if err != nil {
				return -1
			}
			return n
		}
		i, n := number(job.index, ""), number(job.count, "")
		if job.first != "" {
			i = (i - number(job.first, "0")) / max(1, number(job.step, "1"))
		}
		if i < 0 || i >= n || n > Most {
			return dataset.Shard{}, fmt.Errorf("%s=%s and %s=%s name no part; set them, or name the part as 3/8", job.index, getenv(job.index), job.count, getenv(job.count))
		}
		return dataset.Shard{Index: i, Count: n}, nil
	}
	return dataset.Shard{}, errors.New("neither JOB_COMPLETION_INDEX nor SLURM_ARRAY_TASK_ID is set; name the part as 3/8")
}

// A Task is what all parts have in common. Parts of different tasks are not joined.
type Task struct {
	Program string            `json:"program"`           // and its version
	Command string            `json:"command"`           // such as predict
	Options map[string]string `json:"options,omitempty"` // that have an effect on the output
	Model   File              `json:"model"`             // zero: none is read
	Inputs  []File            `json:"inputs"`
}

// NewTask identifies the model, "" for none, and the inputs of a task.
func NewTask(program, command string, options map[string]string, model string, inputs []string) (t Task, err error) {
	t = Task{Program: program, Command: command, Options: options}
	if model != "" {
		if t.Model, err = identify(model); err != nil {
			return t, err
		}
	}
	for _, path := range inputs {
		file, err := identify(path)
		if err != nil {
			return t, err
		}
		t.Inputs = append(t.Inputs, file)
	}
	return t, nil
}

// A File is known by its name, length and a digest.
type File struct {
	Name   string `json:"name"` // without its folder
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // of the file, or of its first and last 64 KiB if it is longer than 128
}

// identify looks at a file.
func identify(path string) (File, error) {
	const edge = 64 << 10
	f, err := os.Open(path)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return File{}, err
	}
	sum := sha256.New()
	var parts []io.Reader
	if size := info.Size(); size <= 2*edge {
		parts = []io.Reader{f}
	} else {
		parts = []io.Reader{io.NewSectionReader(f, 0, edge), io.NewSectionReader(f, size-edge, edge)}
	}
	if _, err := io.Copy(sum, io.MultiReader(parts...)); err != nil {
		return File{}, err
	}
	return File{Name: filepath.Base(path), Bytes: info.Size(), SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}

// Manifest says what a part is.
type Manifest struct {
	Task
	Args   []string `json:"args"` // the call of the program
	Part   int      `json:"part"` // from 0
	Parts  int      `json:"parts"`
	Rows   int      `json:"rows"` // lines of parts that are text
	Bytes  int64    `json:"bytes"`
	SHA256 string   `json:"sha256"` // of the part
}

// name returns the name of a part.
func name(i, n int) string { return fmt.Sprintf("part-%05d-of-%05d", i, n) }

// IsOf tells whether a file of the folder belongs to a part.
func IsOf(p dataset.Shard, file string) bool {
	return file == name(p.Index, p.Count) || file == name(p.Index, p.Count)+".json"
}

// Unfinished returns the file in a folder in which a part may keep how far it has come.
func Unfinished(folder string, p dataset.Shard) string {
	return filepath.Join(folder, name(p.Index, p.Count)+".unfinished")
}

// Writer writes one part.
type Writer struct {
	file     *atomicfile.File
	folder   string
	manifest Manifest
	sum      hash.Hash
}

// Create begins a part in a folder, which is made if there is none; nil if that part of
// the task is there, whole. Parts of another task are an error: nothing is replaced. args is
// the call of the program, for the manifest. Commit or Discard ends the Writer.
func Create(folder string, p dataset.Shard, task Task, args []string) (*Writer, error) {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, fmt.Errorf("cannot make the folder %s of the parts: %w", folder, err)
	}
	manifests, err := read(folder)
	if err != nil {
		return nil, err
	}
	for _, m := range manifests {
		if err := m.agree(task, folder); err != nil {
			return nil, err
		}
		if m.Parts != p.Count {
			return nil, m.ofOthers(p.Count, folder)
		}
		if m.Part == p.Index && m.verify(folder) == nil {
			return nil, nil
		}
	}
	w := &Writer{folder: folder, manifest: Manifest{Task: task, Args: args, Part: p.Index, Parts: p.Count}, sum: sha256.New()}
	w.file, err = atomicfile.Create(filepath.Join(folder, name(p.Index, p.Count)))
	return w, err
}

// Write implements io.Writer.
func (w *Writer) Write(b []byte) (int, error) {
	n, err := w.file.Write(b)
	w.manifest.Bytes += int64(n)
	w.manifest.Rows += bytes.Count(b[:n], []byte("\n"))
	w.sum.Write(b[:n])
	return n, err
}

// Commit puts the part in its place, and then its manifest. What Unfinished names is removed.
func (w *Writer) Commit() error {
	w.manifest.SHA256 = hex.EncodeToString(w.sum.Sum(nil))
	if err := w.file.Commit(); err != nil {
		return err
	}
	text, err := json.MarshalIndent(w.manifest, "", "  ")
	if err != nil {
		return err
	}
	part := dataset.Shard{Index: w.manifest.Part, Count: w.manifest.Parts}
	if err := atomicfile.WriteBytes(filepath.Join(w.folder, name(part.Index, part.Count)+".json"), append(text, '\n')); err != nil {
		return err
	}
	if err := os.Remove(Unfinished(w.folder, part)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Discard removes what was not committed.
func (w *Writer) Discard() { w.file.Discard() }

// read returns the manifests of a folder, in the order of their names.
func read(folder string) ([]Manifest, error) {
	names, err := filepath.Glob(filepath.Join(escape(folder), "part-*-of-*.json"))
	if err != nil {
		return nil, err
	}
	var all []Manifest
	for _, path := range names {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var m Manifest
		if err := json.Unmarshal(text, &m); err != nil || m.Part < 0 || m.Part >= m.Parts || m.Parts > Most || filepath.Base(path) != name(m.Part, m.Parts)+".json" {
			return nil, fmt.Errorf("%s is no manifest of a part; remove it, and run the part again", path)
		}
		all = append(all, m)
	}
	return all, nil
}

// escape makes a path stand for itself in a pattern.
func escape(path string) string {
	return strings.NewReplacer(`*`, `[*]`, `?`, `[?]`, `[`, `[[]`).Replace(path)
}

// agree returns an error unless a part belongs to a task.
func (m Manifest) agree(task Task, folder string) error {
	what := ""
	switch {
	case m.Command != task.Command:
		what = "is of the command " + m.Command
	case m.Model != task.Model:
		what = "was made with another model, " + m.Model.Name
	case !slices.Equal(m.Inputs, task.Inputs):
		what = "was made of other files"
	case m.Program != task.Program:
		what = "was made by " + m.Program + ", and not by " + task.Program
	case !maps.Equal(m.Options, task.Options):
		what = fmt.Sprintf("was made with the options %v, and not %v", m.Options, task.Options)
	default:
		return nil
	}
	return fmt.Errorf("%s %s; name another folder, or remove what is in this one", filepath.Join(folder, name(m.Part, m.Parts)), what)
}

// ofOthers is the error of a part that is not one of n.
func (m Manifest) ofOthers(n int, folder string) error {
	return fmt.Errorf("%s is one of %d parts, and not of %d; name another folder, or remove what is in this one", filepath.Join(folder, name(m.Part, m.Parts)), m.Parts, n)
}

// verify returns an error unless the bytes of a part are those of its manifest.
func (m Manifest) verify(folder string) error {
	path := filepath.Join(folder, name(m.Part, m.Parts))
	sum := sha256.New()
	err := Copy(path, sum)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s is not there, but its manifest is; run part %d/%d again", path, m.Part, m.Parts)
	case err != nil:
		return err
	case hex.EncodeToString(sum.Sum(nil)) != m.SHA256:
		return fmt.Errorf("%s has not the bytes that its manifest says; remove it, and run part %d/%d again", path, m.Part, m.Parts)
	}
	return nil
}

// Parts are all parts of a task.
type Parts struct {
	Task
	Args   []string // the call of the first part
	Files  []string // in their order
	Rows   int      // lines
	folder string
}

// Open checks that all parts of one task are in a folder, whole. What is missing or damaged
// is one error that names it. It reads each part.
func Open(folder string) (*Parts, error) {
	manifests, err := read(folder)
	switch {
	case err != nil:
		return nil, err
	case len(manifests) == 0:
		if _, err := os.Stat(folder); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s holds no finished part; run the parts, of eight 0/8 to 7/8, with this folder", folder)
	}
	n := manifests[0].Parts
	there := make([]bool, n)
	p := &Parts{Task: manifests[0].Task, Args: manifests[0].Args, folder: folder}
	for _, m := range manifests {
		if m.Parts != n {
			return nil, m.ofOthers(n, folder)
		}
		if err := cmp.Or(m.agree(p.Task, folder), m.verify(folder)); err != nil {
			return nil, err
		}
		there[m.Part] = true
		p.Files = append(p.Files, filepath.Join(folder, name(m.Part, n)))
		p.Rows += m.Rows
	}
	if missing := absent(there); missing != "" {
		return nil, fmt.Errorf("%s: of %d parts these are not finished: %s; run them, and gather again", folder, n, missing)
	}
	return p, nil
}

// Check returns an error unless the parts are of a task.
func (p *Parts) Check(task Task) error {
	return Manifest{Task: p.Task, Parts: len(p.Files)}.agree(task, p.folder)
}

// Join writes the parts to w, one behind the other.
func (p *Parts) Join(w io.Writer) error {
	for _, path := range p.Files {
		if err := Copy(path, w); err != nil {
			return err
		}
	}
	return nil
}

// Copy writes a file to w.
func Copy(path string, w io.Writer) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

// absent lists places of false, such as "2, 5-7"; of many the first ten runs.
func absent(there []bool) string {
	var runs []string
	for i := 0; i < len(there); i++ {
		if there[i] {
			continue
		}
		first := i
		for i+1 < len(there) && !there[i+1] {
			i++
		}
		switch {
		case len(runs) == 10:
			return strings.Join(runs, ", ") + " and more"
		case first == i:
			runs = append(runs, strconv.Itoa(i))
		default:
			runs = append(runs, fmt.Sprintf("%d-%d", first, i))
		}
	}
	return strings.Join(runs, ", ")
}

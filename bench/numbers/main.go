// Command numbers measures again what README and docs say, and checks them.
//
//	cd bench && go run ./numbers                    # all but what takes half an hour
//	cd bench && go run ./numbers -only emoji        # one page
//	cd bench && go run ./numbers -write             # and mends the pages
//
// What is measured, and how, stands in numbers.txt: pages, commands, and the sentences
// and table rows of the pages with a placeholder for each number. See the top of it.
// It needs the data in ../shared/data beside the project, or in the folder -data. It
// exits with 1 if a page says something else.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

//go:embed numbers.txt
var list string

// page is what is known about one document.
type page struct {
	path  string
	steps []step
}

// step is a command with what it shows, or a sentence (says).
type step struct {
	line  int    // of numbers.txt
	name  string // of the command's output, for placeholders
	shell string // the command, for sh -c
	slow  bool   // it takes more than some ten minutes
	says  string // the sentence
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("numbers: ")
	var s session
	flag.StringVar(&s.root, "root", "..", "folder of the project")
	flag.StringVar(&s.data, "data", "", "folder of the shared data (default shared/data beside the project)")
	flag.StringVar(&s.program, "treeloss", "", "the program (default built from the project)")
	only := flag.String("only", "", "regular expression: pages to check")
	flag.BoolVar(&s.write, "write", false, "write what was measured into the pages")
	flag.StringVar(&s.results, "results", "", "file to keep what the commands print in; what stands there is not run again")
	flag.BoolVar(&s.slow, "slow", false, "also what takes half an hour")
	flag.Parse()
	if err := s.run(*only); err != nil {
		log.Fatal(err)
	}
	if s.wrong > 0 {
		log.Fatalf("%d differ; -write mends the pages", s.wrong)
	}
}

// session is one run of the command.
type session struct {
	root, data, program string
	results             string // file of known; "": none
	write, slow         bool
	folder              string            // of temporary files
	output              map[string]string // of the commands, by name
	known               map[string]string // of the commands, by what they are
	wrong               int
}

func (s *session) run(only string) error {
	pages, err := parse(list)
	if err != nil {
		return err
	}
	match, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	if s.folder, err = os.MkdirTemp("", "treeloss-numbers-"); err != nil {
		return err
	}
	defer os.RemoveAll(s.folder)
	s.known = map[string]string{}
	if content, err := os.ReadFile(s.results); err == nil {
		if err := json.Unmarshal(content, &s.known); err != nil {
			return fmt.Errorf("%s: %w", s.results, err)
		}
	}
	for _, path := range []*string{&s.root, &s.data, &s.program} {
		if *path == "" {
			continue
		}
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	if s.data == "" {
		s.data = filepath.Join(s.root, "..", "shared", "data")
	}
	if _, err := os.Stat(s.data); err != nil {
		return fmt.Errorf("there is no folder %s; name it with -data", s.data)
	}
	if s.program == "" {
		s.program = filepath.Join(s.folder, "treeloss")
		build := exec.Command("go", "build", "-o", s.program, "./cmd/treeloss")
		build.Dir, build.Stderr = s.root, os.Stderr
		if err := build.Run(); err != nil {
			return err
		}
	}
	for _, p := range pages {
		if !match.MatchString(p.path) {
			continue
		}
		if err := s.check(p); err != nil {
			return fmt.Errorf("%s: %w", p.path, err)
		}
	}
	return nil
}

// check runs the commands of one page and compares its sentences.
func (s *session) check(p page) error {
	s.output = map[string]string{}
	skipped := map[string]bool{}
	var measured []string // the sentences as they should be, "" for one that was left out
	for _, x := range p.steps {
		text := ""
		var err error
		switch {
		case x.shell != "" && x.slow && !s.slow:
			skipped[x.name] = true
			log.Printf("%s: left out without -slow: %s", p.path, x.shell)
		case x.shell != "":
			if s.output[x.name], err = s.sh(x.shell); err != nil {
				return fmt.Errorf("numbers.txt:%d: %w", x.line, err)
			}
		case !x.needs(skipped):
			if text, err = x.fill(s.output); err != nil {
				return err
			}
		}
		measured = append(measured, text)
	}
	return s.compare(p, measured)
}

// compare prints where a page differs from what was measured, and mends it if asked to.
// The page is read now, as the commands may have taken an hour.
func (s *session) compare(p page, measured []string) error {
	path := filepath.Join(s.root, p.path)
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text := string(content)
	for i, x := range p.steps {
		if measured[i] == "" {
			continue
		}
		found, place, err := x.find(text)
		if err != nil {
			return err
		}
		if got := strings.Join(strings.Fields(found), " "); !agrees(got, measured[i]) {
			s.wrong++
			fmt.Printf("%s:%d\n  says     %s\n  measured %s\n", p.path, 1+strings.Count(text[:place], "\n"), got, measured[i])
			text = text[:place] + respaced(found, measured[i]) + text[place+len(found):]
		}
	}
	if !s.write || text == string(content) {
		return nil
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// sh runs a command with $DATA, $TMP and treeloss on the path, and returns what it prints.
func (s *session) sh(command string) (string, error) {
	if out, ok := s.known[command]; ok {
		return out, nil
	}
	began := time.Now()
	c := exec.Command("sh", "-c", "set -e\n"+command)
	c.Dir = s.root
	c.Env = append(os.Environ(), "DATA="+s.data, "TMP="+s.folder,
		"PATH="+filepath.Dir(s.program)+string(os.PathListSeparator)+os.Getenv("PATH"))
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", command, err, said.String())
	}
	log.Printf("%4.0f s of processor time, %4.0f s in all: %s",
		(c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(), time.Since(began).Seconds(), command)
	s.known[command] = out.String()
	if s.results == "" {
		return out.String(), nil
	}
	content, err := json.MarshalIndent(s.known, "", "\t")
	if err == nil {
		err = os.WriteFile(s.results, content, 0o666)
	}
	return out.String(), err
}

// parse reads numbers.txt.
func parse(list string) ([]page, error) {
	var pages []page
	slow := false
	lines := strings.Split(list, "\n")
	for i := 0; i < len(lines); i++ {
		line, number := lines[i], i+1
		for strings.HasSuffix(line, `\`) && i+1 < len(lines) {
			i++
			line = strings.TrimSuffix(line, `\`) + strings.TrimSpace(lines[i])
		}
		if line == "" || line[0] == '#' {
			continue
		}
		head, rest, ok := strings.Cut(line, " ")
		if head != "page" && len(pages) == 0 || !ok {
			return nil, fmt.Errorf("numbers.txt:%d: %q, want page, NAME$, slow NAME$ or >", number, line)
		}
		if head == "slow" {
			slow = true
			head, rest, _ = strings.Cut(rest, " ")
		}
		name, command := strings.CutSuffix(head, "$")
		switch {
		case head == "page":
			pages = append(pages, page{path: rest})
		case head == ">":
			p := &pages[len(pages)-1]
			p.steps = append(p.steps, step{line: number, says: strings.Join(strings.Fields(rest), " ")})
		case command:
			p := &pages[len(pages)-1]
			p.steps = append(p.steps, step{line: number, name: name, shell: rest, slow: slow})
			slow = false
		default:
			return nil, fmt.Errorf("numbers.txt:%d: %q, want page, NAME$, slow NAME$ or >", number, head)
		}
	}
	return pages, nil
}

// placeholder is {NAME:PATH|FORMAT}, or {*} for what is not checked.
var placeholder = regexp.MustCompile(`\{(\*|[^{}]+)\}`)

// value is what stands in place of a placeholder: a number, with its sign and error.
const value = `[-+±−0-9][-+±−0-9.,]*(?: ± [0-9.]+)?`

// pattern matches the sentence whatever its numbers and line breaks.
func (x step) pattern() (*regexp.Regexp, error) {
	const hole = "\x00" // a placeholder, which may have spaces
	words := strings.Fields(placeholder.ReplaceAllString(x.says, hole))
	for i, word := range words {
		words[i] = strings.ReplaceAll(regexp.QuoteMeta(word), hole, value)
	}
	return regexp.Compile(strings.Join(words, `\s+`))
}

// find returns the sentence as it stands in a page, which must have it once.
func (x step) find(text string) (found string, place int, err error) {
	r, err := x.pattern()
	if err != nil {
		return "", 0, fmt.Errorf("numbers.txt:%d: %w", x.line, err)
	}
	all := r.FindAllStringIndex(text, 2)
	if len(all) != 1 {
		return "", 0, fmt.Errorf("numbers.txt:%d: %d places like %q, want one", x.line, len(all), x.says)
	}
	return text[all[0][0]:all[0][1]], all[0][0], nil
}

// needs tells whether the sentence has a number of a command that was left out.
func (x step) needs(skipped map[string]bool) bool {
	for _, m := range placeholder.FindAllStringSubmatch(x.says, -1) {
		name, _, _ := strings.Cut(m[1], ":")
		if skipped[name] {
			return true
		}
	}
	return false
}

// fill puts what was measured in place of the placeholders; {*} stays.
func (x step) fill(output map[string]string) (text string, err error) {
	text = placeholder.ReplaceAllStringFunc(x.says, func(p string) string {
		p = p[1 : len(p)-1]
		name, path, _ := strings.Cut(p, ":")
		if p == "*" {
			return "{*}"
		}
		var s string
		var e error
		if s, e = measured(output[name], path); e != nil && err == nil {
			err = fmt.Errorf("numbers.txt:%d: {%s}: %w", x.line, p, e)
		}
		return s
	})
	return text, err
}

// measured looks a number up in an output: /REGEXP/ is its first group, else PATH|FORMAT
// goes through JSON, where a part of the path is a key, a place, or in a list of methods
// a name, or name@shots.
func measured(output, path string) (string, error) {
	if r, ok := strings.CutPrefix(path, "/"); ok {
		r, err := regexp.Compile(strings.TrimSuffix(r, "/"))
		if err != nil {
			return "", err
		}
		m := r.FindStringSubmatch(output)
		if len(m) < 2 {
			return "", fmt.Errorf("not in the output")
		}
		return m[1], nil
	}
	path, format, _ := strings.Cut(path, "|")
	var v any
	if err := json.Unmarshal([]byte(output), &v); err != nil {
		return "", err
	}
	for _, part := range strings.Split(path, "/") {
		if part == "" {
			continue
		}
		if v = inside(v, part); v == nil {
			return "", fmt.Errorf("no %q in the output", part)
		}
	}
	return formatted(v, format)
}

// inside returns a part of a JSON value, or nil.
func inside(v any, part string) any {
	switch v := v.(type) {
	case map[string]any:
		return v[part]
	case []any:
		if i, err := strconv.Atoi(part); err == nil && i < len(v) {
			return v[i]
		}
		name, shots, _ := strings.Cut(part, "@")
		for _, x := range v {
			m, _ := x.(map[string]any)
			if m["method"] == name && (shots == "" || fmt.Sprint(m["shots"]) == shots) {
				return m
			}
		}
	}
	return nil
}

// formatted writes a value: % a rate in per cent, ± a difference with its standard error, +
// the difference alone, else as Sprintf does.
func formatted(v any, format string) (string, error) {
	number := func(v any) float64 { x, _ := v.(float64); return x }
	if m, ok := v.(map[string]any); ok {
		d, se := 100*number(m["difference"]), 100*number(m["difference_se"])
		switch format {
		case "±":
			return fmt.Sprintf("%+.1f ± %.1f", d, se), nil
		case "+":
			return fmt.Sprintf("%+.1f", d), nil
		}
	}
	x, ok := v.(float64)
	switch {
	case !ok:
		return "", fmt.Errorf("%v is no number", v)
	case format == "%":
		return fmt.Sprintf("%.1f", 100*x), nil
	case format == "":
		return fmt.Sprint(x), nil
	}
	return fmt.Sprintf("%"+format, x), nil
}

// agrees tells whether the page's sentence has the measured numbers; what {*} stands
// for may be any.
func agrees(got, measured string) bool {
	parts := strings.Split(measured, "{*}")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("^" + strings.Join(parts, value) + "$").MatchString(got)
}

// respaced puts the words of text where those of found stand, with its spaces and line
// breaks; numbers that were not measured stay. A cell of a table keeps its width if it can.
func respaced(found, text string) string {
	words := regexp.MustCompile(`\S+`)
	fresh := strings.Fields(text)
	i := 0
	return words.ReplaceAllStringFunc(found, func(old string) string {
		word := old
		if i < len(fresh) && !strings.Contains(fresh[i], "{*}") {
			word = fresh[i]
		}
		i++
		return word
	})
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// shellBlock is an indented block of commands of a document.
type shellBlock struct {
	line   int // where it begins, from 1
	text   string
	notRun string // why it is not run: "<!-- not run: WHY -->" above it
}

var (
	beginsCommand = regexp.MustCompile(`^([A-Za-z_]+=\S* )*(treeloss|go|cd|python3|pip|echo|awk|for|[a-z]+=") ?`)
	notRunMark    = regexp.MustCompile(`^ *<!-- not run: (.+) -->$`)
)

// shellBlocks returns the indented blocks whose first line begins with a command. Others
// are output or code of a language.
func shellBlocks(doc string) (blocks []shellBlock) {
	var lines []string
	begin, mark, fence := 0, "", false
	end := func() {
		if len(lines) == 0 {
			return
		}
		indent := len(lines[0]) - len(strings.TrimLeft(lines[0], " "))
		for i := range lines {
			lines[i] = strings.TrimPrefix(lines[i], strings.Repeat(" ", indent))
		}
		if beginsCommand.MatchString(lines[0]) {
			blocks = append(blocks, shellBlock{begin, strings.Join(lines, "\n") + "\n", mark})
		}
		lines, mark = nil, ""
	}
	blank := true
	for i, line := range strings.Split(doc, "\n") {
		if strings.HasPrefix(line, "```") {
			fence = !fence
		}
		switch m := notRunMark.FindStringSubmatch(line); {
		case m != nil:
			mark = m[1]
		case !fence && strings.HasPrefix(line, "    ") && (blank || lines != nil):
			if lines == nil {
				begin = i + 1
			}
			lines = append(lines, line)
		default:
			end()
			if line != "" {
				mark = ""
			}
		}
		blank = line == ""
	}
	end()
	return blocks
}

// documents returns README and the pages of docs, by their paths below the root.
func documents(t *testing.T) map[string]string {
	t.Helper()
	docs := map[string]string{}
	paths, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(paths, "../../README.md") {
		name, err := filepath.Rel("../..", path)
		if err != nil {
			t.Fatal(err)
		}
		docs[filepath.ToSlash(name)] = string(content(t, path))
	}
	return docs
}

// Programs that stand in for others while documents are run. Of go only the calls that
// documents have are known.
const (
	fakeGo = `case "$1 $2" in
"run ./cmd/treeloss") shift 2; exec treeloss "$@" ;;
"run ./scripts/wheel") mkdir -p dist; touch dist/treeloss-0.1.0-py3-none-any.whl ;;
"install ./cmd/treeloss" | "test -short" | "test -tags" | "build -tags" | "run ./panel") ;;
*) echo "go $*: not in docs_test.go" >&2; exit 1 ;;
esac
`
	fakePip = `[ "$1" = install ] && [ -e "$2" ]
`
	// The arguments go to a file.
	fakeTreeloss = `[ -t 0 ] || cat > /dev/null
printf '%s\0' "$@" >> "$CALLS"; printf '\1' >> "$CALLS"
`
	// The quickstart's data is that of this test, so few examples that they support no
	// accuracy of 95 %, and nothing takes minutes.
	smallTreeloss = `if [ "$1" = quickstart ]; then
  while [ $# -gt 0 ]; do
    if [ "$1" = --save-data ]; then mkdir -p "$2"; cp "$FILES/train.csv" "$FILES/test.csv" "$2"; fi
    shift
  done
  exit 0
fi
args=()
for a in "$@"; do
  case "$before$a" in --time*[0-9]m) a=2s ;; --seeds5) a=2 ;; --target-accuracy0.95) a=0.8 ;; esac
  before=""; case "$a" in --time | --seeds | --target-accuracy) before=$a ;; esac
  args+=("$a")
done
export ` + asProgram + `=1
case "$1 $*" in
explore*" --out "*) ;;
serve* | explore*) # serves until it is stopped
  log=$(mktemp -p "$FILES")
  "$PROGRAM" "${args[@]}" --addr 127.0.0.1:0 > "$log" 2>&1 & child=$!
  while kill -0 $child 2> /dev/null && ! grep -q http://127.0.0.1: "$log"; do sleep 0.05; done
  kill -TERM $child 2> /dev/null
  wait $child; status=$?
  cat "$log"
  case $status in 0 | 143) exit 0 ;; esac
  exit $status ;;
esac
exec "$PROGRAM" "${args[@]}"
`
)

// docFolder makes a folder with what readers of the documents have: examples, questions,
// two models.
func docFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	number := 0
	numbered := regexp.MustCompile(`(?m)^.`).ReplaceAllStringFunc(string(content(t, deskTest)), func(first string) string {
		number++
		if number == 1 {
			return "number," + first
		}
		return fmt.Sprintf("%d,%s", number-1, first)
	})
	questions := "When do you open?\nI lost my card\n"
	tagged := strings.Repeat(`{"text": "a game of chess", "labels": ["game", "board"]}
{"text": "an editor for the terminal", "labels": ["terminal"]}
{"text": "a game for the terminal", "labels": ["game", "terminal"]}
{"text": "a board", "labels": ["board"]}
`, 5)
	model := string(content(t, quickModel(t)))
	ft := fastTextLines(t, desk, "__label__")
	for name, data := range map[string]string{
		"train.csv": string(content(t, desk)), "test.csv": numbered, "groups.csv": string(content(t, deskGroups)),
		"banking77/train.csv": string(content(t, desk)), "banking77/test.csv": numbered,
		"train.ft": ft, "test.ft": ft, "several.ft": "__label__a __label__b which of these\n",
		"questions.txt": questions, "questions.csv": "text\n" + questions, "out-of-scope.csv": "text\nhow are you?\nsing a song\n",
		"products.csv": "title,body,brand,country,price,weight,label\n" + strings.Repeat("red shoe,a shoe of leather,acme,it,10,1,shoe\nblue hat,a warm hat,boll,fr,5,0.5,hat\nshoe,for the rain,acme,fr,12,1.5,shoe\nhat,of straw,boll,it,7,0.2,hat\n", 4),
		"train.jsonl":  tagged, "test.jsonl": tagged,
		"testdata/questions.csv": string(content(t, "../../testdata/questions.csv")),
		"leaves.csv":             "species,margin1,margin2,shape1\noak,1,2,3\noak,1.1,2,3\nelm,3,1,1\nelm,3,1.2,1\n",
		"m.safetensors":          model, "intents.safetensors": model, "score.py": string(content(t, "../../docs/score.py")),
		"docs/cifar100-words.txt": string(content(t, "../../docs/cifar100-words.txt")), "bench/go.mod": "module bench\n",
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(data), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// patienceWithBlock is for a block that never ends; others take seconds.
const patienceWithBlock = 3 * time.Minute

// inShell runs a block in a folder, with programs of these names in place of the real ones.
func inShell(t *testing.T, dir, text string, programs map[string]string, env ...string) ([]byte, error) {
	t.Helper()
	bin := t.TempDir()
	for name, script := range programs {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/usr/bin/env bash\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patienceWithBlock)
	defer cancel()
	c := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", text)
	c.Dir = dir
	c.Env = append(append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH")), env...)
	c.WaitDelay = time.Second
	said, err := c.CombinedOutput()
	if ctx.Err() != nil {
		err = fmt.Errorf("not done after %v: mark the block with <!-- not run: WHY -->", patienceWithBlock)
	}
	return said, err
}

// Each call of treeloss in README and docs, whether it can be run here or not, is of a
// command that there is, with flags that it has.
func TestDocumentsHaveRightFlags(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash here: commands of the documents are not parsed")
	}
	programs := map[string]string{"treeloss": fakeTreeloss, "go": fakeGo, "pip": "", "python3": ""}
	n, dir := 0, docFolder(t)
	for name, doc := range documents(t) {
		calls := filepath.Join(t.TempDir(), "calls")
		var page strings.Builder // as one script: a block may use variables of one above it
		for _, b := range shellBlocks(doc) {
			page.WriteString("cd \"$HERE\"\n" + b.text)
		}
		said, err := inShell(t, dir, page.String(), programs, "CALLS="+calls, "HERE="+dir)
		if err != nil {
			t.Errorf("%s: %v: %s", name, err, said)
		}
		list, err := os.ReadFile(calls)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		for text := range bytes.SplitSeq(bytes.TrimSuffix(list, []byte{1}), []byte{1}) {
			if len(text) == 0 {
				continue
			}
			n++
			args := strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
			root := newRoot(&app{})
			root.InitDefaultCompletionCmd(args...)
			c, rest, err := root.Find(args)
			if err == nil {
				err = c.ParseFlags(rest)
			}
			if err == nil {
				err = c.ValidateArgs(c.Flags().Args())
			}
			if err != nil || !c.HasParent() {
				t.Errorf("%s: treeloss %s: %v", name, strings.Join(args, " "), err)
			}
		}
	}
	if n < 80 {
		t.Errorf("%d calls, want those of README and all pages", n)
	}
}

// Each block of commands in README and docs runs, those of a page in their order in one
// folder, but for blocks that are marked as not run here. Data is smaller than the
// pages say, and nothing downloads or installs anything.
func TestDocumentsRun(t *testing.T) {
	if testing.Short() {
		t.Skip("trains some models, some seconds: left out by -short")
	}
	for _, tool := range []string{"bash", "python3", "awk"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s here: commands of the documents are not run", tool)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	programs := map[string]string{"treeloss": smallTreeloss, "go": fakeGo, "pip": fakePip}
	n := 0
	for name, doc := range documents(t) {
		dir := ""
		for _, b := range shellBlocks(doc) {
			if b.notRun != "" {
				continue
			}
			if dir == "" {
				dir = docFolder(t)
			}
			n++
			if said, err := inShell(t, dir, b.text, programs, "FILES="+dir, "PROGRAM="+self); err != nil {
				t.Errorf("%s:%d: %v\n%s%s", name, b.line, err, b.text, said)
			}
		}
	}
	if n < 20 {
		t.Errorf("%d blocks were run, want those of README and all pages", n)
	}
}

func TestShellBlocks(t *testing.T) {
	doc := "text\n\n    treeloss a\n    treeloss b\n\nmore\n\n<!-- not run: why -->\n\n    x=\"1\"\n    treeloss $x\n\n    a line of output: 1\n\n" +
		"- item\n\n      treeloss c\n\n```text\n    treeloss d\n```\n<!-- not run: of nothing -->\n\nmore\n\n    treeloss e\n"
	want := []shellBlock{{3, "treeloss a\ntreeloss b\n", ""}, {10, "x=\"1\"\ntreeloss $x\n", "why"}, {17, "treeloss c\n", ""}, {26, "treeloss e\n", ""}}
	if got := shellBlocks(doc); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

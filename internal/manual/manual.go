// Package manual writes the commands of a program as man pages and as one page of
// Markdown, from the texts that --help prints.
package manual

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/treeloss/treeloss/internal/atomicfile"
)

// Page is a command. Texts are plain, with lines that were broken by hand.
type Page struct {
	Command  string // as it is called, such as treeloss tree build
	Short    string // one line
	Use      string // a call with its arguments
	Long     string
	Examples string
	Groups   []Group
	Commands []string // below this one, as they are called
}

// Group is some flags of a command under a title.
type Group struct {
	Title string
	Flags *pflag.FlagSet
}

// name is the page of a command: treeloss-tree-build.
func name(command string) string { return strings.ReplaceAll(command, " ", "-") }

// Save writes a man page of each command to folder/man1 and all of them to
// folder/reference.md. Version goes into the man pages.
func Save(folder, version string, pages []Page) error {
	man := filepath.Join(folder, "man1")
	if err := os.MkdirAll(man, 0o777); err != nil {
		return err
	}
	for _, p := range pages {
		var text strings.Builder
		if err := p.WriteMan(&text, version); err != nil {
			return err
		}
		if err := atomicfile.WriteBytes(filepath.Join(man, name(p.Command)+".1"), []byte(text.String())); err != nil {
			return err
		}
	}
	var text strings.Builder
	if err := WriteMarkdown(&text, pages); err != nil {
		return err
	}
	return atomicfile.WriteBytes(filepath.Join(folder, "reference.md"), []byte(text.String()))
}

// WriteMarkdown writes all commands, each under a heading of its own.
func WriteMarkdown(w io.Writer, pages []Page) error {
	out := bufio.NewWriter(w)
	fmt.Fprint(out, "# Reference\n\nWhat `--help-all` says of each command. Made by `treeloss manual --out FOLDER`, which\nwrites man pages, too.\n")
	for _, p := range pages {
		fmt.Fprintf(out, "\n## %s\n\n%s.\n\n```text\n%s\n", p.Command, p.Short, p.Use)
		for _, text := range []string{p.Long, p.Examples} {
			if text != "" {
				fmt.Fprintf(out, "\n%s\n", text)
			}
		}
		if len(p.Commands) > 0 {
			fmt.Fprintf(out, "\nCommands:\n  %s\n", strings.Join(p.Commands, "\n  "))
		}
		for _, g := range p.Groups {
			fmt.Fprintf(out, "\n%s:\n%s", g.Title, g.Flags.FlagUsages())
		}
		fmt.Fprint(out, "```\n")
	}
	return out.Flush()
}

// WriteMan writes a page of section 1 in the macros of man(7).
func (p Page) WriteMan(w io.Writer, version string) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, ".TH %s 1 \"\" %s\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n%s\n", quoted(strings.ToUpper(name(p.Command))), quoted(version), roff(name(p.Command)), roff(p.Short), roff(p.Use))
	fmt.Fprintf(out, ".SH DESCRIPTION\n.nf\n%s\n.fi\n", roff(p.Long))
	for _, g := range p.Groups {
		fmt.Fprintf(out, ".SH %s\n", quoted(strings.ToUpper(g.Title)))
		g.Flags.VisitAll(func(f *pflag.Flag) {
			value, usage := pflag.UnquoteUsage(f)
			flag := "--" + f.Name
			if f.Shorthand != "" {
				flag = "-" + f.Shorthand + ", " + flag
			}
			if value != "" {
				value = " \\fI" + roff(value) + "\\fR"
			}
			fmt.Fprintf(out, ".TP\n\\fB%s\\fR%s\n%s\n", roff(flag), value, roff(usage))
		})
	}
	if p.Examples != "" {
		fmt.Fprintf(out, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(p.Examples))
	}
	if len(p.Commands) > 0 {
		fmt.Fprint(out, ".SH SEE ALSO\n")
		for i, c := range p.Commands {
			comma := ",\n"
			if i == len(p.Commands)-1 {
				comma = "\n"
			}
			fmt.Fprintf(out, "\\fB%s\\fR(1)%s", roff(name(c)), comma)
		}
	}
	return out.Flush()
}

// quoted is an argument of a macro.
func quoted(text string) string {
	return `"` + strings.ReplaceAll(roff(text), `"`, `\(dq`) + `"`
}

// roff escapes a text: backslashes, hyphens, which are to be copied as they are, and
// points and apostrophes that begin a line, which would be macros.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

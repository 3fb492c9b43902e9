package main

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// insides are words of Go and of the packages below that mean nothing to a user.
func insides() []string {
	return []string{"strconv", "pflag", "invalid syntax", "parsing", "parse error", "invalid argument", "value out of range",
		"time:", "EOF", "%!", ": open ", ": mkdir ", ": read ", ": stat ", "no such file or directory", "is a directory\n"}
}

func TestWrongFlags(t *testing.T) {
	for _, tc := range []struct {
		name string
		args []string
		want string
	}{
		{"a word in a list of numbers", []string{"compare", "--shots", "5,all"}, `--shots "5,all": "all" is no whole number, want whole numbers with commas between them, such as 1,3,5`},
		{"an empty list", []string{"compare", "--shots", ""}, `--shots "": a number is missing`},
		{"a hole in a list", []string{"compare", "--shots", "1,,3"}, `a number is missing`},
		{"a fraction", []string{"compare", "--seeds", "1.5"}, `--seeds "1.5", want a whole number, such as 1`},
		{"a large number", []string{"compare", "--seeds", "99999999999999999999"}, `too large a number`},
		{"a negative seed", []string{"train", "--seed", "-1"}, `--seed "-1", want a whole number that is not negative`},
		{"a decimal comma", []string{"train", "--base", "1,3"}, `--base "1,3": decimals stand behind a point, want a number above 1, such as 1.3`},
		{"per cent", []string{"predict", "--confidence", "90%"}, `--confidence "90%": 90% is written 0.9`},
		{"no number", []string{"train", "--prior", "ten"}, `--prior "ten", want a number`},
		{"a word among milestones", []string{"train", "--milestones", "30,b"}, `"b" is no number, want numbers with commas between them, such as 30,60`},
		{"a switch with a value", []string{"train", "--json=maybe"}, `--json "maybe", want no value`},
		{"a time without unit", []string{"tune", "--time", "60"}, `--time "60", want a time with its unit, such as 30s, 2m or 1h`},
		{"a quote in a list of names", []string{"compare", "--methods", `na"mes`}, `want names with commas between them`},
		{"a flag without value", []string{"predict", "--model"}, "--model needs a value: model file that treeloss train wrote"},
		{"one dash", []string{"compare", "-data", "x"}, "unknown flag -data, do you mean --data? treeloss compare --help lists the flags"},
		{"three dashes", []string{"compare", "---data"}, `"---data" is no flag: a flag is two dashes and its name`},
		{"swapped letters", []string{"train", "--lable", "x"}, "do you mean --label?"},
		{"a flag cut short", []string{"train", "--epo", "3"}, "do you mean --epochs?"},
		{"nothing like it", []string{"train", "--colour", "red"}, "unknown flag --colour; treeloss train --help lists the flags"},
		{"the file of predict as a flag", []string{"predict", "--data", "x"}, "name the file without a flag, as in treeloss predict --model MODEL FILE"},
		{"a misspelt command with flags", []string{"trian", "--data", "x"}, `unknown command "trian", do you mean treeloss train? treeloss help lists the commands`},
		{"a misspelt command behind a flag", []string{"--quiet", "Train", "--data", "x"}, "do you mean treeloss train?"},
		{"a misspelt command of tree with flags", []string{"tree", "biuld", "--data", "x"}, "do you mean treeloss tree build? treeloss tree has build, check and show"},
		{"a flag of no command", []string{"--data", "x"}, "unknown flag --data; treeloss --help lists the flags"},
		{"help about nothing", []string{"help", "fly"}, `unknown command "fly"`},
		{"help about too much", []string{"help", "train", "hard"}, `treeloss train has no commands, so no "hard"`},
		{"a shell that is none", []string{"completion", "klingon"}, `unknown command "klingon"; treeloss completion has bash, fish, powershell and zsh`},
		{"a shell too many", []string{"completion", "fish", "bash"}, `takes no argument "bash"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := call(t, tc.args...)
			if o.status != 2 || o.out != "" || strings.Count(o.log, "\n") != 1 {
				t.Errorf("status %d, %q on standard output, log %q; want 2, nothing and one line", o.status, o.out, o.log)
			}
			if !strings.Contains(o.log, tc.want) {
				t.Errorf("log %q, want %q in it", o.log, tc.want)
			}
		})
	}
}

// No flag of any command answers a value that it cannot have in words of Go.
func TestEveryFlagSpeaksPlainly(t *testing.T) {
	for _, c := range commands(rootOf()) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Value.Type() == "string" || f.Value.Type() == "stringArray" {
				return // takes everything
			}
			for _, value := range []string{"", "x", "1,y", `a"b`, "-1e999", "NaN%"} {
				if f.Value.Type() == "stringSlice" && !strings.Contains(value, `"`) {
					continue
				}
				o := call(t, append(strings.Fields(c.CommandPath())[1:], "--"+f.Name+"="+value)...)
				if o.status != 2 || !strings.HasPrefix(o.log, "treeloss: --"+f.Name+" ") || !strings.Contains(o.log, "want ") {
					t.Errorf("%s --%s=%q: status %d, %q; want 2, the flag and what it wants", c.CommandPath(), f.Name, value, o.status, o.log)
				}
				for _, inside := range insides() {
					if strings.Contains(o.log, inside) {
						t.Errorf("%s --%s=%q: %q speaks of %q", c.CommandPath(), f.Name, value, o.log, inside)
					}
				}
			}
		})
	}
}

func TestHelpOfHelp(t *testing.T) {
	for _, args := range [][]string{{"help"}, {"help", "train"}, {"help", "tree", "show"}, {"completion"}, {"completion", "fish"}} {
		if o := succeed(t, args...); o.out == "" {
			t.Errorf("%v prints nothing", args)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"data", "label", "labels", "label-vectors", "label-smoothing", "n", "top"}
	for word, want := range map[string]string{
		"dat": "data", "lable": "label", "label": "label", "lables": "labels", "labels-vectors": "label-vectors",
		"label-": "label", "label-smoo": "label-smoothing", "m": "", "tpo": "top", "": "", "stop": "top", "kind": "",
	} {
		if got := nearest(word, names); got != want {
			t.Errorf("nearest(%q) = %q, want %q", word, got, want)
		}
	}
	for _, tc := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"abcd", "abcd", 0}, {"abcd", "acbd", 1}, {"kitten", "sitting", 3}, {"ca", "abc", 3}} {
		if got := slips(tc.a, tc.b); got != tc.want {
			t.Errorf("slips(%q, %q) = %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}

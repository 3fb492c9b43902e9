package main

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/treeloss/treeloss/classinfo"
	"github.com/treeloss/treeloss/tune"
)

// rootOf makes the command tree without running it.
func rootOf() *cobra.Command {
	return newRoot(&app{in: strings.NewReader(""), out: io.Discard, log: io.Discard})
}

// The flags that scripts rely on: all of them, in DESIGN.md, section 7, and
// those that came since. One that is gone breaks somebody's script; a new one
// must be added here.
func TestFlagsOfTheContract(t *testing.T) {
	data := []string{"data", "label", "text", "categories", "features", "format", "encoding", "skip-bad", "label-prefix", "first-label", "labels"}
	record := []string{"text", "features", "format", "encoding", "skip-bad", "label-prefix"} // of examples without a label
	known := []string{"taxonomy", "label-vectors", "unknown", "distances", "weights-model"}
	trees := []string{"from", "base", "seed"}
	train := slices.Concat(data, known, trees, []string{"weight", "threads", "memory", "prior", "rho", "class-weight", "json",
		"trainer", "epochs", "batch", "rate", "momentum", "nesterov", "weight-decay", "schedule", "average", "patience", "hxe-alpha", "encoder", "unlabeled"})
	choice := []string{"sharing", "loss", "label-smoothing", "names-as-examples", "fourier"}
	network := []string{"network", "backend", "augment", "class-names", "milestones", "warm-up", "side", "tokens", "damaged", "tensorboard"}
	decision := []string{"decode", "confidence", "reject", "target-accuracy", "taxonomy", "threshold"}
	for command, flags := range map[string][]string{
		"quickstart": {"model", "save-data", "threads", "report", "json"},
		"train":      slices.Concat(train, choice, network, []string{"model", "valid", "valid-labels", "init-model", "calibrate", "mode", "resume", "multilabel", "label-separator", "thresholds", "shard", "out"}),
		"evaluate":   slices.Concat(data, decision, []string{"model", "unknown-labels", "oos", "json", "threads", "per-class", "out", "id", "confusions", "report", "backend", "beam", "class-balance", "class-names", "label-separator", "shard"}),
		"predict":    slices.Concat(record, decision, []string{"model", "top", "json", "output", "echo", "id", "probabilities", "threads", "backend", "beam", "class-balance", "shard", "out"}),
		"explain":    slices.Concat(record, []string{"model", "top", "against", "json"}),
		"compare":    slices.Concat(train, []string{"test", "test-labels", "methods", "shots", "seeds", "report", "shard", "out"}),
		"tune":       slices.Concat(train, choice, []string{"valid", "valid-labels", "time", "trials", "metric", "folds", "nested"}),
		"cv":         slices.Concat(train, choice, []string{"folds", "out", "id", "shard"}),
		"doctor":     slices.Concat(data, known, trees, []string{"weight", "train", "threads", "memory", "json", "unlabeled"}),
		"tree build": slices.Concat(data, known, trees, []string{"kind", "out", "json"}),
		"export":     {"model", "out", "format", "quantize", "prune", "data", "json"},
		"explore":    slices.Concat(data, []string{"model", "baseline", "addr", "out", "threads", "backend", "beam", "class-names"}),
		"serve":      {"model", "addr", "watch", "token-file", "tls-cert", "tls-key", "max-body", "max-items", "queue", "timeout", "connections", "drain", "threads", "backend", "log", "class-balance"},
		"tree show":  {"format", "depth", "width", "path", "around", "json"},
		"gather":     {"out", "json"},
		"embed":      {"model", "data", "labels", "label", "text", "format", "encoding", "skip-bad", "label-prefix", "out", "class-names", "backend", "json"},
		"tree check": slices.Concat(data, []string{"json"}),

		"tweets prepare": {"data", "out", "emojis", "vectors", "languages", "skin-tones", "retweets", "valid", "test", "seed", "threads", "json"},
		"vectors names":  {"vectors", "names", "synonyms", "unknown"},

		"experiment":   {"out", "shard", "runs", "tuned-runs", "seed", "protocol", "threads", "resume", "json", "truth", "init", "average", "rate", "base", "n", "d", "k", "sigma"},
		"encoder info": {"json"}, "encoder nearest": {"top", "json"}, "encoder distill": {"from", "vocabulary", "dim", "out", "backend", "json"},
		"vectors info": {"vectors", "json"}, "vectors get": {"vectors", "json"}, "vectors nearest": {"vectors", "top", "json"},
	} {
		c, _, err := rootOf().Find(strings.Fields(command))
		if err != nil || c.CommandPath() != "treeloss "+command {
			t.Errorf("no command %q: %v", command, err)
			continue
		}
		c.InheritedFlags() // merges those of the root
		c.InitDefaultHelpFlag()
		flags = append(flags, "quiet", "help", "help-all")
		for _, flag := range flags {
			if c.Flag(flag) == nil {
				t.Errorf("%s has no flag --%s", command, flag)
			}
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !slices.Contains(flags, f.Name) {
				t.Errorf("%s has a flag --%s that is not in this list; add it", command, f.Name)
			}
		})
	}
}

// Every flag has a line of help, in the form of the others.
func TestEveryFlagExplainsItself(t *testing.T) {
	for _, c := range commands(rootOf()) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" {
				return
			}
			words := strings.Fields(f.Usage)
			if len(words) < 5 || len(f.Usage) > 100 || strings.HasSuffix(f.Usage, ".") || strings.ContainsAny(f.Usage, "`\n") {
				t.Errorf("%s --%s: %q, want a line of at most 100 characters that says what it is, without a full stop", c.CommandPath(), f.Name, f.Usage)
			}
		})
	}
}

// commands yields all commands that a user may call.
func commands(c *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		list = append(list, commands(sub)...)
	}
	return list
}

func TestEveryCommandExplainsItself(t *testing.T) {
	for _, c := range commands(rootOf()) {
		if !c.HasParent() {
			continue
		}
		if c.Short == "" || c.Long == "" || !strings.Contains(c.Example, c.CommandPath()) {
			t.Errorf("%s: short help %q, long help %q, example %q: want all three", c.CommandPath(), c.Short, c.Long, c.Example)
		}
		for _, line := range strings.Split(c.Long, "\n") {
			if len(line) > 84 {
				t.Errorf("%s: the line %q is too long for a terminal", c.CommandPath(), line)
			}
		}
		o := call(t, append(strings.Fields(c.CommandPath())[1:], "--help")...)
		if o.status != 0 || !strings.Contains(o.out, c.Example) {
			t.Errorf("%s --help: status %d, %q", c.CommandPath(), o.status, o.out)
		}
	}
}

// Every flag and command that an example uses is there.
func TestExamplesAreValidCalls(t *testing.T) {
	for _, c := range commands(rootOf()) {
		for _, line := range strings.Split(c.Example, "\n") {
			_, call, found := strings.Cut(line, "treeloss ")
			if !found {
				continue
			}
			call, _, _ = strings.Cut(call, "|")
			call, _, _ = strings.Cut(call, ">")
			words := strings.Fields(strings.ReplaceAll(call, "'", ""))
			target, rest, err := rootOf().Find(words)
			if err != nil {
				t.Errorf("%q: %v", line, err)
				continue
			}
			if err := target.ParseFlags(rest); err != nil {
				t.Errorf("%q: %v", line, err)
			}
		}
	}
}

func TestShellCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if o := succeed(t, "completion", shell); !strings.Contains(o.out, "treeloss") {
			t.Errorf("no completion for %s", shell)
		}
	}
	for _, tc := range []struct {
		args []string
		want []string
		file bool // files are offered too
	}{
		{[]string{"train", "--sharing", ""}, append([]string{"auto"}, plainTexts(classinfo.Sources())...), false},
		{[]string{"train", "--loss", ""}, append([]string{tune.AutoName}, plainTexts(tune.Losses())...), false},
		{[]string{"train", "--trainer", ""}, []string{"auto", "converge", "sgd", "adamw"}, false},
		{[]string{"train", "--format", ""}, []string{"csv", "tsv", "jsonl", "fasttext", "libsvm", "npy", "parquet", "lines"}, false},
		{[]string{"train", "--class-weight", ""}, []string{"balanced"}, true},
		{[]string{"predict", "--class-balance", ""}, []string{"uniform"}, true},
		{[]string{"train", "--from", ""}, plainTexts(classinfo.Metrics()), false},
		{[]string{"train", "--unknown", ""}, []string{"error", "average", "subword", "drop", "root"}, false},
		{[]string{"train", "--distances", ""}, nil, true},
		{[]string{"train", "--weights-model", ""}, nil, true},
		{[]string{"doctor", "--from", ""}, plainTexts(classinfo.Metrics()), false},
		{[]string{"doctor", "--unknown", ""}, []string{"error", "average", "subword", "drop", "root"}, false},
		{[]string{"compare", "--methods", ""}, tune.MethodNames(), false},
		{[]string{"compare", "--methods", "cross-entropy,na"}, []string{"cross-entropy,names", "cross-entropy,names+examples"}, false},
		{[]string{"train", "--sharing", "taxonomy+na"}, []string{"taxonomy+names"}, false},
		{[]string{"predict", "--decode", ""}, []string{"likely", "cost"}, false},
		{[]string{"train", "--data", ""}, nil, true},
		{[]string{"train", "--model", ""}, nil, true},
		{[]string{"evaluate", "--unknown-labels", ""}, []string{"wrong", "error", "skip"}, false},
		{[]string{"predict", "--output", ""}, []string{"tsv", "jsonl", "fasttext"}, false},
		{[]string{"tree", "show", "--format", ""}, []string{"text", "dot", "json", "newick", "svg", "npz"}, false},
		{[]string{"tree", "build", "--kind", ""}, []string{"v-tree", "u-tree", "linkage"}, false},
		{[]string{"tree", "build", "--from", ""}, []string{"names", "vectors", "taxonomy", "distances", "weights", "means"}, false},
		{[]string{"tree", ""}, []string{"build", "check", "show"}, false},
	} {
		var out bytes.Buffer
		if status := execute(t.Context(), append([]string{"__completeNoDesc"}, tc.args...), strings.NewReader(""), &out, io.Discard); status != 0 {
			t.Errorf("%q: status %d", tc.args, status)
			continue
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		got, directive := lines[:len(lines)-1], lines[len(lines)-1]
		if slices.Compare(got, tc.want) != 0 {
			t.Errorf("%q completes to %q, want %q", tc.args, got, tc.want)
		}
		if files := directive == ":0"; files != tc.file {
			t.Errorf("%q ends with %q: files offered %v, want %v", tc.args, directive, files, tc.file)
		}
	}
}

func TestCompareJSON(t *testing.T) {
	o := succeed(t, "compare", "--json", "--data", desk, "--test", deskTest, "--methods", "names", "--shots", "4", "--seeds", "2")
	results := parse(t, o.out)["results"].([]any)
	if len(results) != 2 {
		t.Fatalf("%d results, want cross entropy and names", len(results))
	}
	for _, r := range results {
		for _, key := range []string{"method", "accuracy", "accuracy_se", "difference", "difference_se", "macro_f1", "similarity_accuracy", "seconds"} {
			if _, ok := r.(map[string]any)[key]; !ok {
				t.Errorf("no key %q in %v", key, r)
			}
		}
	}
	o = call(t, "compare", "--quiet", "--data", desk, "--test", deskTest, "--shots", "9")
	if o.status != 1 || !strings.Contains(o.log, `class "lost a card" has 8 training rows`) {
		t.Errorf("too many shots: status %d, %q", o.status, o.log)
	}
	o = succeed(t, "compare", "--data", desk, "--test", deskTest, "--methods", "v-tree")
	if !strings.Contains(o.out, "cross-entropy") || !strings.Contains(o.out, "v-tree") {
		t.Errorf("compare prints %q", o.out)
	}
}

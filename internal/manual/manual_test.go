package manual

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// example has what is special in roff: hyphens, backslashes, a line that begins with a point.
func example() Page {
	flags := pflag.NewFlagSet("Data", pflag.ContinueOnError)
	flags.StringP("data", "d", "", "`FILE` of examples")
	flags.Bool("skip-bad", false, "leave out rows that cannot be used")
	return Page{Command: "treeloss tree build", Short: "Build a tree", Use: "treeloss tree build --data FILE",
		Long: "Writes \\t for tabs.\n.json is an ending.\n'quoted'", Examples: "  treeloss tree build --data a.csv",
		Groups: []Group{{"Data", flags}}, Commands: []string{"treeloss tree build now"}}
}

func TestMan(t *testing.T) {
	var text strings.Builder
	if err := example().WriteMan(&text, `treeloss "1"`); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`.TH "TREELOSS\-TREE\-BUILD" 1 "" "treeloss \(dq1\(dq"` + "\n",
		"treeloss\\-tree\\-build \\- Build a tree\n",
		"\nWrites \\et for tabs.\n\\&.json is an ending.\n\\&'quoted'\n",
		".TP\n\\fB\\-d, \\-\\-data\\fR \\fIFILE\\fR\nFILE of examples\n",
		".TP\n\\fB\\-\\-skip\\-bad\\fR\nleave out rows",
		"\\fBtreeloss\\-tree\\-build\\-now\\fR(1)\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}

func TestSave(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new")
	if err := Save(folder, "1", []Page{example()}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "man1", "treeloss-tree-build.1")); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, "reference.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\n## treeloss tree build\n\nBuild a tree.\n", "\nCommands:\n  treeloss tree build now\n", "\nData:\n  -d, --data FILE"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

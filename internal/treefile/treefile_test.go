package treefile

import (
	"bytes"
	"testing"
)

// Whatever the bytes, the outcome is a lawful tree or an error.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"", "child,parent\na,b\nc,b\n", "a\tb\nb\ta\n", "a,a\n", "\ufeffa,b,c\n\"", "(a,b);", "digraph {a -> b}",
		`{"format":"treeloss-tree","version":1,"nodes":[{"name":"a","parent":-1,"class":0}]}`, "1234567\x00{"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		tree, err := Read("-", bytes.NewReader(content), nil)
		if err != nil {
			return
		}
		if err := tree.Check(); err != nil {
			t.Error(err)
		}
		if facts := tree.Shape(); facts.Nodes < facts.Classes || facts.Classes < 1 {
			t.Errorf("facts %+v", facts)
		}
	})
}

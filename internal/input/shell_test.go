package input

import "testing"

func TestShellLine(t *testing.T) {
	got := ShellLine([]string{"treeloss", "train", "--data", "my file.csv", "--text", "it's", "--label", "", "--features", "a,b"})
	if want := `treeloss train --data 'my file.csv' --text 'it'\''s' --label '' --features a,b`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

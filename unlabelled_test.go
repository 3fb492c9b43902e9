package treeloss_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treeloss/treeloss"
)

// Two questions of each intent are labelled; forty more are there without a label.
func ExampleFit_unlabelled() {
	examples := []treeloss.Example{
		{Text: "where is my new card", Label: "card_arrival"}, {Text: "has my card been posted", Label: "card_arrival"}, {Text: "the card did not come in the post", Label: "card_arrival"},
		{Text: "what is the fee for a transfer", Label: "transfer_fee"}, {Text: "do you charge for transfers", Label: "transfer_fee"}, {Text: "how much does a transfer cost", Label: "transfer_fee"},
	}
	var unlabelled []treeloss.Example
	for _, when := range strings.Fields("today tomorrow still now yet soon again please anyway really") {
		for _, text := range []string{"when is my card in the post %s", "is the new card delivered %s", "what is the cost of a transfer %s", "is a transfer charged %s"} {
			unlabelled = append(unlabelled, treeloss.Example{Text: fmt.Sprintf(text, when)})
		}
	}
	m, err := treeloss.Fit(context.Background(), examples, treeloss.Options{Unlabelled: unlabelled})
	if err != nil {
		fmt.Println(err)
		return
	}
	top, err := m.Predict("is it delivered yet", 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(top[0].Label, m.Training.Unlabelled.Used)
	// Output: card_arrival 40
}

// Files take them too; what belongs to the other function is refused.
func TestFitFilesUnlabelled(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var rows strings.Builder
	for i := range 12 {
		fmt.Fprintf(&rows, "the cat number %d purrs,cat\nthe dog number %d barks,dog\n", i, i)
	}
	data := write("a.csv", "text,label\n"+rows.String())
	file := write("u.txt", "this cat purrs now\na dog barks here\nthe cat again\n")
	ctx := context.Background()
	m, err := treeloss.FitFiles(ctx, []string{data}, treeloss.Options{UnlabelledFiles: []string{file}})
	if err != nil {
		t.Fatal(err)
	}
	if u := m.Training.Unlabelled; u == nil || u.Examples != 3 || u.Data == "" {
		t.Errorf("%+v, want three examples", u)
	}
	some := []treeloss.Example{{Text: "a b"}}
	if _, err := treeloss.FitFiles(ctx, []string{data}, treeloss.Options{Unlabelled: some}); err == nil || !strings.Contains(err.Error(), "UnlabelledFiles") {
		t.Errorf("error %v, want one with UnlabelledFiles", err)
	}
	labelled := []treeloss.Example{{Text: "a b", Label: "x"}, {Text: "c d", Label: "y"}}
	if _, err := treeloss.Fit(ctx, labelled, treeloss.Options{UnlabelledFiles: []string{file}}); err == nil || !strings.Contains(err.Error(), "Unlabelled") {
		t.Errorf("error %v, want one with Unlabelled", err)
	}
	if _, err := treeloss.Fit(ctx, labelled, treeloss.Options{Unlabelled: []treeloss.Example{{Numbers: []float64{1}}}}); err == nil {
		t.Error("numbers were taken beside texts")
	}
}

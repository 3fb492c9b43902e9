package treeloss_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"testing"

	"github.com/treeloss/treeloss"
)

func Example() {
	model, err := treeloss.FitFiles(context.Background(), []string{"testdata/questions.csv"}, treeloss.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if err = model.Save("questions.safetensors"); err != nil {
		log.Fatal(err)
	}
	if model, err = treeloss.Load("questions.safetensors"); err != nil {
		log.Fatal(err)
	}
	fmt.Println(model.Predict("when will my card arrive?", 1))
	os.Remove("questions.safetensors")
	// Output: [card_arrival 0.55] <nil>
}

// The program of the README is the Example above, in at most 20 lines.
func TestReadmeProgram(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "```go\n")
	program, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("README.md has no Go program")
	}
	lines := 0
	for _, line := range strings.Split(program, "\n") {
		if strings.TrimSpace(line) != "" {
			lines++
		}
	}
	if lines > 20 {
		t.Errorf("the program of the README has %d lines, want at most 20", lines)
	}
	example, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(program, "func main() {\n")
	body = strings.TrimSuffix(strings.TrimSpace(body), "}")
	if !strings.Contains(string(example), strings.TrimSpace(body)) {
		t.Errorf("the program of the README is not the Example:\n%s", body)
	}
}

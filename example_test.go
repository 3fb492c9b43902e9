package treeloss_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"net/http"
	"net/http/httptest"
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
	// Output: [card_arrival 0.52] <nil>
}

// A server needs one Model: it is safe for concurrent use. A model can also lie
// inside the program, in an embed.FS.
func Example_handler() {
	model, err := treeloss.FitFiles(context.Background(), []string{"testdata/questions.csv"}, treeloss.Options{})
	if err != nil {
		log.Fatal(err)
	}
	handler := func(w http.ResponseWriter, r *http.Request) {
		var texts []string
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&texts); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answers, err := model.PredictAll(r.Context(), texts, 2)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		for _, top := range answers {
			for i := range top {
				top[i].Probability = math.Round(100*top[i].Probability) / 100
			}
		}
		json.NewEncoder(w).Encode(answers)
	}
	w := httptest.NewRecorder()
	handler(w, httptest.NewRequest("POST", "/", strings.NewReader(`["where is my card?", "my wallet was stolen"]`)))
	fmt.Println(w.Code, w.Body)
	// Output: 200 [[{"class":0,"label":"card_arrival","probability":0.88},{"class":1,"label":"card_lost","probability":0.08}],[{"class":1,"label":"card_lost","probability":0.77},{"class":3,"label":"fee_charged","probability":0.1}]]
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

package images

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Names of a CSV file go by the column that has what the classes are called now;
// without such a column by their order.
func TestClassNames(t *testing.T) {
	words := write(t, "words.csv", "wnid,words\nn03,truck\nn01,cat\nn02,dog\nn04,ship\n") + ":words"
	for _, tc := range []struct {
		name    string
		classes []string
		want    string
	}{
		{"by wnid, in another order", []string{"n01", "n02", "n03", "n04"}, "cat dog truck ship"},
		{"some of them", []string{"n02", "n03"}, "dog truck"},
		{"by order", []string{"0", "1", "2", "3"}, "truck cat dog ship"},
	} {
		if got, err := classNames(words, tc.classes); err != nil || strings.Join(got, " ") != tc.want {
			t.Errorf("%s: %q, error %v, want %q", tc.name, got, err, tc.want)
		}
	}
	if _, err := classNames(words, []string{"n01", "n02", "n03", "n05"}); err == nil || !strings.Contains(err.Error(), `no row for the class "n05"`) {
		t.Errorf("a class without a row: %v", err)
	}
	for _, text := range []string{"wnid,words\nn01,cat\nn02,cat\n", "wnid,words\nn01\n", "x\n1\n"} {
		if got, err := classNames(write(t, "bad.csv", text)+":words", []string{"n01", "n02"}); err == nil {
			t.Errorf("%q: %q", text, got)
		}
	}
}

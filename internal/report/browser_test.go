package report

import (
	"testing"

	"github.com/treeloss/treeloss/internal/pagetest"
)

// A real browser shows the page without scrolling sideways, at the width of a
// telephone and of a desk.
func TestInBrowser(t *testing.T) {
	for name, page := range map[string]*Page{"whole": whole(t), "rich": rich()} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if _, err := page.Save(dir); err != nil {
				t.Fatal(err)
			}
			pagetest.Look(t, dir)
		})
	}
}

package report

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// A real browser shows the page without scrolling sideways, at the width of a
// telephone and of a desk.
func TestInBrowser(t *testing.T) {
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no chromium to look at the page with; install it to run this")
	}
	if testing.Short() {
		t.Skip("a browser takes seconds to start: left out by -short")
	}
	dir := t.TempDir()
	if _, err := whole(t).Save(dir); err != nil {
		t.Fatal(err)
	}
	// A frame is as narrow as it should be, a browser's window may not be.
	frames := ""
	for _, width := range []int{380, 1280} {
		frames += fmt.Sprintf(`<iframe src="index.html" width="%d" height="800" onload="let d = this.contentDocument.documentElement; this.id = 'page ' + d.clientWidth + ' ' + d.scrollWidth + ' ' + d.querySelectorAll('script').length"></iframe>`, width)
	}
	path := filepath.Join(dir, "frames.html")
	if err := os.WriteFile(path, []byte("<!DOCTYPE html><title>frames</title>"+frames), 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
		"--user-data-dir="+filepath.Join(dir, "profile"), "--dump-dom", "file://"+path).Output()
	if err != nil {
		t.Skipf("%s does not run here: %v", browser, err)
	}
	found := regexp.MustCompile(`id="page (\d+) (\d+) (\d+)"`).FindAllSubmatch(out, -1)
	if len(found) != 2 {
		t.Fatalf("%d pages measured, want 2:\n%s", len(found), out)
	}
	for _, m := range found {
		client, _ := strconv.Atoi(string(m[1]))
		scroll, _ := strconv.Atoi(string(m[2]))
		if scroll > client || string(m[3]) != "0" {
			t.Errorf("the page is %d wide in a window of %d, with %s scripts", scroll, client, m[3])
		}
	}
}

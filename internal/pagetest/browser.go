// Package pagetest looks at pages with a real browser, for the tests of several packages.
package pagetest

import (
	"bytes"
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

// widths are those of telephones and of a desk, in pixels.
var widths = []int{380, 400, 1280}

// Look opens index.html of a folder with all its parts unfolded. It fails the test if
// the page must be scrolled sideways at some width, has scripts, or makes the browser
// complain. Where there is no Chromium, or tests are to be short, the test is skipped.
func Look(t *testing.T, dir string) {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes seconds to start: left out by -short")
	}
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no chromium to look at the page with; install it to run this")
	}
	// A frame is as narrow as it should be, a browser's window may not be.
	frames := ""
	for _, width := range widths {
		frames += fmt.Sprintf(`<iframe src="index.html" width="%d" height="800" onload="let d = this.contentDocument.documentElement; d.querySelectorAll('details').forEach(x => x.open = true); this.id = 'page ' + d.clientWidth + ' ' + d.scrollWidth + ' ' + d.querySelectorAll('script').length"></iframe>`, width)
	}
	path := filepath.Join(dir, "frames.html")
	if err := os.WriteFile(path, []byte("<!DOCTYPE html><title>frames</title>"+frames), 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--enable-logging=stderr",
		"--user-data-dir="+t.TempDir(), "--dump-dom", "file://"+path)
	var log bytes.Buffer
	run.Stderr = &log
	out, err := run.Output()
	if err != nil {
		t.Skipf("%s does not run here: %v", browser, err)
	}
	if said := regexp.MustCompile(`.*CONSOLE.*`).Find(log.Bytes()); said != nil {
		t.Errorf("the browser complains: %s", said)
	}
	found := regexp.MustCompile(`id="page (\d+) (\d+) (\d+)"`).FindAllSubmatch(out, -1)
	if len(found) != len(widths) {
		t.Fatalf("%d pages measured, want %d:\n%s", len(found), len(widths), out)
	}
	for _, m := range found {
		client, _ := strconv.Atoi(string(m[1]))
		scroll, _ := strconv.Atoi(string(m[2]))
		if scroll > client || string(m[3]) != "0" {
			t.Errorf("the page is %d wide in a window of %d, with %s scripts", scroll, client, m[3])
		}
	}
}

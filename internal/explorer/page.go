package explorer

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/treeloss/treeloss/dataset"
	"github.com/treeloss/treeloss/internal/atomicfile"
)

//go:embed page
var pageFiles embed.FS

// Policy is the Content-Security-Policy of the page: its own scripts and styles from the
// same place and nothing else, none of them inline. Were a text or a name ever set as HTML
// by mistake, no script in it would run, and nothing would leave for another place.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Assets lists the names of the files of the page beside index.html.
func Assets() []string {
	return []string{"explorer.css", "data.js", "tree.js", "map.js", "panel.js", "main.js"}
}

// notCode is what the browser does not need of a script: indentation and comments. A comment
// behind code has no quotes in it, as a text could have two strokes.
var notCode = regexp.MustCompile("(?m)^[ \t]*(//.*\n)?|[ \t]+// [^\"'`\n]*$")

// Asset returns a file of the page and its media type: index.html or one of Assets.
// Scripts come without their comments.
func Asset(name string) (data []byte, kind string, err error) {
	data, err = pageFiles.ReadFile("page/" + name)
	if err != nil {
		return nil, "", fmt.Errorf("explorer: no file %s", name)
	}
	if filepath.Ext(name) == ".js" {
		data = notCode.ReplaceAll(data, nil)
	}
	kind = map[string]string{".html": "text/html", ".css": "text/css", ".js": "text/javascript"}[filepath.Ext(name)] + "; charset=utf-8"
	return data, kind, nil
}

// Saved pieces. A file for each of 100,000 classes would be slow to copy and to delete, one
// for all slow to open.
const (
	folderOfPieces = "data"
	leastChunk     = 32   // classes in a file
	mostChunks     = 400  // files, about
	nearestWork    = 4e11 // multiplications for the nearest classes of all, about two minutes
)

// Save writes the page and all its pieces into a folder, which it makes if it is not there:
// index.html, which opens from a disk or any web server, and data/. A text cannot be tried there, as
// there is no model; the page says so. Pairs of classes have their features where they
// are confused. The same model and examples give the same bytes. index.html is written
// last. Files that are not of the page are left alone. It takes a pass over the weights for
// each file of classes, and 2 d k² multiplications for the nearest classes of d features,
// which are left out beyond nearestWork. When ctx is done the page is not whole.
func (e *Explorer) Save(ctx context.Context, dir string) error {
	pieces := filepath.Join(dir, folderOfPieces)
	for _, folder := range []string{dir, pieces} {
		if err := os.Mkdir(folder, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	k := len(e.about.Labels)
	size := max(leastChunk, (k+mostChunks-1)/mostChunks)
	write := func(name string, v any) error {
		data, err := json.Marshal(v)
		if err != nil {
			return err
		}
		// A page from a disk may not fetch files, but it may load scripts.
		return atomicfile.WriteBytes(filepath.Join(pieces, name+".js"), fmt.Appendf(nil, "explorerPiece(%q, %s);\n", name, data))
	}
	// The page reads start for its first picture, confusions for the map and the mistakes of a
	// class, and a file of classes when one of them is clicked.
	if err := cmp.Or(write("start", e.start(size)), write("confusions", e.confusions())); err != nil {
		return err
	}
	far := e.model != nil && 2*float64(e.model.Layer.Features)*float64(k)*float64(k) > nearestWork
	n := 0
	for ; n*size < k; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		list, err := e.details(ctx, dataset.Range(n*size, min((n+1)*size, k)), far, true)
		if err != nil {
			return err
		}
		if err := write(fmt.Sprint("classes-", n), chunk{list}); err != nil {
			return err
		}
	}
	for { // classes of a larger model that was shown here before
		err := os.Remove(filepath.Join(pieces, fmt.Sprintf("classes-%d.js", n)))
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return err
		}
		n++
	}
	return saveAssets(dir)
}

// saveAssets writes the files of the page, made to read the pieces as files, index.html last.
func saveAssets(dir string) error {
	for _, name := range append(Assets(), "index.html") {
		data, _, err := Asset(name)
		if err != nil {
			return err
		}
		if name == "index.html" {
			data = bytes.Replace(data, []byte("<html lang=\"en\">"), []byte("<html lang=\"en\" data-files>"), 1)
			// Not every browser counts the files of a folder as one place.
			data = bytes.ReplaceAll(data, []byte("-src 'self'"), []byte("-src 'self' file:"))
		}
		if err := atomicfile.WriteBytes(filepath.Join(dir, name), data); err != nil {
			return err
		}
	}
	return nil
}

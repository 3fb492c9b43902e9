package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// web is any web server.
type web struct{}

// ask sends a request and refuses all answers but those with a status of want.
func ask(ctx context.Context, method, url string, header http.Header, want ...int) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return nil, final{err}
	}
	request.Header = header
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	for _, status := range want {
		if answer.StatusCode == status {
			return answer, nil
		}
	}
	answer.Body.Close()
	err = fmt.Errorf("the server answers %s", answer.Status)
	if answer.StatusCode == http.StatusPreconditionFailed {
		err = errors.New("it was replaced while it was read; start again")
	}
	if answer.StatusCode < 500 && answer.StatusCode != http.StatusTooManyRequests {
		err = final{err}
	}
	return nil, err
}

func (web) stat(ctx context.Context, url string) (object, error) {
	// Encoding: identity, or the length would be that of packed bytes.
	answer, err := ask(ctx, http.MethodHead, url, http.Header{"Accept-Encoding": {"identity"}}, http.StatusOK, http.StatusMethodNotAllowed)
	if err != nil {
		return object{}, err
	}
	answer.Body.Close()
	o := object{url: url, bytes: answer.ContentLength, version: answer.Header.Get("ETag")}
	if answer.StatusCode != http.StatusOK {
		return object{url: url, bytes: -1}, nil
	}
	// Pieces of a file without a version could be of two.
	o.ranges = answer.Header.Get("Accept-Ranges") == "bytes" && o.bytes >= 0 && o.version != "" && !strings.HasPrefix(o.version, "W/")
	return o, nil
}

func (web) read(ctx context.Context, o object, from, length int64) (io.ReadCloser, error) {
	header, want := http.Header{"Accept-Encoding": {"identity"}}, http.StatusOK
	if o.ranges && length < o.bytes {
		header.Set("Range", fmt.Sprintf("bytes=%d-%d", from, from+length-1))
		header.Set("If-Match", o.version)
		want = http.StatusPartialContent
	}
	answer, err := ask(ctx, http.MethodGet, o.url, header, want)
	if err != nil {
		return nil, err
	}
	return answer.Body, nil
}

func (web) list(context.Context, string) ([]object, error) {
	return nil, final{errors.New("a web server does not list its files; name one")}
}

func (web) write(context.Context, string, string) error {
	return final{errors.New("a web server is read only")}
}

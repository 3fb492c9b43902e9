package pagetest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Browser is a headless Chromium that tests talk to in the DevTools protocol, over a pipe:
// JSON messages with a 0 byte behind each. It takes a hundred lines, which is less than a
// library for it would add to the module.
type Browser struct {
	t       testing.TB
	in      io.Writer
	next    atomic.Int64
	mutex   sync.Mutex
	waiting map[int64]chan message
	tabs    map[string]*Tab // by session
}

// message is a command, an answer or an event.
type message struct {
	ID        int64           `json:"id,omitempty"`
	Method    string          `json:"method,omitempty"`
	Params    any             `json:"params,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// patience is how long a page may take for anything before a test gives it up: it bounds
// a test that hangs, and no test passes or fails by it otherwise.
const patience = 60 * time.Second

// Open starts a browser that ends with the test. Where there is no Chromium, or tests are to
// be short, the test is skipped.
func Open(t testing.TB) *Browser {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes seconds to start: left out by -short")
	}
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no chromium to look at the page with; install it to run this")
	}
	// Chromium reads commands from descriptor 3 and writes answers to 4, which are the first
	// of ExtraFiles: no port is opened, and nothing else on the machine can connect.
	toBrowser, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, fromBrowser, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	run := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-color-profile=srgb", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir(), "about:blank")
	run.ExtraFiles = []*os.File{toBrowser, fromBrowser}
	if err := run.Start(); err != nil {
		t.Skipf("%s does not run here: %v", path, err)
	}
	// The browser has its own copies; with ours open reading would not end when it does.
	toBrowser.Close()
	fromBrowser.Close()
	b := &Browser{t: t, in: in, waiting: map[int64]chan message{}, tabs: map[string]*Tab{}}
	go b.read(out)
	t.Cleanup(func() {
		_, _ = b.call("", "Browser.close", nil)
		in.Close()
		// A browser that does not end by itself would outlive the test, and its folder could
		// not be removed.
		done := make(chan struct{})
		go func() { _ = run.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(5 * time.Second):
			_ = run.Process.Kill()
			<-done
		}
		out.Close()
	})
	return b
}

// read hands answers to who waits for them, and keeps what pages complain about.
func (b *Browser) read(out io.Reader) {
	r := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m struct {
			message
			Params json.RawMessage `json:"params"`
		}
		if json.Unmarshal(line[:len(line)-1], &m) != nil {
			continue
		}
		// Answers have the number of their command; events have none, but a method.
		b.mutex.Lock()
		if c := b.waiting[m.ID]; m.ID != 0 && c != nil {
			delete(b.waiting, m.ID)
			c <- m.message
		} else if tab := b.tabs[m.SessionID]; tab != nil {
			switch m.Method {
			case "Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled":
				if text := string(m.Params); !strings.Contains(text, `"level":"info"`) && !strings.Contains(text, "favicon.ico") {
					tab.complaints = append(tab.complaints, text)
				}
			}
		}
		b.mutex.Unlock()
	}
}

// call sends a command and waits for its answer.
func (b *Browser) call(session, method string, params any) (json.RawMessage, error) {
	m := message{ID: b.next.Add(1), Method: method, Params: params, SessionID: session}
	data, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	c := make(chan message, 1)
	b.mutex.Lock()
	b.waiting[m.ID] = c
	_, err = b.in.Write(append(data, 0))
	b.mutex.Unlock()
	if err != nil {
		return nil, err
	}
	select {
	case answer := <-c:
		if answer.Error != nil {
			return nil, fmt.Errorf("%s: %s", method, answer.Error.Message)
		}
		return answer.Result, nil
	case <-time.After(patience):
		return nil, fmt.Errorf("%s: no answer of the browser in %v", method, patience)
	}
}

// Tab is a page in a browser.
type Tab struct {
	b          *Browser
	session    string
	complaints []string
}

type params map[string]any

// Page opens an address in a window of a size in pixels, with light or dark colours and
// without animations.
func (b *Browser) Page(url string, width, height int, dark bool) *Tab {
	b.t.Helper()
	// A flat session: its messages go over the same pipe and carry its name.
	var target struct{ TargetID, SessionID string }
	b.must("", "Target.createTarget", params{"url": "about:blank"}, &target)
	b.must("", "Target.attachToTarget", params{"targetId": target.TargetID, "flatten": true}, &target)
	p := &Tab{b: b, session: target.SessionID}
	b.mutex.Lock()
	b.tabs[p.session] = p
	b.mutex.Unlock()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	for _, c := range []struct {
		method string
		params params
	}{
		{"Page.enable", nil}, {"Runtime.enable", nil}, {"Log.enable", nil},
		{"Emulation.setDeviceMetricsOverride", params{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}},
		{"Emulation.setEmulatedMedia", params{"features": []params{{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}}}},
		{"Page.navigate", params{"url": url}},
	} {
		b.must(p.session, c.method, c.params, nil)
	}
	return p
}

// must is call that ends the test with an error.
func (b *Browser) must(session, method string, p params, into any) {
	b.t.Helper()
	result, err := b.call(session, method, p)
	if err == nil && into != nil {
		err = json.Unmarshal(result, into)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// Eval evaluates JavaScript, waits for a promise, and returns its value as JSON.
func (p *Tab) Eval(script string) string {
	p.b.t.Helper()
	value, err := p.eval(script)
	if err != nil {
		p.b.t.Fatal(err)
	}
	return value
}

func (p *Tab) eval(script string) (string, error) {
	raw, err := p.b.call(p.session, "Runtime.evaluate", params{"expression": script, "awaitPromise": true, "returnByValue": true})
	if err != nil {
		return "", err
	}
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Exception struct{ Description string }
		}
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return "", err
	}
	if r.ExceptionDetails != nil {
		return "", fmt.Errorf("%s: %s", script, r.ExceptionDetails.Exception.Description)
	}
	return string(r.Result.Value), nil
}

// Wait waits until JavaScript gives something true.
func (p *Tab) Wait(script string) {
	p.b.t.Helper()
	last := ""
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		value, err := p.eval("!!(" + script + ")")
		if err == nil && value == "true" {
			return
		}
		last = fmt.Sprint(value, err)
	}
	p.b.t.Fatalf("%s does not come: %s; the page complains: %s", script, last, p.Complaints())
}

// Click presses the left button at a place; shift says whether that key is down.
func (p *Tab) Click(x, y float64, shift bool) {
	p.b.t.Helper()
	modifiers := 0
	if shift {
		modifiers = 8
	}
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		p.b.must(p.session, "Input.dispatchMouseEvent", params{"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1, "modifiers": modifiers}, nil)
	}
}

// Press presses a key by its name in the DOM, such as ArrowDown.
func (p *Tab) Press(key string) {
	p.b.t.Helper()
	text := ""
	if len(key) == 1 {
		text = key
	} else if key == "Enter" {
		text = "\r"
	}
	p.b.must(p.session, "Input.dispatchKeyEvent", params{"type": "keyDown", "key": key, "text": text}, nil)
	p.b.must(p.session, "Input.dispatchKeyEvent", params{"type": "keyUp", "key": key}, nil)
}

// Type writes a text into what has the focus.
func (p *Tab) Type(text string) {
	p.b.t.Helper()
	p.b.must(p.session, "Input.insertText", params{"text": text}, nil)
}

// Complaints returns exceptions and what the browser wrote to the console.
func (p *Tab) Complaints() []string {
	p.b.mutex.Lock()
	defer p.b.mutex.Unlock()
	return p.complaints
}

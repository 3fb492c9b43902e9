package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// attack sends what no client should, and asks a question after each.
func (s settings) attack(server *server, questions []question) error {
	post := "POST /v1/predict HTTP/1.1\r\nHost: a\r\n"
	sized := func(body string) string { return fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", post, len(body), body) }
	numbers := func(data string) string {
		body := fmt.Sprintf(`{"inputs": [{"name": "text", "datatype": "BYTES", "shape": [1, 3], "data": %s}]}`, data)
		return fmt.Sprintf("POST /v2/models/m/infer HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	}
	fmt.Println("\n| what | answer | memory MB | at most |\n|---|---|---|---|")
	for _, a := range []struct {
		name string
		send func(c net.Conn)
	}{
		{"malformed JSON", text(sized(`{"text": `))},
		{"deep JSON", text(sized(`{"text": ` + strings.Repeat("[", 1<<20)))},
		{"invalid UTF-8", text(sized("{\"text\": \"\xff\xfe\"}"))},
		{"NaN", text(sized(`{"examples": [[NaN]]}`))},
		{"wrong shape", text(numbers(`["a", "b", "c"]`))},
		{"number for a text", text(numbers(`[1, 2, 3]`))},
		{"a million examples", text(sized(`{"examples": [` + strings.Repeat(`"",`, 1<<20) + `""]}`))},
		{"a body of 1 GB, its length told", text(post + "Content-Length: 1073741824\r\n\r\n")},
		{"a body of 1 GB in chunks", chunks(post)},
		{"a length of -1", text(post + "Content-Length: -1\r\n\r\n")},
		{"a header of 1 MB", text(post + "X: " + strings.Repeat("a", 1<<20))},
		{"half closed", func(c net.Conn) {
			io.WriteString(c, post+"Content-Length: 100\r\n\r\n{")
			c.(*net.TCPConn).CloseWrite()
		}},
		{"a slow header", slowly(post + "Content-Length: 2\r\n\r\n{}")},
		{"a slow body", slowly("{}")},
	} {
		c, err := net.Dial("tcp", server.address)
		if err != nil {
			return err
		}
		if a.name == "a slow body" {
			io.WriteString(c, post+"Content-Length: 2000\r\n\r\n")
		}
		go a.send(c)
		c.SetReadDeadline(time.Now().Add(60 * time.Second))
		answer := "closed"
		if line, err := bufio.NewReader(c).ReadString('\n'); err == nil {
			answer = strings.TrimSpace(strings.TrimPrefix(line, "HTTP/1.1 "))
		} else if e, ok := err.(net.Error); ok && e.Timeout() {
			return fmt.Errorf("%s: neither answered nor closed within 60 s", a.name)
		}
		c.Close()
		if err := s.row(server, questions[0], a.name, answer); err != nil {
			return err
		}
	}
	var idle []net.Conn
	for range 10000 {
		c, err := net.Dial("tcp", server.address)
		if err != nil {
			return fmt.Errorf("connection %d: %w", len(idle), err)
		}
		idle = append(idle, c)
	}
	err := s.row(server, questions[0], "10,000 idle connections", "-")
	for _, c := range idle {
		c.Close()
	}
	if err != nil {
		return err
	}
	return s.row(server, questions[0], "afterwards", "-")
}

// row asks a question and prints a line of the table.
func (s settings) row(server *server, q question, name, answer string) error {
	client := http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	_, body, _ := strings.Cut(string(q.request), "\r\n\r\n")
	r, err := client.Post("http://"+server.address+"/v1/predict", "application/json", strings.NewReader(body))
	if err != nil {
		return fmt.Errorf("after %s: %w", name, err)
	}
	defer r.Body.Close()
	if got, err := io.ReadAll(r.Body); err != nil || r.StatusCode != 200 || !q.is(got) {
		return fmt.Errorf("after %s: %d %s %v", name, r.StatusCode, got, err)
	}
	fmt.Printf("| %s | %s | %.1f | %.1f |\n", name, answer, server.memory("VmRSS"), server.memory("VmHWM"))
	return nil
}

func text(s string) func(net.Conn) { return func(c net.Conn) { io.WriteString(c, s) } }

// chunks sends 1 GB without saying so.
func chunks(head string) func(net.Conn) {
	return func(c net.Conn) {
		io.WriteString(c, head+"Transfer-Encoding: chunked\r\n\r\n")
		chunk := "100000\r\n" + strings.Repeat(" ", 1<<20) + "\r\n"
		for range 1024 {
			if _, err := io.WriteString(c, chunk); err != nil {
				return
			}
		}
	}
}

// slowly sends a byte a second.
func slowly(s string) func(net.Conn) {
	return func(c net.Conn) {
		for i := range len(s) {
			if _, err := io.WriteString(c, s[i:i+1]); err != nil {
				return
			}
			time.Sleep(time.Second)
		}
	}
}

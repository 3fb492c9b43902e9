package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tweetLines are tweets of people who like what they do.
func tweetLines() string {
	var b strings.Builder
	for user := range 60 {
		for i, text := range []string{"reading again 📚 https://t.co/a", "@ann tea ☕ and books 📚", "sun ☀️ at last", "no emoji here"} {
			fmt.Fprintf(&b, `{"text":%q,"lang":"%s","user":{"id":%d}}`+"\n", text, []string{"en", "en", "en", "und"}[i], 1000+user)
		}
	}
	return b.String() + "this is no JSON\n"
}

func TestTweetsPrepare(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tweets.jsonl")
	if err := os.WriteFile(path, []byte(tweetLines()), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "emoji")
	var c struct {
		Lines, Damaged, Tweets, Labels int
		NoEmoji                        int `json:"no_emoji"`
		Examples                       map[string]int
	}
	if err := json.Unmarshal([]byte(succeed(t, "tweets", "prepare", "--data", path, "--out", out, "--json").out), &c); err != nil {
		t.Fatal(err)
	}
	if c.Lines != 241 || c.Damaged != 1 || c.Tweets != 180 || c.NoEmoji != 60 || c.Labels != 3 || c.Examples["train"]+c.Examples["valid"]+c.Examples["test"] != 240 {
		t.Errorf("counts %+v", c)
	}
	list, _ := os.ReadFile(filepath.Join(out, "emojis.csv"))
	if string(list) != "emoji,examples\n📚,120\n☀,60\n☕,60\n" {
		t.Errorf("emojis.csv is %q", list)
	}
	train, _ := os.ReadFile(filepath.Join(out, "train.csv"))
	if n := strings.Count(string(train), "\n"); n != 1+c.Examples["train"] || !strings.Contains(string(train), "tea and books,☕,en\n") {
		t.Errorf("train.csv has %d lines, want %d: %.200q", n, 1+c.Examples["train"], train)
	}
	// What it writes is what train reads.
	model := filepath.Join(dir, "m.safetensors")
	succeed(t, "train", "--data", filepath.Join(out, "train.csv"), "--sharing", "none", "--model", model, "--quiet")
	succeed(t, "evaluate", "--model", model, "--data", filepath.Join(out, "test.csv"))

	chosen := filepath.Join(dir, "chosen.csv")
	if err := os.WriteFile(chosen, []byte("emoji,examples\n☀️,60\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := callWith(t, tweetLines(), "tweets", "prepare", "--data", "-", "--out", out, "--emojis", chosen, "--languages", "en,es", "--skin-tones", "drop")
	if o.status != 0 || !strings.Contains(o.out, "60 examples of 1 emojis") {
		t.Errorf("chosen: %+v", o)
	}
	if left, _ := filepath.Glob(filepath.Join(out, ".treeloss-*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

func TestTweetsVectors(t *testing.T) {
	dir := t.TempDir()
	vectors := filepath.Join(dir, "emoji.txt")
	if err := os.WriteFile(vectors, []byte("2 2\n☀️ 1 0\n☕ 0 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := callWith(t, tweetLines(), "tweets", "prepare", "--data", "-", "--out", dir, "--vectors", vectors)
	if o.status != 0 || !strings.Contains(o.out, "120 examples of 2 emojis") {
		t.Errorf("with vectors: %+v", o)
	}
}

func TestTweetsRefusals(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, []byte("emoji\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	prepare := func(args ...string) []string { return append([]string{"tweets", "prepare"}, args...) }
	for _, tc := range []struct {
		status int
		says   string
		args   []string
	}{
		{2, "unknown command", []string{"tweets", "collect"}},
		{2, "--data", prepare("--out", dir)},
		{2, "--out", prepare("--data", "x")},
		{2, "keep or drop", prepare("--data", "x", "--out", dir, "--skin-tones", "some")},
		{2, "less than 1", prepare("--data", "x", "--out", dir, "--valid", "0.5", "--test", "0.5")},
		{2, "one of them", prepare("--data", "x", "--out", dir, "--emojis", "a", "--vectors", "b")},
		{1, "no such file", prepare("--data", filepath.Join(dir, "x"), "--out", dir)},
		{1, "folder", prepare("--data", dir, "--out", dir)},
		{1, "--emojis", prepare("--data", "x", "--out", dir, "--emojis", filepath.Join(dir, "y"))},
		{1, "no emojis in it", prepare("--data", "x", "--out", dir, "--emojis", empty)},
		{1, "no tweet with an emoji", prepare("--data", empty, "--out", dir)},
		{1, "--out", prepare("--data", "x", "--out", empty)},
	} {
		if o := call(t, tc.args...); o.status != tc.status || !strings.Contains(o.log, tc.says) || strings.Count(o.log, "\n") != 1 {
			t.Errorf("%q: status %d, %q; want %d and %q", tc.args, o.status, o.log, tc.status, tc.says)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".treeloss-*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	succeed(t, "tweets")
}

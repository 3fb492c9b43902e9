package tweets

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
)

func TestClean(t *testing.T) {
	for _, tc := range []struct{ name, text, clean, emojis string }{
		{"an emoji", "what a day 😍", "what a day", "😍"},
		{"in the middle", "so😂funny", "so funny", "😂"},
		{"twice is once", "😂😂 yes 😂", "yes", "😂"},
		{"two emojis", "🔥 hot ☀️", "hot", "🔥|☀"},
		{"with and without U+FE0F", "❤️ or ❤", "or", "❤"},
		{"plain form is no label but goes", "❤︎ love", "love", ""},
		{"skin tone", "ok 👍🏽", "ok", "👍🏽"},
		{"family", "us 👨‍👩‍👧 here", "us here", "👨‍👩‍👧"},
		{"joined with a sign", "👩‍❤️‍👩 x", "x", "👩‍❤‍👩"},
		{"doctor", "👩🏿‍⚕️!", "!", "👩🏿‍⚕"},
		{"flags side by side", "go 🇺🇸🇲🇽", "go", "🇺🇸|🇲🇽"},
		{"half a flag", "x 🇺 y", "x y", ""},
		{"flag of tags", "🏴󠁧󠁢󠁳󠁣󠁴󠁿 home", "home", "🏴󠁧󠁢󠁳󠁣󠁴󠁿"},
		{"keycap", "1️⃣ first, 2 second", "first, 2 second", "1⃣"},
		{"copyright as text", "© 2020", "© 2020", ""},
		{"copyright as emoji", "©️ 2020", "2020", "©"},
		{"arrow as text", "a → b ↔ c", "a → b ↔ c", ""},
		{"tone alone", "x 🏽 y", "x y", ""},
		{"joiner left over", "😀\u200d x", "x", "😀"},
		{"Persian keeps its joiner", "می\u200cخواهم 😀", "می\u200cخواهم", "😀"},
		{"Japanese", "ありがとう😊。", "ありがとう 。", "😊"},
		{"name and address", "@ann look https://t.co/AbC123 😎", "look", "😎"},
		{"names side by side", "@ann@bob @c_1: hi", ": hi", ""},
		{"mail stays", "write me@example.org", "write me@example.org", ""},
		{"upper case", "HTTP://X.Y/z www.a.b pic.twitter.com/q end", "end", ""},
		{"address cut off", "read this https:…", "read this", ""},
		{"escapes", "R&amp;B &lt;3 &amp;lt;", "R&B <3 &lt;", ""},
		{"white space", " a\n\tb\u00a0 c ", "a b c", ""},
		{"hashtags stay", "#monday 😴", "#monday", "😴"},
		{"nothing but emoji", "😴😴", "", "😴"},
	} {
		clean, emojis := Clean(tc.text)
		if got := strings.Join(emojis, "|"); clean != tc.clean || got != tc.emojis {
			t.Errorf("%s: %q and %q, want %q and %q", tc.name, clean, got, tc.clean, tc.emojis)
		}
	}
	if got := Tone("👩🏿‍⚕"); got != "👩‍⚕" {
		t.Errorf("without tone: %q", got)
	}
}

// check finds what must not be left in a text.
func check(text string) error {
	again, emojis := Clean(strings.NewReplacer("&", "&amp;").Replace(text))
	switch {
	case len(emojis) > 0:
		return fmt.Errorf("emojis %q are left", emojis)
	case again != text:
		return fmt.Errorf("cleaned again it is %q", again)
	case !utf8.ValidString(text), strings.ContainsAny(text, "\ufe0f\ufe0e\n\r"), strings.Contains(strings.ToLower(text), "https://"):
		return errors.New("something is left")
	}
	return nil
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"@a😀@b", "ht😀tps://x", "1\ufe0f\ufe0f\u20e3", "©\ufe0e\ufe0f", "a https:/… https…", "www.www.", "\xff😀", "🇺🇸🇺", "@@a", "x@😀a", "＠a", "K http…\ufe0f"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		clean, emojis := Clean(s)
		if err := check(clean); err != nil {
			t.Errorf("%q to %q: %v", s, clean, err)
		}
		for _, e := range emojis {
			if back, rest := Emojis(e); e == "" || strings.ContainsRune(e, colour) || len(back) > 1 || strings.TrimSpace(rest) != "" && e[0] > 0x7f && []rune(e)[0] >= signs {
				t.Errorf("%q: emoji %q is %q and %q", s, e, back, rest)
			}
		}
	})
}

// line is a tweet as the API gives it.
func line(user int, language, text string, more ...string) string {
	quoted, _ := json.Marshal(text)
	return fmt.Sprintf(`{"id":1,"text":%s,"lang":%q,"user":{"id":%d,"id_str":"%d"}%s}`, quoted, language, user, user, strings.Join(more, ""))
}

func collect(t *testing.T, in string, o Options) ([]Example, Counts) {
	t.Helper()
	var all []Example
	c, err := Read(t.Context(), strings.NewReader(in), o, func(e Example) error { all = append(all, e); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return all, c
}

func TestRead(t *testing.T) {
	in := strings.Join([]string{
		line(1, "en", "good morning ☀️ 😀"),
		`{"delete":{"status":{"id":1}}}`,
		`not json`,
		`{"text":"cut off`,
		line(2, "es", "hola"),
		line(2, "es", "hola 😂"),
		line(3, "en", "RT @x: ha 😂", `,"retweeted_status":{"text":"ha 😂"}`),
		line(3, "en", "the beginning…", `,"extended_tweet":{"full_text":"the beginning and the end 🔥"}`),
		`{"full_text":"newer form 💯","user":{"id":12345678901234567890}}`,
		`{"text":"nobody 😀"}`,
		"",
		line(4, "en", "😀 @ann"),
		`[1,2]`,
		line(5, "en", strings.Repeat("x", maxLine)),
		line(6, "en", "last 👍🏽"),
	}, "\n")
	all, c := collect(t, in, Options{})
	var got []string
	for _, e := range all {
		got = append(got, e.Language+" "+e.Text+" "+e.Emoji)
	}
	want := []string{"en good morning ☀", "en good morning 😀", "es hola 😂", "en the beginning and the end 🔥", "und newer form 💯", "en last 👍🏽"}
	if !slices.Equal(got, want) {
		t.Errorf("examples %q, want %q", got, want)
	}
	if c.Lines != 15 || c.Damaged != 4 || c.Notices != 1 || c.Users != 1 || c.Retweets != 1 || c.Without != 1 || c.Empty != 1 || c.Tweets != 5 || c.Examples["train"] != 6 || c.Emojis["😂"] != 1 || c.ByLanguage["en"] != 4 {
		t.Errorf("counts %+v", c)
	}
	all, c = collect(t, in, Options{Languages: map[string]bool{"en": true}, Emojis: map[string]bool{"😂": true, "👍": true}, NoTones: true, Retweets: true})
	if len(all) != 2 || all[0].Text != "RT : ha" || all[1].Emoji != "👍" || c.Languages != 3 {
		t.Errorf("chosen: %+v, %+v", all, c)
	}
	twice := Counts{}
	twice.Merge(c)
	twice.Merge(c)
	if twice.Lines != 30 || twice.Languages != 6 || twice.Emojis["👍"] != 2 {
		t.Errorf("merged: %+v", twice)
	}
}

// The parts are those of the users, near the shares asked for, and the same for
// any number of threads.
func TestParts(t *testing.T) {
	var b strings.Builder
	const users = 4000
	for i := range 2 * users {
		fmt.Fprintln(&b, line(7000+i%users, "en", fmt.Sprintf("text %d 😀", i)))
	}
	o := Options{Valid: 0.1, Test: 0.2, Seed: 5, Threads: 1}
	all, c := collect(t, b.String(), o)
	for i := range users {
		if all[i].Part != all[i+users].Part {
			t.Fatalf("user %d is in two parts", i)
		}
	}
	for part, share := range map[string]float64{"train": 0.7, "valid": 0.1, "test": 0.2} {
		n, want := float64(c.Examples[part])/2, share*users
		if math.Abs(n-want) > 4*math.Sqrt(want) {
			t.Errorf("%s has %.0f users, want about %.0f", part, n, want)
		}
	}
	o.Threads = 7
	if again, d := collect(t, b.String(), o); !slices.Equal(all, again) || !reflect.DeepEqual(c, d) {
		t.Error("7 threads give another result than 1")
	}
	o.Seed = 6
	if other, _ := collect(t, b.String(), o); slices.Equal(all, other) {
		t.Error("another seed gives the same parts")
	}
}

func TestPacked(t *testing.T) {
	in := line(1, "en", "a 😀") + "\n" + line(2, "en", "b 😂") + "\n"
	want, _ := collect(t, in, Options{})
	var gz, zs bytes.Buffer
	w := gzip.NewWriter(&gz)
	w.Write([]byte(in))
	w.Close()
	e, _ := zstd.NewWriter(&zs)
	e.Write([]byte(in))
	e.Close()
	for name, packed := range map[string]string{"gzip": gz.String(), "zstd": zs.String()} {
		if got, _ := collect(t, packed, Options{}); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		_, err := Read(t.Context(), strings.NewReader(packed[:len(packed)-6]), Options{Name: "f"}, func(Example) error { return nil })
		if err == nil || !strings.Contains(err.Error(), "data ends early") {
			t.Errorf("%s cut off: %v", name, err)
		}
	}
	for _, bad := range []string{"\x1f\x8bx", "PK\x03\x04"} {
		if _, err := Read(t.Context(), strings.NewReader(bad), Options{}, nil); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

func TestRefusals(t *testing.T) {
	in := line(1, "en", "a 😀") + "\n"
	for _, o := range []Options{{Valid: -0.1}, {Test: 1}, {Valid: 0.6, Test: 0.5}, {Test: math.NaN()}} {
		if _, err := Read(t.Context(), strings.NewReader(in), o, nil); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
	stop := errors.New("stop")
	long := strings.Repeat(in, 5000)
	n := 0
	if _, err := Read(t.Context(), strings.NewReader(long), Options{}, func(Example) error {
		if n++; n == 10 {
			return stop
		}
		return nil
	}); err != stop || n != 10 {
		t.Errorf("stopped after %d with %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read(ctx, strings.NewReader(long), Options{}, func(Example) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	dir := t.TempDir()
	if _, err := Open(t.Context(), dir, Options{}, nil); err == nil || !strings.Contains(err.Error(), "folder") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := Open(t.Context(), filepath.Join(dir, "x"), Options{}, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	path := filepath.Join(dir, "t.jsonl")
	if err := os.WriteFile(path, []byte(in), 0o600); err != nil {
		t.Fatal(err)
	}
	calls := 0
	c, err := Open(t.Context(), path, Options{Progress: func(Counts) { calls++ }}, func(Example) error { return nil })
	if err != nil || c.Tweets != 1 || calls != 1 || !maps.Equal(c.Examples, map[string]int64{"train": 1}) {
		t.Errorf("file: %+v, %d calls, %v", c, calls, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(line(1, "en", "a 😀") + "\n{}\n[]\n\"\"\nnull"))
	f.Add([]byte(`{"text":"😀 a","user":{"id":-1}}` + "\n" + `{"text":"😀 a","user":{"id":"7"},"lang":3}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var n int64
		c, _ := Read(t.Context(), bytes.NewReader(b), Options{Test: 0.5}, func(e Example) error {
			n++
			if e.Text == "" || e.Emoji == "" {
				t.Errorf("example %+v", e)
			}
			return check(e.Text)
		})
		if sum := c.Examples["train"] + c.Examples["test"]; sum != n {
			t.Errorf("%d examples, %d counted", n, sum)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	in := strings.Repeat(line(1, "en", "what a lovely day, isn't it @ann? https://t.co/AbCdEf 😍", `,"place":{"name":"`+strings.Repeat("x", 2500)+`"}`)+"\n", 2000)
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		if _, err := Read(b.Context(), strings.NewReader(in), Options{}, func(Example) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

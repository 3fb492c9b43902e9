package tweets

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"hash/fnv"
	"strconv"
	"strings"
)

// kind is what a line turned out to be.
type kind int

const (
	blank kind = iota
	damaged
	notice
	noUser
	retweet
	language
	noEmoji
	noText
	good
)

// outcome is what became of one line.
type outcome struct {
	kind    kind
	example Example  // but for the emoji
	emojis  []string // of a good one
}

// outcome judges a line, nil for one that was too long. Tests go from what costs
// little to what costs much: most lines of a stream have no emoji and end here. It is
// safe for concurrent use.
func (o *Options) outcome(line []byte) outcome {
	if line != nil && len(bytes.TrimSpace(line)) == 0 {
		return outcome{kind: blank}
	}
	var t tweet
	if line == nil || json.Unmarshal(line, &t) != nil {
		return outcome{kind: damaged}
	}
	text := cmp.Or(t.FullText, t.Text)
	if t.Extended != nil {
		text = cmp.Or(t.Extended.FullText, text)
	}
	if text == "" {
		return outcome{kind: notice}
	}
	user, ok := t.user()
	switch {
	case !ok:
		return outcome{kind: noUser}
	case len(t.Retweet) > 0 && string(t.Retweet) != "null" && !o.Retweets:
		return outcome{kind: retweet}
	case o.Languages != nil && !o.Languages[t.Language]:
		return outcome{kind: language}
	}
	text, emojis := Clean(text)
	if emojis = o.wanted(emojis); len(emojis) == 0 {
		return outcome{kind: noEmoji}
	}
	if text == "" {
		return outcome{kind: noText}
	}
	return outcome{good, Example{Text: text, Language: cmp.Or(t.Language, "und"), Part: o.part(user)}, emojis}
}

// user returns the number of the tweet's user.
func (t *tweet) user() (uint64, bool) {
	if t.User == nil {
		return 0, false
	}
	for _, s := range []string{t.User.IDStr, t.User.ID.String()} {
		if n, err := strconv.ParseUint(s, 10, 64); err == nil {
			return n, true
		}
	}
	return 0, false
}

// wanted returns the emojis that are to be labels.
func (o *Options) wanted(emojis []string) []string {
	var kept []string
	seen := map[string]bool{}
	for _, e := range emojis {
		if o.NoTones {
			e = Tone(e)
		}
		if !seen[e] && (o.Emojis == nil || o.Emojis[e]) {
			seen[e] = true
			kept = append(kept, e)
		}
	}
	return kept
}

// part draws the part of a user from the seed and the number of the user.
func (o *Options) part(user uint64) Part {
	h := fnv.New64a()
	h.Write(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, o.Seed), user))
	x := h.Sum64() // FNV mixes its upper bits badly
	x ^= x >> 32
	x *= 0x9e3779b97f4a7c15
	x ^= x >> 29
	x *= 0xbf58476d1ce4e5b9
	switch u := float64(x>>11) / (1 << 53); {
	case u < o.Test:
		return Test
	case u < o.Test+o.Valid:
		return Valid
	}
	return Train
}

// add counts an outcome and yields its examples.
func (c *Counts) add(line outcome, yield func(Example) error) error {
	c.Lines++
	if n := c.of(line.kind); n != nil {
		*n++
	}
	for _, emoji := range line.emojis {
		e := line.example
		e.Emoji = emoji
		c.Examples[e.Part.String()]++
		c.Emojis[emoji]++
		c.ByLanguage[e.Language]++
		if err := yield(e); err != nil {
			return err
		}
	}
	return nil
}

// of returns the count of a kind of lines; nil for blank ones.
func (c *Counts) of(k kind) *int64 {
	return [...]*int64{nil, &c.Damaged, &c.Notices, &c.Users, &c.Retweets, &c.Languages, &c.Without, &c.Empty, &c.Tweets}[k]
}

// Merge adds the counts of another stream.
func (c *Counts) Merge(d Counts) {
	c.Lines += d.Lines
	for k := damaged; k <= good; k++ {
		*c.of(k) += *d.of(k)
	}
	merge(&c.Examples, d.Examples)
	merge(&c.Emojis, d.Emojis)
	merge(&c.ByLanguage, d.ByLanguage)
}

// merge adds counts by name, into a map that it makes if need be.
func merge(into *map[string]int64, from map[string]int64) {
	if *into == nil {
		*into = map[string]int64{}
	}
	for k, n := range from {
		(*into)[k] += n
	}
}

// Label returns an emoji as examples have it: without U+FE0F.
func Label(emoji string) string { return strings.ReplaceAll(emoji, string(colour), "") }

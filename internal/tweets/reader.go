package tweets

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"

	"github.com/treeloss/treeloss/internal/input"
	"github.com/treeloss/treeloss/internal/option"
)

// Part is where the tweets of a user go.
type Part int

// The parts.
const (
	Train Part = iota
	Valid
	Test
)

// String returns the name of the part: train, valid or test.
func (p Part) String() string { return [...]string{"train", "valid", "test"}[p] }

// Example is a text and an emoji that it had.
type Example struct {
	Text     string // not empty, on one line, single spaces
	Emoji    string // without U+FE0F
	Language string // as the API says, such as "en"; "und" where it does not know
	Part     Part
}

// Options says what to keep. The zero value keeps all, for training.
type Options struct {
	Valid, Test float64             // shares of the users for validation and test
	Seed        uint64              // of the division of the users
	Emojis      map[string]bool     // labels to keep, without U+FE0F; nil: all
	Languages   map[string]bool     // to keep; nil: all
	NoTones     bool                // emojis that differ by skin tone are one class
	Retweets    bool                // keep retweets, whose texts are those of other users
	Name        string              // of the stream, for errors
	Threads     int                 // 0: one a processor; results do not depend on it
	Progress    func(counts Counts) // called after every few thousand lines; nil: never
}

// Check returns an *option.Error or *option.Misuse for options out of range.
func (o Options) Check() error {
	if !(o.Valid >= 0 && o.Test >= 0 && o.Valid+o.Test < 1) {
		return option.Refuse("%s and %s, want shares of 0 or more and less than 1 together", fmt.Sprintf("Valid %g", o.Valid), fmt.Sprintf("Test %g", o.Test))
	}
	return option.Threads(o.Threads)
}

// Counts says what became of the lines.
type Counts struct {
	Lines      int64            `json:"lines"`
	Damaged    int64            `json:"damaged"`   // no JSON object, or longer than a MiB
	Notices    int64            `json:"notices"`   // JSON without a text: deletions, limits
	Users      int64            `json:"no_user"`   // no number of a user: cannot be put into a part
	Retweets   int64            `json:"retweets"`  // of others' tweets
	Languages  int64            `json:"languages"` // in a language that is not asked for
	Without    int64            `json:"no_emoji"`  // no emoji, or none that is asked for
	Empty      int64            `json:"no_text"`   // nothing but emojis, names and addresses
	Tweets     int64            `json:"tweets"`    // that gave examples
	Examples   map[string]int64 `json:"examples"`  // by part
	Emojis     map[string]int64 `json:"-"`         // examples by emoji
	ByLanguage map[string]int64 `json:"-"`         // examples by language
}

// reading says what a stream of tweets holds.
var reading = input.Options{Want: "tweets as JSON lines", Window: 128 << 20}

// maxLine is longer than any tweet of the API, which is some tens of KiB.
const maxLine = 1 << 20

// mostForeign is after how many lines of which none is a JSON object the stream is taken
// for something else, such as a device that never ends.
const mostForeign = 100_000

// objects returns how many lines were JSON objects.
func (c *Counts) objects() (n int64) {
	for k := notice; k <= good; k++ {
		n += *c.of(k)
	}
	return n
}

// batchLines is how many lines are worked on together.
const batchLines = 512

// Read hands the examples of a stream of JSON lines, plain or packed with gzip or
// zstd, to yield, in their order, and returns what it counted. Lines that are no
// tweets are skipped and counted; packed data that ends early or is damaged, an
// error of yield and a cancelled ctx end it with an error. Memory does not grow
// with the length of the stream but for the counts.
func Read(ctx context.Context, r io.Reader, o Options, yield func(Example) error) (Counts, error) {
	in, err := input.New(r, cmp.Or(o.Name, "stream"), reading)
	if err != nil {
		return Counts{}, err
	}
	return readFrom(ctx, in, o, yield)
}

// readFrom reads with as many goroutines as Options.Threads; the queue of batches
// keeps the order of the stream, so that they do not change a result.
func readFrom(ctx context.Context, in *input.Stream, o Options, yield func(Example) error) (Counts, error) {
	c := Counts{Examples: map[string]int64{}, Emojis: map[string]int64{}, ByLanguage: map[string]int64{}}
	defer in.Close()
	if err := o.fill(); err != nil {
		return c, err
	}
	ctx, stop := context.WithCancel(ctx)
	queue := make(chan chan batch, o.Threads)
	lines := in.Lines(maxLine)
	lines.AnyBytes, lines.SkipLong = true, true
	go o.produce(ctx, lines, queue)
	defer func() {
		stop()
		for range queue { // until nothing reads from r any more
		}
	}()
	for result := range queue {
		b := <-result
		if b.err != nil {
			return c, b.err
		}
		for _, line := range b.outcomes {
			if err := c.add(line, yield); err != nil {
				return c, err
			}
		}
		if c.Lines >= mostForeign && c.objects() == 0 {
			return c, lines.Refuse(0, "none of the first %d lines is a JSON object; want tweets as JSON lines", c.Lines)
		}
		if o.Progress != nil {
			o.Progress(c)
		}
	}
	return c, ctx.Err()
}

// fill checks the shares and puts in the number of threads.
func (o *Options) fill() error {
	if !(o.Valid >= 0 && o.Test >= 0 && o.Valid+o.Test < 1) {
		return fmt.Errorf("shares of %g for validation and %g for test, want 0 or more and less than 1 together", o.Valid, o.Test)
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	return nil
}

// batch is what became of some lines, or why no more can be read.
type batch struct {
	outcomes []outcome
	err      error
}

// produce reads lines and has batches of them worked on, as many at a time as
// the queue is long; the queue has them in the order of the stream.
func (o *Options) produce(ctx context.Context, in *input.Lines, queue chan<- chan batch) {
	defer close(queue)
	for ended := false; !ended; {
		var lines [][]byte
		var failed error
		for len(lines) < batchLines && !ended {
			line, err := in.Read()
			switch {
			case err == io.EOF:
				ended = true
			case err != nil:
				ended, failed = true, err
			default:
				lines = append(lines, bytes.Clone(line)) // nil for one that is too long
			}
		}
		result := make(chan batch, 1)
		select {
		case queue <- result:
		case <-ctx.Done():
			return
		}
		go func() {
			b := batch{err: failed, outcomes: make([]outcome, len(lines))}
			for i, line := range lines {
				b.outcomes[i] = o.outcome(line)
			}
			result <- b
		}()
	}
}

// Open reads the tweets of a file; see Read.
func Open(ctx context.Context, path string, o Options, yield func(Example) error) (Counts, error) {
	in, err := input.Open(path, reading)
	if err != nil {
		return Counts{}, err
	}
	return readFrom(ctx, in, o, yield)
}

// tweet is what of a tweet matters.
type tweet struct {
	Text     string `json:"text"`
	FullText string `json:"full_text"`
	Extended *struct {
		FullText string `json:"full_text"`
	} `json:"extended_tweet"`
	User *struct {
		ID json.Number `json:"id"`
		// Some archives keep the number as a string only.
		IDStr string `json:"id_str"`
	} `json:"user"`
	Language string          `json:"lang"`
	Retweet  json.RawMessage `json:"retweeted_status"`
}

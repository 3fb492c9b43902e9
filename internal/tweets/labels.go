package tweets

import (
	"fmt"
	"strings"

	"github.com/treeloss/treeloss/internal/input"
)

// ReadLabels reads labels for Among, one a line; of a CSV such as emojis.csv the first
// column. What is no emoji, as a header, is for Among to leave out.
func ReadLabels(path string) ([]string, error) {
	var labels []string
	err := input.EachLine(path, input.Options{Want: "one emoji a line"}, func(_ int, line string) error {
		first, _, _ := strings.Cut(line, ",")
		labels = append(labels, strings.Trim(first, `"`))
		return nil
	})
	return labels, err
}

// Skipped says what was left out, and why.
func (c Counts) Skipped() string {
	return fmt.Sprintf("%d not JSON, %d notices, %d without a user, %d retweets, %d in other languages, %d without such an emoji, %d without other text",
		c.Damaged, c.Notices, c.Users, c.Retweets, c.Languages, c.Without, c.Empty)
}

// Check returns an error if no tweet gave an example: name's file holds no tweets, or none
// that was asked for.
func (c Counts) Check(name string) error {
	switch {
	case c.Tweets > 0:
		return nil
	case c.Damaged == c.Lines:
		return fmt.Errorf("%s: no tweet with an emoji to keep: none of %d lines is a tweet; want JSON of Twitter's API v1.1, one object a line", name, c.Lines)
	}
	return fmt.Errorf("no tweet with an emoji to keep in %d lines: %s", c.Lines, c.Skipped())
}

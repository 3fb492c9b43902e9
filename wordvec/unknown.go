package wordvec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/treeloss/treeloss/internal/option"
)

// Unknown is what becomes of class names with words that have no vector.
type Unknown int

const (
	// UnknownError makes them an error that names them. It is the default:
	// nothing is decided behind the user's back.
	UnknownError Unknown = iota
	// UnknownAverage takes the mean over the known words of the name; a name
	// without any is an error.
	UnknownAverage
	// UnknownSubword builds the missing vectors from the n-grams of the
	// letters. It needs a fastText .bin; the paper's ImageNet procedure.
	UnknownSubword
	// UnknownDrop leaves such classes out of the task, with all their
	// examples; the paper's CIFAR100 procedure.
	UnknownDrop
	// UnknownRoot keeps such classes without a vector: in a tree they hang
	// at the root and share nothing.
	UnknownRoot
)

// unknownNames are the words for the policies, in their order.
func unknownNames() []string { return []string{"error", "average", "subword", "drop", "root"} }

// String returns the word that ParseUnknown reads.
func (u Unknown) String() string {
	if names := unknownNames(); u >= 0 && int(u) < len(names) {
		return names[u]
	}
	return fmt.Sprintf("Unknown(%d)", int(u))
}

// ParseUnknown reads error, average, subword, drop or root.
func ParseUnknown(s string) (Unknown, error) {
	i := slices.Index(unknownNames(), s)
	if i < 0 {
		return 0, option.Check("Unknown", s, false, "one of "+strings.Join(unknownNames(), ", "))
	}
	return Unknown(i), nil
}

// MarshalText returns what String does, for flags.
func (u Unknown) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText is ParseUnknown.
func (u *Unknown) UnmarshalText(text []byte) (err error) {
	*u, err = ParseUnknown(string(text))
	return err
}

package dataset

import (
	"fmt"
	"os"

	"github.com/treeloss/treeloss/internal/input"
	"github.com/treeloss/treeloss/internal/option"
)

// Shard is one of Count parts of the examples of some files, of about equal length: those
// of one file by where they begin, of several files whole files. Together, in order, the parts are all
// examples, each once, in the order of the files. The zero Shard is everything.
//
// A file of text is divided by bytes at the ends of records, be there line ends within
// quotes or not; what is before the part is read to count its lines, at some GB a second,
// CSV and TSV at some hundred MB. An array is divided by rows, Parquet by row
// groups. One packed file, one that is not UTF-8 and a stream cannot be divided.
type Shard struct {
	Index int // from 0
	Count int // 0: there is one part
}

// String returns "3/8", the index and the number of parts.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Count) }

// check refuses what is no part.
func (s Shard) check() error {
	ok := s.Index >= 0 && (s.Index < s.Count || s == Shard{})
	return option.Check("Shard", s, ok, "an index from 0 to the number of parts less 1")
}

// all tells whether the part is everything.
func (s Shard) all() bool { return s.Count <= 1 }

// of returns what the part has of a length: from a place up to, not with, another.
func (s Shard) of(length int64) (from, to int64) {
	at := func(i int) int64 {
		n := int64(s.Count)
		return length/n*int64(i) + length%n*int64(i)/n // as length*i/n, which may overflow
	}
	return at(s.Index), at(s.Index + 1)
}

// start moves a cursor to the first example of the part, and has it end behind the last.
// It returns io.EOF if the part has none.
func (c *cursor) start(s Shard) error {
	at := c.extent()
	length := at.Size()
	if length < 0 {
		return input.Refuse(c.in.Name, 0, 0, "cannot be read in parts, as it is packed, a stream or not UTF-8; unpack it, save it as UTF-8, or give several files, which are dealt to the parts")
	}
	from, to := s.of(length)
	if s.Index+1 < s.Count {
		c.end = to
	}
	if at.Place() >= from {
		return c.ended()
	}
	if err := at.SkipTo(from); err != nil {
		return err
	}
	return c.next(&c.ex)
}

// choose returns which of some files a part has: those that begin, end to end, in its
// share of all bytes. A part may have none: a large file belongs to the part it begins in.
func (s Shard) choose(files []file) (from, to int, err error) {
	sizes := make([]int64, len(files))
	var total int64
	for i, f := range files {
		info, err := os.Stat(f.name)
		if err != nil {
			return 0, 0, input.Missing(f.name, err)
		}
		if !f.again {
			return 0, 0, input.Refuse(f.name, 0, 0, "cannot be read in parts, as it is a stream; save it to a file first")
		}
		sizes[i] = info.Size()
		total += sizes[i]
	}
	low, high := s.of(total)
	at := int64(0)
	for i, n := range sizes {
		if at < low {
			from = i + 1
		}
		if at < high {
			to = i + 1
		}
		at += n
	}
	return from, to, nil
}

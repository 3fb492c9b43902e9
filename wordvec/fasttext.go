package wordvec

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

const (
	fastTextMagic = 0x2f4f16ba // 793712314
	supervised    = 3          // fastText's enum model_name
)

// fastTextHead is the start of a model: FastText::signModel, Args::save.
type fastTextHead struct {
	Magic, Version                   int32
	Dim, WS, Epoch, MinCount, Neg    int32
	WordNgrams, Loss, Model          int32
	Bucket, MinN, MaxN, LRUpdateRate int32
	T                                float64
}

// dictHead is the start of the dictionary: Dictionary::save.
type dictHead struct {
	Size, Words, Labels int32
	Tokens, Pruned      int64
}

// readFastText reads a fastText model (FastText::loadModel, version 12): its
// arguments, its dictionary and its input matrix, which has a row for each
// word and then one for each bucket of n-grams.
//
// A word's vector is the mean of its own row, if it is in the dictionary, and
// of the rows of its n-grams. We add in float64 and in the order of the rows,
// so that keeping all rows and adding them up as they stream past give the
// same bits; fastText adds in float32, which differs in the seventh digit.
func (v *Vectors) readFastText(in *bufio.Reader, opts Options) error {
	var head fastTextHead
	if err := binary.Read(in, binary.LittleEndian, &head); err != nil {
		return truncated(err, "the head of a fastText model")
	}
	if err := head.check(); err != nil {
		return err
	}
	v.info.Dim = int(head.Dim)
	v.info.Supervised = head.Model == supervised
	if head.Version == 11 && v.info.Supervised {
		head.MaxN = 0 // as FastText::loadModel: those had none
	}
	if head.MaxN > 0 && head.Bucket > 0 {
		v.info.MinN, v.info.MaxN, v.info.Buckets = int(head.MinN), int(head.MaxN), int(head.Bucket)
		v.ngrams = &ngrams{min: v.info.MinN, max: v.info.MaxN, buckets: uint32(head.Bucket)}
	}

	ids, words, err := v.readDictionary(in, opts)
	if err != nil {
		return err
	}
	var quantised bool
	if err := binary.Read(in, binary.LittleEndian, &quantised); err != nil {
		return truncated(err, "the head of the input matrix")
	}
	if quantised {
		return fmt.Errorf("this is a %w (.ftz), which has lost its exact vectors: use the .bin model that it was made from, or a .vec file", ErrQuantised)
	}
	var matrix struct{ Rows, Cols int64 }
	if err := binary.Read(in, binary.LittleEndian, &matrix); err != nil {
		return truncated(err, "the head of the input matrix")
	}
	if want := int64(words) + int64(head.Bucket); matrix.Rows != want || matrix.Cols != int64(head.Dim) {
		return fmt.Errorf("its input matrix is %d x %d, want %d x %d (words and n-gram buckets x dimensions)", matrix.Rows, matrix.Cols, want, head.Dim)
	}
	v.info.Words = words
	if v.wanted == nil {
		return v.readAllRows(in, ids)
	}
	return v.readWantedRows(in, ids, opts)
}

// check refuses a head before anything is allocated by its numbers.
func (h *fastTextHead) check() error {
	switch {
	case h.Magic != fastTextMagic:
		return fmt.Errorf("it starts with %#x, want %#x as fastText models do since 2017", uint32(h.Magic), fastTextMagic)
	case h.Version != 11 && h.Version != 12:
		return fmt.Errorf("fastText model of version %d, want 11 or 12", h.Version)
	case h.Dim < 1 || h.Dim > maxDim:
		return fmt.Errorf("fastText model with vectors of %d numbers, want 1 to %d", h.Dim, maxDim)
	case h.Bucket < 0:
		return fmt.Errorf("fastText model with %d n-gram buckets, want 0 or more", h.Bucket)
	case h.MinN < 0 || h.MaxN < 0 || h.MaxN > maxNgramLen:
		return fmt.Errorf("fastText model with n-grams of %d to %d characters, want 0 to %d", h.MinN, h.MaxN, maxNgramLen)
	}
	return nil
}

// readDictionary returns the number of words and the row of each kept one.
// Labels, which come after the words, are read over.
func (v *Vectors) readDictionary(in *bufio.Reader, opts Options) (ids map[string]int, words int, err error) {
	var head dictHead
	if err := binary.Read(in, binary.LittleEndian, &head); err != nil {
		return nil, 0, truncated(err, "the head of the dictionary")
	}
	if head.Words < 1 || head.Labels < 0 || int64(head.Size) != int64(head.Words)+int64(head.Labels) {
		return nil, 0, fmt.Errorf("its dictionary has %d entries, %d words and %d labels, want words and entries that add up", head.Size, head.Words, head.Labels)
	}
	if head.Pruned >= 0 {
		return nil, 0, fmt.Errorf("this is a pruned and %w (.ftz), which has lost rows: use the .bin model that it was made from, or a .vec file", ErrQuantised)
	}
	ids = make(map[string]int)
	var tail [9]byte // count, int64; type, int8: 0 word, 1 label
	for n := range int(head.Size) {
		word, err := readUntil(in, 0)
		if err != nil {
			return nil, 0, truncated(err, fmt.Sprintf("entry %d of %d of the dictionary", n+1, head.Size))
		}
		keep := n < int(head.Words) && v.keeps(word)
		var text string
		if keep {
			text = string(word)
		}
		if _, err := io.ReadFull(in, tail[:]); err != nil {
			return nil, 0, truncated(err, fmt.Sprintf("entry %d of %d of the dictionary", n+1, head.Size))
		}
		if isLabel := tail[8] == 1; tail[8] > 1 || isLabel != (n >= int(head.Words)) {
			return nil, 0, fmt.Errorf("entry %d of the dictionary is of type %d, want %d words (0), then %d labels (1)", n+1, tail[8], head.Words, head.Labels)
		}
		if !keep {
			continue
		}
		_, twice := ids[text]
		switch {
		case twice && !opts.KeepFirst:
			return nil, 0, fmt.Errorf("entry %d of the dictionary: word %s is here a second time; set KeepFirst to keep the first", n+1, quote(text))
		case twice:
			v.info.Duplicates++
		default:
			ids[text] = n
		}
	}
	return ids, int(head.Words), nil
}

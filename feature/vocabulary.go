package feature

import (
	"hash/maphash"
	"math/bits"
)

// vocabulary finds n-grams among those of a Set. It is a hash table of their numbers
// beside the n-grams themselves, made in a fraction of the time of a map, which counts
// where a program starts to classify one text.
type vocabulary struct {
	grams []string
	seed  maphash.Seed
	slot  []int32 // 1 + number of an n-gram, 0: free; a power of two, at most half of them taken
}

// newVocabulary takes the n-grams, which must differ, as they are. O(their length).
func newVocabulary(grams []string) *vocabulary {
	v := &vocabulary{grams: grams, seed: maphash.MakeSeed(), slot: make([]int32, 1<<bits.Len(uint(2*len(grams))))}
	for n, gram := range grams {
		at := maphash.String(v.seed, gram)
		for v.slot[v.place(at)] != 0 {
			at++
		}
		v.slot[v.place(at)] = int32(n) + 1
	}
	return v
}

// place returns the slot that a hash begins at.
func (v *vocabulary) place(hash uint64) uint64 { return hash & uint64(len(v.slot)-1) }

// find returns the number of an n-gram, -1 for one that is not there.
func (v *vocabulary) find(gram []byte) int32 {
	for at := maphash.Bytes(v.seed, gram); ; at++ {
		switch n := v.slot[v.place(at)]; {
		case n == 0:
			return -1
		case v.grams[n-1] == string(gram):
			return n - 1
		}
	}
}

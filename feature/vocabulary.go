package feature

import (
	"hash/maphash"
	"math/bits"
)

// vocabulary finds n-grams among those of a Set or a Table. It is a hash table of their
// numbers beside the n-grams themselves, made in a fraction of the time of a map, which
// counts where a program starts to classify one text, and in less memory. What a slot has room for beside a number
// are bits of the hash: of an n-gram that is not there most others are then never looked
// at, each of which is somewhere else in memory.
type vocabulary struct {
	grams  []string
	seed   maphash.Seed
	slot   []uint32 // 1 + number of an n-gram, and bits of its hash above that; 0: free; a power of two, at most half of them taken
	number uint32   // the bits of a slot that are the number
}

// newVocabulary takes the n-grams, which must differ, as they are. O(their length).
func newVocabulary(grams []string) *vocabulary {
	v := &vocabulary{grams: grams, seed: maphash.MakeSeed()}
	v.index()
	return v
}

// index makes the slots of all n-grams anew, for at most twice as many.
func (v *vocabulary) index() {
	v.slot = make([]uint32, 1<<bits.Len(uint(2*len(v.grams))))
	v.number = 1<<bits.Len(uint(len(v.grams))) - 1
	for n := range v.grams {
		v.insert(n)
	}
}

// insert gives an n-gram a slot.
func (v *vocabulary) insert(n int) {
	hash := maphash.String(v.seed, v.grams[n])
	at := v.place(hash)
	for v.slot[at] != 0 {
		at = v.place(uint64(at) + 1)
	}
	v.slot[at] = v.tag(hash) | (uint32(n) + 1)
}

// findOrAdd returns the number of an n-gram, the next one if it is new.
func (v *vocabulary) findOrAdd(gram []byte) int32 {
	if n := v.find(gram); n >= 0 {
		return n
	}
	v.grams = append(v.grams, string(gram))
	n := len(v.grams) - 1
	if n < int(v.number) {
		v.insert(n)
	} else {
		v.index()
	}
	return int32(n)
}

// place returns the slot that a hash begins at.
func (v *vocabulary) place(hash uint64) int { return int(hash & uint64(len(v.slot)-1)) }

// tag returns the bits of a hash that a slot has.
func (v *vocabulary) tag(hash uint64) uint32 { return uint32(hash>>32) &^ v.number }

// find returns the number of an n-gram, -1 for one that is not there.
func (v *vocabulary) find(gram []byte) int32 {
	hash := maphash.Bytes(v.seed, gram)
	tag := v.tag(hash)
	for at := v.place(hash); ; at = v.place(uint64(at) + 1) {
		slot := v.slot[at]
		if slot == 0 {
			return -1
		}
		if slot&^v.number == tag {
			if n := slot&v.number - 1; v.grams[n] == string(gram) {
				return int32(n)
			}
		}
	}
}

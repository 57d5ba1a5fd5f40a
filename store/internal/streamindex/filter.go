package streamindex

import (
	"hash/fnv"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store/internal/index"
)

// filter is a Bloom filter: it says whether a hash may have been added. For an added hash, has is always true; for
// other hashes it is true about once in 300.
type filter []byte

const (
	filterBits   = 12 // bits per hash
	filterProbes = 8
)

func newFilter(n int) filter { return make(filter, max(1, (n*filterBits+7)/8)) }

func (f filter) add(hash uint64) {
	for at, step, i := hash, spread(hash)|1, 0; i < filterProbes; at, i = at+step, i+1 {
		bit := at % f.bits()
		f[bit/8] |= 1 << (bit % 8)
	}
}

func (f filter) has(hash uint64) bool {
	for at, step, i := hash, spread(hash)|1, 0; i < filterProbes; at, i = at+step, i+1 {
		if bit := at % f.bits(); f[bit/8]&(1<<(bit%8)) == 0 {
			return false
		}
	}
	return true
}

func (f filter) bits() uint64 { return 8 * uint64(len(f)) }

// streamHash returns the hash of a stream (Job or CronJob) that determines its place in a stored index; nameHash does
// so for names. The results must never change, because files store them.
func streamHash(s events.Stream) uint64 { return hashOf([]byte{byte(s.Kind)}, s.ID) }

func nameHash(n index.Name) uint64 { return hashOf([]byte(n.Namespace), "\x00"+n.Name) }

func hashOf(prefix []byte, text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(prefix)
	_, _ = h.Write([]byte(text))
	return spread(h.Sum64())
}

// spread makes each bit of the result depend on all bits of x. It is the last step of MurmurHash3. FNV alone gives
// short texts similar high bits.
func spread(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

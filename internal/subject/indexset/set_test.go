package indexset

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestASetEqualsAMap holds the set against the dumb way on random input.
func TestASetEqualsAMap(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var s Set
		dumb := map[int32]bool{}
		limit := int32(1 + rng.IntN(60))
		for range 200 {
			i := rng.Int32N(limit)
			switch rng.IntN(8) {
			case 0:
				cut := rng.Int32N(limit + 1)
				s.Trim(cut)
				for k := range dumb {
					if k >= cut {
						delete(dumb, k)
					}
				}
			case 1, 2, 3:
				if s.Remove(i) != dumb[i] {
					t.Fatalf("seed %d: remove %d of %s", seed, i, s.Text())
				}
				delete(dumb, i)
			default:
				if s.Add(i) == dumb[i] {
					t.Fatalf("seed %d: add %d to %s", seed, i, s.Text())
				}
				dumb[i] = true
			}
			checkSet(t, seed, &s, dumb, limit, rng.IntN(10))
		}
	}
}

func checkSet(t *testing.T, seed uint64, s *Set, dumb map[int32]bool, limit int32, n int) {
	t.Helper()
	var gaps []int32
	for i := range limit {
		if s.Has(i) != dumb[i] {
			t.Fatalf("seed %d: %s has %d: %v", seed, s.Text(), i, s.Has(i))
		}
		if !dumb[i] && len(gaps) < n {
			gaps = append(gaps, i)
		}
	}
	if int(s.Len()) != len(dumb) {
		t.Fatalf("seed %d: %s has %d, counts %d", seed, s.Text(), len(dumb), s.Len())
	}
	if got := s.Gaps(nil, limit, n); !slices.Equal(got, gaps) {
		t.Fatalf("seed %d: first %d gaps of %s are %v, got %v", seed, n, s.Text(), gaps, got)
	}
	again := Parse(s.Text(), math.MaxInt32)
	if !again.Equal(s) || again.Len() != s.Len() {
		t.Fatalf("seed %d: %q reads back as %q", seed, s.Text(), again.Text())
	}
}

// J-041: a set is written as ascending decimals, three or more in a row as a range, two apart, none as the empty text.
// J-042: broken fragments are skipped, a fragment at the limit ends the reading, a range is clipped, neighbours are
// merged.
func TestIndexesAreWrittenAsTheAPIWritesThem(t *testing.T) {
	for _, row := range []struct {
		name, in string
		limit    int32
		want     string
	}{
		{"empty set is the empty string", "", 10, ""},
		{"three or more in a row are a range", "1,3,4,5,7", 10, "1,3-5,7"},
		{"exactly two are written apart", "0-1", 10, "0,1"},
		{"neighbouring ranges are merged", "0-2,3-4", 10, "0-4"},
		{"a corrupt fragment is skipped", "1,x,3-,5", 10, "1,5"},
		{"a fragment at or above the limit ends the reading", "1,10,2", 10, "1"},
		{"a range that passes the limit is clipped", "8-20", 10, "8,9"},
		{"a backward range is skipped", "4-2,6", 10, "6"},
		{"a range of one index is that index", "5-5", 10, "5"},
		{"a range from 0 without an end is skipped", "0-,0-x,5", 10, "5"},
		{"ranges that overlap are one", "1-5,3-7", 10, "1-7"},
		{"what a range holds already is passed over", "1-5,2-4,7", 10, "1-5,7"},
		{"and so is what begins and ends with it", "1-5,3-5,1,7", 10, "1-5,7"},
		{"a range may begin where the one before ends", "1-3,3-4", 10, "1-4"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := Parse(row.in, row.limit)
			if got := s.Text(); got != row.want {
				t.Errorf("%q reads as %q, want %q", row.in, got, row.want)
			}
		})
	}
}

// J-076: whether something has to be trimmed is asked of the highest index.
func TestASetIsBelowWhatIsAboveItsHighestIndex(t *testing.T) {
	s, empty := Parse("1,3-5", 10), Set{}
	for limit, want := range map[int32]bool{0: false, 4: false, 5: false, 6: true, 10: true} {
		if s.Below(limit) != want {
			t.Errorf("1,3-5 below %d: %v", limit, !want)
		}
	}
	if !empty.Below(0) {
		t.Error("the empty set is below everything")
	}
	other := Parse("1,3-6", 10)
	if s.Equal(&other) || !s.Equal(&s) {
		t.Error("1,3-5 equals itself, and not 1,3-6")
	}
}

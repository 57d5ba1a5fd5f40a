package line

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestALineKeepsItsOrder compares a line with a plain slice through 10,000 random steps.
func TestALineKeepsItsOrder(t *testing.T) {
	type member struct {
		at  Links[member]
		key int
	}
	byKey := func(a, b *member) int { return cmp.Compare(a.key, b.key) }
	r := rand.New(rand.NewPCG(1, 2))
	l := New(func(m *member) *Links[member] { return &m.at })
	var want []*member
	members := make([]*member, 20)
	for i := range members {
		members[i] = &member{key: i}
	}
	for step := range 10_000 {
		m := members[r.IntN(len(members))]
		kept := slices.DeleteFunc(want, func(o *member) bool { return o == m })
		switch r.IntN(10) {
		case 0:
			want = append(kept, m)
			slices.SortFunc(want, byKey)
			l.ToEnd(m)
			l.Sort(byKey)
		case 1, 2, 3, 4:
			want = kept
			l.Remove(m)
		default:
			want = append(kept, m)
			l.ToEnd(m)
		}
		var got, back []*member
		for o := l.first; o != nil; o = o.at.after {
			got = append(got, o)
		}
		for o := l.last; o != nil; o = o.at.before {
			back = append(back, o)
		}
		slices.Reverse(back)
		if !slices.Equal(got, want) || !slices.Equal(back, want) {
			t.Fatalf("step %d: the line has %v forward and %v backward, want %v", step, got, back, want)
		}
	}
}

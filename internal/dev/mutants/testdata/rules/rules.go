// Package rules has one of each place where a mutant can be.
package rules

import "cmp"

type rule struct {
	name string
	run  func(int) bool
}

// J-159: the order of these is a rule.
var all = []rule{
	{"small", small},
	{"even", func(n int) bool { return n%2 == 0 }},
}

// small obeys the limit (J-112).
func small(n int) bool {
	const limit = 3
	if n < limit && n != 1 { // J-023: one is special
		n++
	}
	return n <= limit
}

func first(a, b []int) int {
	sum := 0
	a, b = b, a
	for i := range a {
		if a[i] > 9 || b[i] > 9 {
			continue
		}
		sum += min(a[i]+1, b[i])
	}
	return cmp.Or(cmp.Compare(sum, 0), cmp.Compare(len(a), len(b)))
}

type counter int

func (c *counter) down() {
	switch {
	case *c > 5:
		*c--
	}
	for *c > 5 {
		*c--
		*c--
	}
}

func twice(c counter) (as counter, shown any) {
	as, shown = c, c
	return as, shown
}

type pair[K, V any] struct {
	key   K
	value V
	n     int
}

func (p *pair[K, V]) again() { p.n++ }

type box[V any] struct {
	value V
	n     int
}

func (b *box[V]) again() { b.n++ }

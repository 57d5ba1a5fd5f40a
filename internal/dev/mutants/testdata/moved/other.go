// Package moved has functions of package rules in other places.
package moved

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

// small obeys the limit.
func small(n int) bool {
	const limit = 3

	if n < limit && n != 1 {
		n++
	}

	return n <= limit
}

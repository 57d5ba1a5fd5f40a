package jobcase

import (
	"strings"

	"github.com/jobledger/jobledger/internal/read/explain/try"
)

// TryOf returns the newest try (pod) with the given name, UID, or first 4 or more characters of a UID; nil if there is
// none.
func (c *Case) TryOf(pod string) *try.Try {
	for i := len(c.Tries) - 1; i >= 0; i-- {
		if t := c.Tries[i]; t.Pod == pod || string(t.UID) == pod || (len(pod) >= 4 && strings.HasPrefix(string(t.UID), pod)) {
			return t
		}
	}
	return nil
}

package words

import "strings"

// Asker returns the user who asked for a run, in the user's own words, and the field manager that was used.
func Asker(by string) string {
	if i := strings.LastIndex(by, " by "); i >= 0 {
		return by[:i] + " (field manager " + by[i+len(" by "):] + ")"
	}
	return by
}

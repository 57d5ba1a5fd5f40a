package words

import "strings"

// Asker returns the user who asked for a run, as they wrote it, with their field manager.
func Asker(by string) string {
	if i := strings.LastIndex(by, " by "); i >= 0 {
		return by[:i] + " (field manager " + by[i+len(" by "):] + ")"
	}
	return by
}

package words

import "strings"

// Asker is who asked for a run, by their own word, and with which field manager.
func Asker(by string) string {
	if i := strings.LastIndex(by, " by "); i >= 0 {
		return by[:i] + " (field manager " + by[i+len(" by "):] + ")"
	}
	return by
}

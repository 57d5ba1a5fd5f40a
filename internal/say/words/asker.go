package words

import "strings"

// Asker says which user asked for a run of a CronJob, and with which field manager. by is the recorded text: "USER by
// MANAGER".
func Asker(by string) string {
	if i := strings.LastIndex(by, " by "); i >= 0 {
		return by[:i] + " (field manager " + by[i+len(" by "):] + ")"
	}
	return by
}

package controller

import (
	"testing"

	"github.com/jobledger/jobledger/store"
)

// TestStatesThatFillTheLogRefuseTheStart: the refusal names a size with which the start goes on.
func TestStatesThatFillTheLogRefuseTheStart(t *testing.T) {
	const mib = 1 << 20
	for _, row := range []struct {
		name         string
		most, states int64
		want         string
	}{
		{"any size will do without states", 16 * mib, 0, ""},
		{"no size is asked for", 0, 1 << 40, ""},
		{"states of less than half, with what they take in pages", 40 * mib, 17 * mib, ""},
		{"states of more than half", 40 * mib, 18 * mib, "--log-max-size=40Mi is too small: the states of what is unfinished or not deleted take 21 MiB in each file of the log, more than half of it; " +
			"set --log-max-size=81Mi or more"},
		{"which will do", 81 * mib, 18 * mib, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			says := ""
			if err := refuseStates(store.Retention{MaxBytes: row.most}, row.states); err != nil {
				says = err.Error()
			}
			if says != row.want {
				t.Errorf("%q, want %q", says, row.want)
			}
		})
	}
}

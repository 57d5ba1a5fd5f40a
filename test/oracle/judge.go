package oracle

import (
	"fmt"
	"strings"
	"testing"
)

// ends is how often upstream plays a scenario while the two disagree: its goroutines may come to several ends, and each is right.
const ends = 6

// verdict is what a comparison found.
type verdict struct {
	diff  string      // the smallest one; empty when the two agree
	known *Difference // that explains it; nil when none does
	other bool        // they agree on an end to which upstream does not come each time
}

// judge plays a scenario with both, and compares what a lens shows.
func judge(t *testing.T, s Scenario, l lens, seed uint64) (v verdict, err error) {
	mine, err := playOurs(s, l, seed)
	if err != nil {
		return v, fmt.Errorf("ours: %w", err)
	}
	for n := range ends {
		theirs, err := playUpstream(t, s, l, seed+uint64(n))
		if err != nil {
			return v, fmt.Errorf("upstream: %w", err)
		}
		found := diff(theirs, mine)
		if found == "" {
			return verdict{other: n > 0}, nil
		}
		if v.diff == "" || len(found) < len(v.diff) {
			v.diff = found
		}
	}
	v.known = explained(s, v.diff)
	return v, nil
}

// diff is the lines in which two pictures differ: with - those of upstream, with + ours.
func diff(theirs, mine Picture) string {
	count := map[string]int{}
	for _, line := range mine {
		count[line]++
	}
	var b strings.Builder
	for _, line := range theirs {
		if count[line]--; count[line] < 0 {
			fmt.Fprintf(&b, "- %s\n", line)
		}
	}
	for _, line := range mine {
		if count[line]--; count[line] >= 0 {
			fmt.Fprintf(&b, "+ %s\n", line)
		}
	}
	return b.String()
}

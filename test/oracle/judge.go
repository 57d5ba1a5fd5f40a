package oracle

import (
	"fmt"
	"slices"
	"strings"
)

// ends is how often upstream plays a scenario while the two disagree. Its goroutines may come to several ends, and each
// is right.
const ends = 6

// verdict is the result of a comparison.
type verdict struct {
	diff  string      // the smallest diff; empty if the two agree
	known *Difference // the difference that explains it; nil if none does
	other bool        // the two agree on an end that upstream does not reach each time

	mends map[*Difference]bool // the mends of upstream that made the two agree; nil if there are none
}

// judge plays a scenario with both controllers, and compares the pictures through a lens. It also accepts a difference
// that follows from a known one.
func judge(t *player, s Scenario, l lens, seed uint64) (verdict, error) {
	v, err := compare(t, s, l, seed)
	if err == nil && v.diff != "" && v.known == nil {
		v.known, err = hurried(t, s, l, seed)
	}
	if err == nil && v.diff != "" && v.known == nil {
		v.known, err = kept(t, s, l, seed)
	}
	if err == nil && v.diff != "" && v.known == nil {
		v.known, err = parting(t, s, seed)
	}
	return v, err
}

// parting finds the difference by which the two controllers part in the middle of the scenario: nothing unknown differs
// before it, and every later difference follows from it. It returns nil if there is none.
func parting(t *player, s Scenario, seed uint64) (*Difference, error) {
	for n := 1; n < len(s.Steps); n++ {
		begin := s
		begin.Steps = s.Steps[:n]
		v, err := compare(t, begin, through(begin), seed)
		switch {
		case err != nil:
			return nil, err
		case v.known != nil && v.known.Parts:
			return v.known, nil
		case v.diff != "" && v.known == nil:
			return nil, nil
		}
	}
	return nil, nil
}

// compare plays a scenario with both controllers, and compares their ends.
func compare(t *player, s Scenario, l lens, seed uint64) (v verdict, err error) {
	mine, err := playOurs(s, l, seed)
	if err != nil {
		return v, fmt.Errorf("ours: %w", err)
	}
	v, err = compareWith(t, s, l, seed, mine)
	if err == nil && v.diff != "" && v.known == nil && s.has("cronjob") && strings.Contains(s.String(), "@every") {
		if v.known, err = paced(t, s, l, seed, mine); err == nil && v.known == nil {
			v.known, err = pacedOn(t, s, l, seed, mine)
		}
	}
	return v, err
}

// compareWith compares upstream's ends with the picture mine of ours.
func compareWith(t *player, s Scenario, l lens, seed uint64, mine Picture) (v verdict, err error) {
	var all []Picture
	for n := range ends {
		theirs, err := playUpstream(t, s, l, seed+uint64(n), s.manner(n))
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
		all = append(all, theirs)
	}
	if killed, err := killedElsewhere(t, s, l, seed, v.diff, all); err != nil || killed {
		return verdict{other: true}, err
	}
	if v.known = explained(s, v.diff); v.known != nil || len(s.CronJobs) == 0 {
		return v, nil
	}
	return mended(t, s, l, seed, mine, v, newMends)
}

// moreEnds is how often mended upstream plays a scenario if it comes to several ends. Example: three Jobs fail at once
// while creates are refused. Upstream looks two or three times, each look doubles its backoff, and it comes to one of
// the two ends only once in four times.
const moreEnds = 4 * ends

// mended compares ours with upstream mended to follow the rules: see cronmends.go. The difference found is what had to
// be mended.
func mended(t *player, s Scenario, l lens, seed uint64, mine Picture, v verdict, mends func() *mends) (verdict, error) {
	var first Picture
	several := false // upstream comes to several ends
	for n := uint64(0); n < ends || several && n < moreEnds; n++ {
		m := mends()
		theirs, err := playMended(t, s, l, seed+n, [...]manner{wholly, inOrder}[n%2], m)
		if err != nil {
			return v, fmt.Errorf("upstream: %w", err)
		}
		if first == nil {
			first = theirs
		}
		several = several || diff(first, theirs) != ""
		found := diff(theirs, mine)
		if found == "" {
			if v.known = together(m.acted); v.known.Rule == "" {
				return verdict{other: true}, nil
			}
			v.mends = m.acted
			return v, nil
		}
		if v.known = explained(s, found); v.known != nil {
			return v, nil
		}
		if len(found) < len(v.diff) {
			v.diff = found
		}
	}
	return v, nil
}

// together makes one Difference of the ones that acted.
func together(all map[*Difference]bool) *Difference {
	var rules, sentences []string
	for d, acted := range all {
		if !acted {
			continue
		}
		rules, sentences = append(rules, d.Rule), append(sentences, d.Sentence)
	}
	slices.Sort(rules)
	slices.Sort(sentences)
	return &Difference{Rule: strings.Join(rules, " and "), Sentence: strings.Join(sentences, " ")}
}

// elsewhere is by how many writes a kill may be earlier or later.
const elsewhere = 4

// killedElsewhere reports whether the two controllers come to one end if each is killed up to elsewhere writes earlier
// or later. A scenario says after how many writes the controller is killed in the middle of its work, and the two do
// not make the same writes in the same order. Upstream deletes the pods of a failing Job before it says that the Job
// fails, ours after. Upstream removes one surplus pod after the other; ours first takes the finalizers of all. So they
// may count other pods and indexes as failed, and leave other ended pods. Nothing else may differ.
func killedElsewhere(t *player, s Scenario, l lens, seed uint64, found string, theirs []Picture) (bool, error) {
	if _, killed := s.killed(0); !killed || !countsAlone(found) {
		return false, nil
	}
	var mine []Picture
	for by := -elsewhere; by <= elsewhere; by++ {
		shifted, _ := s.killed(by)
		picture, err := playOurs(shifted, l, seed)
		if err != nil {
			return false, fmt.Errorf("ours: %w", err)
		}
		mine = append(mine, picture)
		if picture, err = playUpstream(t, shifted, l, seed, wholly); err != nil {
			return false, fmt.Errorf("upstream: %w", err)
		}
		theirs = append(theirs, picture)
	}
	for _, their := range theirs {
		if slices.ContainsFunc(mine, func(my Picture) bool { return diff(their, my) == "" }) {
			return true, nil
		}
	}
	return false, nil
}

// countsAlone reports whether two pictures differ only in counts and conditions of the Job, and in the ended pods that
// are left.
func countsAlone(diff string) bool {
	for line := range strings.Lines(diff) {
		pod := strings.Contains(line, " pod of ") && strings.Contains(line, "finalizers=[]") &&
			(strings.Contains(line, ": Failed ") || strings.Contains(line, ": Succeeded "))
		if !pod && !strings.Contains(line, ": succeeded=") && !strings.Contains(line, ": condition ") && !strings.Contains(line, " failedIndexes=") {
			return false
		}
	}
	return sameBut(lines(diff, " failedIndexes="), " failedIndexes=")
}

// diff returns the lines in which two pictures differ: with - upstream's, with + ours.
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

package oracle

import (
	"fmt"
	"slices"
	"strings"
)

// ends is how often the built-in controller (upstream) runs a scenario before the results count as different from
// Jobledger's. Upstream's goroutines may lead to several final states, and each of them is right.
const ends = 6

// verdict says whether both controllers agree on one scenario, and if not, why.
type verdict struct {
	diff  string      // smallest diff of their final states; empty if they agree
	known *Difference // the intended difference that explains the diff; nil if none does
	other bool        // they agree, but upstream does not always reach this final state

	mends map[*Difference]bool // the changes of upstream (mends) that made it agree; nil if there are none
}

// judge runs a scenario with both controllers, and compares their final states without what the lens l leaves out. If
// they differ, it also accepts a consequence of a known difference.
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

// parting looks for a known difference that separates the two controllers before the scenario ends. It runs longer and
// longer beginnings of the scenario. If the first diff is explained by a difference with Parts, it returns that
// difference, because all later diffs are its consequences. Otherwise it returns nil.
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

// compare runs a scenario with both controllers, and compares their final states without what the lens l leaves out.
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

// compareWith runs a scenario with upstream several times, and compares its final states with Jobledger's (mine).
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

// moreEnds is how often upstream, changed to follow our rules (mends), runs a scenario if it reaches several final
// states. Example: three Jobs fail at once while creates are refused. Upstream syncs two or three times, each sync
// doubles its backoff, and it reaches one of two final states only once in four times.
const moreEnds = 4 * ends

// mended compares Jobledger's final state (mine) with that of upstream, changed to follow our rules (mends; see
// cronmends.go). If they agree, the difference in the verdict consists of the mends that had an effect.
func mended(t *player, s Scenario, l lens, seed uint64, mine Picture, v verdict, mends func() *mends) (verdict, error) {
	var first Picture
	several := false // whether upstream (the built-in controller) reached different final states in different runs
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

// together returns one difference that stands for all mends (changes of upstream) that had an effect.
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

// elsewhere is the largest number of writes by which killedElsewhere moves a kill, to earlier or to later.
const elsewhere = 4

// killedElsewhere reports whether the two controllers reach the same final state if each is killed up to elsewhere
// writes earlier or later. A scenario says after how many writes the controller is killed, but the two make different
// writes in different orders. Upstream deletes the pods of a failing Job before it stores that the Job fails, Jobledger
// after. Upstream removes one surplus pod after the other; Jobledger first removes the finalizers of all. So they may
// count other pods and indexes as failed, and leave other ended pods. Nothing else may differ.
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

// countsAlone reports whether two pictures differ only in counts and conditions of the Job, and in which ended pods
// still exist.
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

// diff returns the lines in which two pictures differ. Upstream's lines begin with -, Jobledger's with +.
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

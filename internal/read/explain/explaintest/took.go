package explaintest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/attempts"
	"github.com/jobledger/jobledger/internal/read/explain/try"
)

var decided = regexp.MustCompile(`^on index (\d+), which (?:decided it|ended last): `)

// took checks the section TIME, which says how long a Job spent in each phase. Time between pods needs several pods;
// running time needs a started container; a success policy needs an index with a success. If the end of a pod is
// unknown, the section must say "at most".
func took(a *explain.Answer, rows []attempts.Attempt, f *facts) (out []claim) {
	for _, s := range section(a, "TIME") {
		of := rows
		if m := decided.FindStringSubmatch(s.Text); m != nil {
			of = slices.DeleteFunc(slices.Clone(rows), func(r attempts.Attempt) bool {
				return r.Index == nil ||
					fmt.Sprint(*r.Index) != m[1]
			})
			succeeded := slices.ContainsFunc(of, func(r attempts.Attempt) bool { return r.Counted == try.CountedSucceeded })
			failed := slices.ContainsFunc(of, func(r attempts.Attempt) bool { return r.Counted != try.CountedSucceeded })
			switch _, reason := f.concluded(); {
			case !succeeded && f.metPolicy():
				out = append(out, claim{"TIME " + s.Text, "no pod of that index succeeded"})
			case !failed && strings.Contains(s.Text, "decided it") && reason == "BackoffLimitExceeded":
				out = append(out, claim{"TIME " + s.Text, "no pod of that index failed"})
			}
		}
		ran := slices.ContainsFunc(of, func(r attempts.Attempt) bool { return r.Started != 0 })
		most := slices.ContainsFunc(of, func(r attempts.Attempt) bool { return r.RanAtMost })
		switch phases := strings.Split(decided.ReplaceAllString(s.Text, ""), " · "); {
		case has(phases, "between two pods") && len(of) < 2:
			out = append(out, claim{"TIME " + s.Text, fmt.Sprintf("it had %d pods", len(of))})
		case has(phases, "running") && !ran:
			out = append(out, claim{"TIME " + s.Text, "no container ran"})
		case has(phases, "running") && has(phases, "running at most") != most:
			says := fmt.Sprintf("the list of tries says that one ran at most for a time: %t", most)
			out = append(out, claim{"TIME " + s.Text, says})
		}
	}
	return out
}

var lastOfMany = regexp.MustCompile(`^(?:(\d+ failures?) >|\d+ of \d+ completions succeeded).* \(the last: ([^ :)]+)`)

// last checks that the pod which an answer calls the last failure, or the last success, did not end in the other way.
func last(a *explain.Answer, rows []attempts.Attempt) (out []claim) {
	for _, s := range section(a, "WHY") {
		m := lastOfMany.FindStringSubmatch(s.Text)
		if m == nil {
			continue
		}
		other := try.CountedFailed
		if m[1] != "" {
			other = try.CountedSucceeded
		}
		for i := range rows {
			if rows[i].Pod == m[2] && rows[i].Counted == other {
				out = append(out, claim{"WHY " + s.Text, "it counts as " + string(other)})
			}
		}
	}
	return out
}

func has(phases []string, phase string) bool {
	return slices.ContainsFunc(phases, func(p string) bool { return strings.HasPrefix(p, phase+" ") })
}

// metPolicy reports whether the Job completed by its success policy.
func (f *facts) metPolicy() bool {
	for _, c := range f.status.Conditions {
		if c.Type == "SuccessCriteriaMet" && c.Status == "True" && c.Reason == "SuccessPolicy" {
			return f.ended() == "Complete"
		}
	}
	return false
}

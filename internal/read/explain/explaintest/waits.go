package explaintest

import (
	"regexp"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/internal/read/explain"
)

// waits checks that an answer about a Job that fails, is suspended or has ended does not say that it waits for a pod,
// and that a finished Job does not request one.
func waits(a *explain.Answer, f *facts) (out []claim) {
	if a.Kind != "job" {
		return nil
	}
	why := ""
	switch {
	case a.State == "Failing":
		why = "the Job fails"
	case f.ended() != "" || a.State == "Deleted":
		why = "the Job is over"
	case f.spec.Suspend:
		why = "the Job is suspended"
	default:
		return nil
	}
	for _, s := range section(a, "WAITS FOR") {
		if strings.Contains(s.Text, "next pod") || strings.Contains(s.Text, "backoff") {
			out = append(out, claim{"WAITS FOR " + s.Text, why})
		}
	}
	if f.ended() == "" && a.State != "Deleted" {
		return out
	}
	for _, s := range section(a, "REFUSED") {
		if strings.HasPrefix(s.Text, "create pod") && strings.Contains(s.Text, "still refused") {
			out = append(out, claim{"REFUSED " + s.Text, "the Job is over, and nothing is asked any more"})
		}
	}
	return out
}

var waitedFor = regexp.MustCompile(`waited for at least ([^:]+): (\w+)`)

// waitedOnce checks that the section WAITED and the verdict give the same duration for the same wait.
func waitedOnce(a *explain.Answer, _ *facts) []claim {
	said := waitedFor.FindStringSubmatch(a.Verdict.Text)
	if said == nil {
		return nil
	}
	var spans []string
	for _, s := range section(a, "WAITED") {
		if m := waitedFor.FindStringSubmatch(s.Text); m != nil && m[2] == said[2] {
			spans = append(spans, m[1])
		}
	}
	if len(spans) == 0 || slices.Contains(spans, said[1]) {
		return nil
	}
	return []claim{{a.Verdict.Text, "WAITED says of " + said[2] + " that it was waited for at least " + spans[0]}}
}

package explaintest

import (
	"strings"

	"github.com/jobledger/jobledger/internal/read/explain"
)

// waits: a Job that fails, is suspended, or has ended waits for no next pod, and one that is over asks for none.
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

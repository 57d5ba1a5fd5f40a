package explaintest

import (
	"strings"

	"github.com/jobledger/jobledger/internal/explain"
)

// waits: a Job that fails, is suspended, or has ended waits for no next pod.
func waits(a *explain.Answer, f *facts) (out []claim) {
	if a.Kind != "job" {
		return nil
	}
	why := ""
	switch {
	case a.State == "Failing":
		why = "the Job fails"
	case f.ended() != "":
		why = "the Job has ended"
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
	return out
}

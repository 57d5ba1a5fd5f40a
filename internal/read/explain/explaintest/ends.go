package explaintest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
)

// endsAsSaid checks three rules. No verdict may name a cause that the status contradicts. A deed may be attributed to a
// controller only with a record. A Job that had begun before its first record may not be said to have a complete
// history.
func endsAsSaid(a *explain.Answer, f *facts) (out []claim) {
	for _, s := range sentences(a) {
		if text := asserted(s.Text); byController.MatchString(text) && !strings.Contains(text, "inferred") {
			out = append(out, claim{s.Text, "no record shows that this controller did it"})
		}
	}
	if a.Kind != "job" {
		return out
	}
	if but := f.unmet(); but != "" && causes.MatchString(a.Verdict.Text) && !strings.Contains(a.Verdict.Text,
		"its status says ") {
		out = append(out, claim{a.Verdict.Text, but})
	}
	if had := f.past(); had != "" && a.Begun == "" && len(a.Gaps) == 0 && !a.Truncated {
		out = append(out, claim{"history complete", "its first record shows " + had})
	}
	return out
}

var (
	byController = regexp.MustCompile(`(?:decided|written|deleted|stopped|stored) by the (?:Job's|built-in) controller`)
	causes       = regexp.MustCompile(`backoffLimit is|Seconds \d+ passed|FailJob|index(?:es)? \S+ of \d+ failed|indexes failed|succeeded|completed|is met by`)
)

// unmet says how the numbers in the status of an ended Job contradict the reason of its condition; empty if they do
// not.
func (f *facts) unmet() string {
	s, spec := &f.status, &f.spec
	for _, k := range s.Conditions {
		if k.Status != "True" || k.Type != "Failed" && k.Type != "Complete" {
			continue
		}
		limit := int32(6)
		if spec.BackoffLimit != nil {
			limit = *spec.BackoffLimit
		}
		switch {
		case k.Reason == "BackoffLimitExceeded" && s.Failed <= limit && !f.restarted():
			return fmt.Sprintf("the status counts %d failures, backoffLimit is %d", s.Failed, limit)
		case k.Reason == "DeadlineExceeded" && spec.ActiveDeadlineSeconds == nil:
			return "it has no activeDeadlineSeconds"
		case k.Reason == "DeadlineExceeded" && k.Since.Sub(s.StartTime)+2*time.Second < time.Duration(*spec.ActiveDeadlineSeconds)*time.Second:
			return fmt.Sprintf("it ended %s after its start", k.Since.Sub(s.StartTime))
		case k.Reason == "FailedIndexes" && s.FailedIndexes == "":
			return "the status has no failed index"
		case k.Type == "Complete" && k.Reason != "SuccessPolicy" && spec.Completions != nil &&
			s.Succeeded < *spec.Completions:
			return fmt.Sprintf("%d of %d succeeded", s.Succeeded, *spec.Completions)
		}
	}
	return ""
}

// restarted reports whether a container of a pod was restarted.
func (f *facts) restarted() bool {
	return slices.ContainsFunc(f.records, func(r *events.Record) bool {
		p, ok := r.Facts.(*events.PodSeen)
		return ok && p.Restarts > 0
	})
}

// past says what had happened to a Job before its first record, as this record shows; empty for nothing.
func (f *facts) past() string {
	i := slices.IndexFunc(f.records, func(r *events.Record) bool { return r.Kind == events.KindJobAdded })
	if i < 0 {
		return ""
	}
	seen, ok := f.records[i].Facts.(*events.JobSeen)
	switch s := seen.Status; {
	case !ok:
	case seen.Deleted != 0:
		return "that it is being deleted"
	case seen.Generation > 1:
		return "that its spec was changed"
	case s == nil:
	case s.StartTime != 0:
		return "a start"
	case max(s.Failed, s.Succeeded, s.Active) > 0:
		return "pods"
	}
	return ""
}

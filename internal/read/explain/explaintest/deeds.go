package explaintest

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
)

var (
	others = regexp.MustCompile(`by an API client|by the (built-in|Job's|built-in CronJob) controller|by whom is unknown|which is unknown`)
	byUs   = regexp.MustCompile(`by Jobledger`)

	deleted = regexp.MustCompile(`(?i)^(?:being )?deleted `)
)

// deeds checks whom an answer blames for a deletion: our deletions must be called ours, and deletions by other clients
// must not.
func deeds(a *explain.Answer, f *facts) (out []claim) {
	switch a.Kind {
	case "job":
		if a.Deleted != nil {
			out = append(out, f.laid(*a.Deleted, f.job)...)
			if deleted.MatchString(a.Verdict.Text) { // other verdicts are about who deleted pods
				out = append(out, f.laid(a.Verdict, f.job)...)
			}
		}
	case "pod":
		for _, s := range section(a, "WHO") {
			out = append(out, f.laid(s, types.UID(a.UID))...)
		}
	}
	return out
}

// laid compares sentence s, which says who deleted the object uid, with our decisions before the deletion was seen.
func (f *facts) laid(s explain.Sentence, uid types.UID) (out []claim) {
	said, _, _ := strings.Cut(s.Text, "; not by ")
	seen := f.deletionSeen(uid)
	var ours *order
	for i, o := range f.all.ours[uid] {
		if seen != 0 && o.at < seen && (f.at == 0 || o.at <= f.at) {
			ours = &f.all.ours[uid][i]
		}
	}
	switch {
	case ours != nil && others.MatchString(said) && !byUs.MatchString(said):
		out = append(out, claim{s.Text, fmt.Sprintf("record %d decides it (%s)", ours.at, ours.what)})
	case seen == 0 && others.MatchString(said) && deleted.MatchString(said):
		out = append(out, claim{s.Text, "no record shows that it was deleted"})
	case ours == nil && byUs.MatchString(said):
		out = append(out, claim{s.Text, "no decision of ours does"})
	}
	return out
}

// deletionSeen returns the first record which shows that the Job or a pod is being deleted, or that it is gone; 0 if
// there is none.
func (f *facts) deletionSeen(uid types.UID) events.Sequence {
	for _, r := range f.records {
		switch x := r.Facts.(type) {
		case *events.JobSeen:
			if uid == f.job && x.Deleted != 0 {
				return r.Sequence
			}
		case *events.JobGone:
			if uid == f.job {
				return r.Sequence
			}
		case *events.CommandEnded:
			other := x.Ending == events.Done && x.UID != uid || x.Class == events.RefusedNotFound
			if uid == f.job && x.Type == events.CommandReadJob && other { // the read did not find this Job
				return r.Sequence
			}
		case *events.PodSeen:
			if x.UID == uid && x.Deleted != 0 {
				return r.Sequence
			}
		case *events.PodGone:
			if x.UID == uid {
				return r.Sequence
			}
		}
	}
	return 0
}

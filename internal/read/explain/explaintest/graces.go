package explaintest

import (
	"fmt"
	"regexp"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/say/words"
)

var (
	given  = regexp.MustCompile(`given (\S+) to stop`)
	forced = regexp.MustCompile(`by force`)
)

// graces checks the grace period that an answer about a pod shows: it must be that of the first record of the deletion.
// If it is 0 and the pod was running, the answer must call this a deletion by force.
func graces(a *explain.Answer, f *facts) (out []claim) {
	if a.Kind != "pod" {
		return nil
	}
	first := f.firstDeletion(types.UID(a.UID))
	for _, s := range section(a, "WHO") {
		m := given.FindStringSubmatch(s.Text)
		switch {
		case m == nil && !forced.MatchString(s.Text):
		case first == nil || first.DeletionGracePeriodSeconds == nil:
			out = append(out, claim{s.Text, "no record shows how long it was given"})
		case m != nil && m[1] != words.Span(time.Duration(*first.DeletionGracePeriodSeconds)*time.Second):
			out = append(out, claim{s.Text, fmt.Sprintf("it was given %d s", *first.DeletionGracePeriodSeconds)})
		case m == nil && (*first.DeletionGracePeriodSeconds != 0 || first.Phase.Terminal()):
			out = append(out, claim{s.Text, fmt.Sprintf("it was given %d s, and was %s", *first.DeletionGracePeriodSeconds,
				first.Phase)})
		}
	}
	return out
}

// firstDeletion returns the first version of a pod that is being deleted; nil if there is none.
func (f *facts) firstDeletion(uid types.UID) *events.PodSeen {
	for _, r := range f.records {
		if p, ok := r.Facts.(*events.PodSeen); ok && p.UID == uid && p.Deleted != 0 {
			return p
		}
	}
	return nil
}

package words

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/jobledger/jobledger/events"
)

// sighted says which spec a Job had when it was seen: the hash of the spec, and the record that stores it.
type sighted struct {
	at     events.Sequence // record in which the Job was seen; 0 for none
	hash   string
	specAt events.Sequence // record that stores the spec with this hash
}

// edits says which fields of the Job's spec were changed, as record r shows: "suspend: false → true".
func (n *Names) edits(r *events.Record, f *events.JobSeen) []string {
	if r.Kind == events.KindJobAdded {
		return nil
	}
	s := n.of(r.Stream)
	before := s.seen[0]
	if before.at == r.Sequence {
		before = s.seen[1]
	}
	if before.at == 0 && f.Generation > 1 {
		before = n.sightedBefore(r)
	}
	if before.at == 0 || before.hash == f.Spec {
		return nil
	}
	old, now := n.spec(s, before.specAt), n.spec(s, f.SpecAt)
	if old == nil || now == nil {
		return []string{"spec edited"}
	}
	return SpecChanges(old, now)
}

// sightedBefore returns which spec the Job had before record r. It reads earlier records, because Names has not
// learned any.
func (n *Names) sightedBefore(r *events.Record) sighted {
	if n.Back == nil || r.Previous == 0 {
		return sighted{}
	}
	for b, err := range n.Back(r.Stream, r.Previous) {
		if err != nil {
			break
		}
		if f, ok := b.Facts.(*events.JobSeen); ok {
			return sighted{b.Sequence, f.Spec, f.SpecAt}
		}
	}
	return sighted{}
}

// spec returns the spec that the record with sequence `at` stores. It keeps it for later calls; nil if the record
// cannot be read.
func (n *Names) spec(s *streamNames, at events.Sequence) *events.JobSpec {
	if spec := s.specs[at]; spec != nil || n.Record == nil || at == 0 {
		return spec
	}
	r, err := n.Record(at)
	if err != nil {
		return nil
	}
	spec, _ := r.Facts.(*events.JobSpec)
	return spec
}

// SpecChanges says in which fields two specs of a Job differ: "parallelism: 2 → 3".
func SpecChanges(old, now *events.JobSpec) []string {
	var parts []string
	field := func(name, a, b string) {
		if a != b {
			parts = append(parts, fmt.Sprintf("%s: %s → %s", name, cmp.Or(a, "unset"), cmp.Or(b, "unset")))
		}
	}
	field("suspend", strconv.FormatBool(old.Suspend), strconv.FormatBool(now.Suspend))
	field("parallelism", number(old.Parallelism), number(now.Parallelism))
	field("completions", number(old.Completions), number(now.Completions))
	field("completionMode", old.CompletionMode, now.CompletionMode)
	field("activeDeadlineSeconds", number(old.ActiveDeadlineSeconds), number(now.ActiveDeadlineSeconds))
	field("backoffLimit", number(old.BackoffLimit), number(now.BackoffLimit))
	field("backoffLimitPerIndex", number(old.BackoffLimitPerIndex), number(now.BackoffLimitPerIndex))
	field("maxFailedIndexes", number(old.MaxFailedIndexes), number(now.MaxFailedIndexes))
	field("ttlSecondsAfterFinished", number(old.TTLSecondsAfterFinished), number(now.TTLSecondsAfterFinished))
	field("podReplacementPolicy", old.PodReplacementPolicy, now.PodReplacementPolicy)
	field("restartPolicy", old.RestartPolicy, now.RestartPolicy)
	field("manualSelector", strconv.FormatBool(old.ManualSelector), strconv.FormatBool(now.ManualSelector))
	field("scheduling policy", old.SchedulingPolicy, now.SchedulingPolicy)
	field("scheduling minCount", number(old.MinCount), number(now.MinCount))
	if old.Key != now.Key {
		return parts // with another key every hash differs, so the rest cannot be compared
	}
	if old.Policies != now.Policies {
		parts = append(parts, "selector or policies edited")
	}
	if old.Template != now.Template {
		parts = append(parts, "pod template edited")
	}
	if old.Scheduling != now.Scheduling && old.SchedulingPolicy == now.SchedulingPolicy {
		parts = append(parts, "scheduling edited")
	}
	return parts
}

// number returns an optional number as text; empty for nil.
func number[T int32 | int64](v *T) string {
	if v == nil {
		return ""
	}
	return strconv.FormatInt(int64(*v), 10)
}

package attempts

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Wanted is a period in which spec.parallelism was constant. Its JSON changes only by adding fields.
type Wanted struct {
	From      recordjson.Instant `json:"from"`
	To        recordjson.Instant `json:"to"`
	Pods      int32              `json:"pods"` // spec.parallelism
	Suspended bool               `json:"suspended,omitempty"`
	Record    uint64             `json:"record,omitempty"` // record that shows the spec
}

// Instant is something that a timeline marks: an edit of a Job or a decision about it, at one moment. Its JSON changes
// only by adding fields.
type Instant struct {
	At     recordjson.Instant `json:"at"`
	What   string             `json:"what"` // "edited" or "decided"
	Says   string             `json:"says"`
	Record uint64             `json:"record"`
}

// Values of Instant.What.
const (
	InstantEdited  = "edited"
	InstantDecided = "decided"
)

// wantedBy returns the periods in which spec.parallelism was constant, up to end. Edits of the spec divide them.
func wantedBy(c *jobcase.Case, end events.Time) (out []Wanted) {
	add := func(spec *events.JobSpec, from explain.Mark, to events.Time) {
		if spec == nil || spec.Parallelism == nil || to <= from.At {
			return
		}
		out = append(out, Wanted{
			From: recordjson.Instant(from.At), To: recordjson.Instant(to), Pods: *spec.Parallelism, Suspended: spec.Suspend,
			Record: uint64(from.Record),
		})
	}
	first := c.Added
	if first.At = c.Start(); first.Record == 0 {
		first = c.Stated
	}
	for i := range c.Edits {
		e := &c.Edits[i]
		add(e.Before, first, min(e.At.At, end))
		first = e.At
	}
	add(c.Spec, first, end)
	return out
}

// instants returns the moments that the timeline marks: edits of the Job, decisions to delete pods, and the decision
// that the Job has ended.
func instants(c *jobcase.Case) (out []Instant) {
	add := func(what, says string, at explain.Mark) {
		if at.Record != 0 {
			out = append(out, Instant{At: recordjson.Instant(at.At), What: what, Says: says, Record: uint64(at.Record)})
		}
	}
	for i := range c.Edits {
		e := &c.Edits[i]
		add(InstantEdited, strings.Join(words.SpecChanges(e.Before, e.After), ", ")+explain.ByManager(e.By), e.At)
	}
	seen := map[events.Sequence]bool{}
	for _, t := range c.Tries {
		if at := t.Deleted; at.Record != 0 && !seen[at.Record] {
			seen[at.Record] = true
			add(InstantDecided, string(t.DeletedReason), at)
		}
	}
	if s := c.Settled; s != nil && !seen[s.Decided.Record] {
		add(InstantDecided, s.Reason, s.Decided)
	}
	slices.SortStableFunc(out, func(a, b Instant) int { return cmp.Compare(a.At, b.At) })
	return out
}

// endSeenLate is the smallest delay between the end of a pod and its report for which a timeline shows the end as a
// range. A shorter delay may come from rounding, because the node reports whole seconds.
const endSeenLate = 2 * time.Second

// earliestEnd returns the earliest possible end of try t (a pod) whose end was reported late: the end by the node's
// clock, or the start of the gap (a time in which nobody watched) in which it ended. It returns 0 if the end was seen
// at once.
func earliestEnd(c *jobcase.Case, t *try.Try) events.Time {
	seen := t.End().At
	if t.Finished != 0 && t.Finished < seen {
		if seen.Sub(t.Finished) < endSeenLate {
			return 0
		}
		return t.Finished
	}
	if g := c.GapBefore(t, t.End()); g != nil && g.From != 0 {
		return max(events.Time(g.From), t.Seen.At)
	}
	return 0
}

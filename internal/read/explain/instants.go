package explain

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Wanted is a time in which so many pods were wanted at a time. Its JSON changes only by growing.
type Wanted struct {
	From      recordjson.Instant `json:"from"`
	To        recordjson.Instant `json:"to"`
	Pods      int32              `json:"pods"` // spec.parallelism
	Suspended bool               `json:"suspended,omitempty"`
	Record    uint64             `json:"record,omitempty"` // that shows the spec
}

// Instant is an edit of a Job, or a decision about it. Its JSON changes only by growing.
type Instant struct {
	At     recordjson.Instant `json:"at"`
	What   string             `json:"what"` // "edited" or "decided"
	Says   string             `json:"says"`
	Record uint64             `json:"record"`
}

// The sorts of Instant.
const (
	InstantEdited  = "edited"
	InstantDecided = "decided"
)

// wantedBy are the times between the specs of the Job, up to its end.
func (c *Case) wantedBy(end events.Time) (out []Wanted) {
	add := func(spec *events.JobSpec, from Mark, to events.Time) {
		if spec == nil || spec.Parallelism == nil || to <= from.At {
			return
		}
		out = append(out, Wanted{
			From: recordjson.Instant(from.At), To: recordjson.Instant(to), Pods: *spec.Parallelism, Suspended: spec.Suspend, Record: uint64(from.Record),
		})
	}
	first := c.added
	if first.At = c.start(); first.Record == 0 {
		first = c.stated
	}
	for i := range c.edits {
		e := &c.edits[i]
		add(e.Before, first, min(e.At.At, end))
		first = e.At
	}
	add(c.Spec, first, end)
	return out
}

// instants are the edits of the Job, when pods were to be deleted, and when it was settled how the Job ends.
func (c *Case) instants() (out []Instant) {
	add := func(what, says string, at Mark) {
		if at.Record != 0 {
			out = append(out, Instant{At: recordjson.Instant(at.At), What: what, Says: says, Record: uint64(at.Record)})
		}
	}
	for i := range c.edits {
		e := &c.edits[i]
		add(InstantEdited, strings.Join(words.SpecChanges(e.Before, e.After), ", ")+byManager(e.By), e.At)
	}
	seen := map[events.Sequence]bool{}
	for _, t := range c.Tries {
		if at := t.Deleted; at.Record != 0 && !seen[at.Record] {
			seen[at.Record] = true
			add(InstantDecided, string(t.DeletedReason), at)
		}
	}
	if s := c.settled; s != nil && !seen[s.Decided.Record] {
		add(InstantDecided, s.Reason, s.Decided)
	}
	slices.SortStableFunc(out, func(a, b Instant) int { return cmp.Compare(a.At, b.At) })
	return out
}

// endSeenLate is from when on an end that was seen later than it came is told with both bounds: the node says when in
// whole seconds.
const endSeenLate = 2 * time.Second

// earliestEnd is when a try ended at the earliest, where that was seen later: by its node's clock, else when it was
// watched last. It is 0 where the end was seen as it came.
func (c *Case) earliestEnd(t *Try) events.Time {
	seen := t.end().At
	if t.Finished != 0 && t.Finished < seen {
		if seen.Sub(t.Finished) < endSeenLate {
			return 0
		}
		return t.Finished
	}
	if g := c.gapBefore(t, t.end()); g != nil && g.From != 0 {
		return max(events.Time(g.From), t.Seen.At)
	}
	return 0
}

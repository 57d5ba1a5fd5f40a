package attempts

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/ending"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/spent"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

// Timeline shows when each try of the Job was created, ran and ended. Its JSON changes only by adding fields.
type Timeline struct {
	From  recordjson.Instant `json:"from,omitzero"` // absent if the log has no tries
	To    recordjson.Instant `json:"to,omitzero"`
	Watch []Span             `json:"notWatched,omitempty"`
	// Passed are times in which the namespace was over its log budget, so that some pods and changes were not recorded.
	Passed []history.Passed `json:"passedOver,omitempty"`
	Rows   []Lane           `json:"rows"`
	More   int              `json:"more,omitempty"` // number of rows that are left out
	// Wanted has the periods in which spec.parallelism was constant.
	Wanted []Wanted `json:"wanted,omitempty"`
	// Marks has edits of the Job and decisions about it, by time.
	Marks []Instant `json:"marks,omitempty"`
	// Truncated is set if the Job's first records are pruned, so that tries may be missing.
	Truncated bool `json:"truncated,omitempty"`
	// Unrecorded is the number of versions of the Job and its pods that were seen and got no record. Later records have
	// this number.
	Unrecorded uint64 `json:"unrecorded,omitempty"`
}

// Lane is a row of the timeline: the pods of one index, or one pod of a Job without indexes.
type Lane struct {
	Name  string `json:"name"`
	Index *int32 `json:"index,omitempty"`
	Try   int    `json:"try,omitempty"` // for a Job without indexes: the number of the try, from 1
	Spans []Span `json:"spans"`
	Ends  []End  `json:"ends,omitempty"` // ends of its tries
}

// Span is a period on a row of the timeline, and what happened in it.
type Span struct {
	// What is "running", "starting", "scheduling", "stopping", "backoff" or "not watched".
	What string             `json:"what"`
	From recordjson.Instant `json:"from"`
	To   recordjson.Instant `json:"to"`
	Of
}

// Of names the try (pod) to which a period or an end on the timeline belongs, and the record that shows it. It is empty
// for a time in which nobody watched.
type Of struct {
	Pod    string `json:"pod,omitempty"`
	Try    int    `json:"try,omitempty"`
	Record uint64 `json:"record,omitempty"`
}

// End says when and how a try ended.
type End struct {
	At        recordjson.Instant `json:"at"`
	Succeeded bool               `json:"succeeded,omitempty"`
	By        try.By             `json:"by"`
	How       string             `json:"how,omitempty"`
	// Earliest is the earliest possible end of the try. It is set if the end was seen late; At is then the time at
	// which it was seen.
	Earliest recordjson.Instant `json:"earliest,omitzero"`
	Of
}

// TimelineOf returns the timeline of the Job, with no more rows than `most` (0 for all). If it must leave out rows, it
// keeps those with a failed pod.
func TimelineOf(c *jobcase.Case, most int) Timeline {
	end := c.End()
	if len(c.Tries) == 0 {
		return Timeline{Rows: []Lane{}, Truncated: c.Truncated(), Passed: c.PassedOver(), Unrecorded: c.Unrecorded.Versions}
	}
	out := Timeline{From: recordjson.Instant(c.Start()), To: recordjson.Instant(end), Rows: []Lane{},
		Truncated: c.Truncated()}
	out.Passed, out.Unrecorded = c.PassedOver(), c.Unrecorded.Versions
	out.Wanted, out.Marks = wantedBy(c, end), instants(c)
	for _, g := range c.Touching() {
		out.Watch = append(out.Watch, gapSpan(g, end))
	}
	order, failed := lanes(c, end)
	if most > 0 && len(order) > most {
		slices.SortStableFunc(order, func(a, b *Lane) int { return cmp.Compare(rank(failed[a]), rank(failed[b])) })
		out.More = len(order) - most
		order = order[:most]
	}
	for _, lane := range order {
		out.Rows = append(out.Rows, *lane)
	}
	return out
}

// lanes returns the timeline's rows for all tries (pods), up to time end, and which of them have a failed try.
func lanes(c *jobcase.Case, end events.Time) (order []*Lane, failed map[*Lane]bool) {
	lanes := map[string]*Lane{}
	failed = map[*Lane]bool{}
	for _, t := range byIndex(c) {
		name := t.Pod
		if t.Index != events.NoIndex {
			name = fmt.Sprintf("index %d", t.Index)
		}
		lane := lanes[name]
		if lane == nil {
			lane = &Lane{Name: name}
			if lane.Try = t.Number; t.Index != events.NoIndex {
				lane.Try, lane.Index = 0, &t.Index
			}
			lanes[name] = lane
			order = append(order, lane)
		}
		draw(c, lane, t, end)
		failed[lane] = failed[lane] || t.Failed()
	}
	return order, failed
}

// draw adds the periods and the end of try t (a pod) to its row of the timeline. end is the end of the timeline.
func draw(c *jobcase.Case, lane *Lane, t *try.Try, end events.Time) {
	add := func(s Span, from explain.Mark) {
		s.Of = Of{Pod: t.Pod, Try: t.Number, Record: uint64(from.Record)}
		lane.Spans = append(lane.Spans, s)
	}
	begins := map[spent.Phase]explain.Mark{
		spent.PhaseCreating: t.Ordered, spent.PhaseScheduling: t.Seen, spent.PhaseStarting: t.Placed,
		spent.PhaseRunning: t.Started, spent.PhaseStopping: t.AskedSeen,
	}
	for _, s := range spent.Stretches(t, end) {
		from := begins[s.Phase]
		if from.Record == 0 {
			from = t.Seen
		}
		add(spanOf(s.Phase, s.From, s.To), from)
	}
	if until := c.HeldUntil(t); until != 0 && t.CountAt.At != 0 {
		add(spanOf(spent.PhaseBackoff, t.CountAt.At, min(until, end)), t.CountAt)
	}
	if !t.Over() {
		return
	}
	e, at := ending.Of(c, t), t.End()
	lane.Ends = append(lane.Ends, End{
		At: recordjson.Instant(at.At), Succeeded: t.Phase == events.PodSucceeded, By: e.By, How: e.Why,
		Earliest: recordjson.Instant(earliestEnd(c, t)), Of: Of{Pod: t.Pod, Try: t.Number, Record: uint64(at.Record)},
	})
}

func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}

func gapSpan(g *history.Gap, to events.Time) Span {
	if g.Until != 0 {
		to = events.Time(g.Until)
	}
	return spanOf(spent.PhaseUnwatched, events.Time(g.From), to)
}

func spanOf(p spent.Phase, from, to events.Time) Span {
	return Span{What: spent.PhaseNames[p], From: recordjson.Instant(from), To: recordjson.Instant(to)}
}

// byIndex returns the tries (pods) sorted by index. Those of the same index keep their order.
func byIndex(c *jobcase.Case) []*try.Try {
	tries := slices.Clone(c.Tries)
	slices.SortStableFunc(tries, func(a, b *try.Try) int { return cmp.Compare(a.Index, b.Index) })
	return tries
}

// Column returns the time that one column covers, if n columns cover the timeline. It rounds up to a usual step: a
// timeline of 10 minutes in 60 columns has columns of 10 s.
func (t *Timeline) Column(n int) time.Duration {
	whole := events.Time(t.To).Sub(events.Time(t.From))
	for _, d := range []time.Duration{
		10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond,
		500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second,
		30 * time.Second,
		time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
		time.Hour, 2 * time.Hour, 4 * time.Hour, 12 * time.Hour, 24 * time.Hour,
	} {
		if whole <= d*time.Duration(n) {
			return d
		}
	}
	const day = 24 * time.Hour
	each := whole / time.Duration(n)
	return each - each%day + day
}

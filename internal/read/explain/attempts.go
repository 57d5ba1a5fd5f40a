package explain

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Attempt is one try of a Job, as a row of a list. Its JSON changes only by growing.
type Attempt struct {
	Index *int32 `json:"index,omitempty"`
	Try   int    `json:"try"` // from 1, within the index; within the Job if it has no indexes
	Pod   string `json:"pod"`
	UID   string `json:"uid"`
	Node  string `json:"node,omitempty"`

	Created recordjson.Instant `json:"created,omitzero"` // by the API server's clock
	// By the node's clock, in whole seconds; otherwise the time it was seen to run.
	Started   recordjson.Instant `json:"started,omitzero"`
	Ran       string             `json:"ran,omitempty"` // duration, as Go writes it
	RanAtMost bool               `json:"ranAtMost,omitempty"`

	EndedBy By     `json:"endedBy,omitempty"` // absent while it goes on
	How     string `json:"how,omitempty"`     // how it ended, or what it waits for
	Whole   string `json:"whole,omitempty"`   // How with nothing cut out of quoted messages
	// Nobody watched at the requested time: the row has the last known state.
	Unseen   bool               `json:"unseen,omitempty"`
	Exits    []Exit             `json:"exits,omitempty"`
	Restarts uint32             `json:"restarts,omitempty"`
	Counted  Counted            `json:"counted,omitempty"`
	Failure  int32              `json:"failure,omitempty"` // the number of the failure within the Job, from 1
	Next     recordjson.Instant `json:"next,omitzero"`     // backoff: the next try came no earlier
	Deleted  recordjson.Instant `json:"deletionAsked,omitzero"`
	Gone     bool               `json:"gone,omitempty"` // its object is deleted
	Records  map[string]uint64  `json:"records,omitempty"`
}

// Exit is a container's exit code other than 0.
type Exit struct {
	Container string `json:"container"`
	Code      int32  `json:"code"`
	Reason    string `json:"reason,omitempty"`
}

// Attempts returns the Job's tries, sorted by index and number: at most most rows (0 for all), starting at row from,
// counted from 0. With failed set it considers only failed tries. all is the number of rows without these bounds.
func (c *Case) Attempts(failed bool, from, most int) (rows []Attempt, all int) {
	tries := c.Tries
	if failed {
		tries = c.failedTries()
	}
	tries = slices.Clone(tries)
	slices.SortStableFunc(tries, func(a, b *Try) int { return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Number, b.Number)) })
	all = len(tries)
	tries = tries[min(from, all):]
	if most > 0 {
		tries = tries[:min(most, len(tries))]
	}
	for _, t := range tries {
		rows = append(rows, c.attempt(t))
	}
	return rows, all
}

func (c *Case) attempt(t *Try) Attempt {
	a := Attempt{
		Try: t.Number, Pod: t.Pod, UID: string(t.UID), Node: t.Node, Created: recordjson.Instant(t.Created),
		Started: recordjson.Instant(cmp.Or(t.began(), t.Started.At)), Restarts: t.restarts(), Counted: t.Counted, Failure: t.Failure,
		Next: recordjson.Instant(c.notBefore(t)), Deleted: recordjson.Instant(t.Asked), Gone: t.Gone.Record != 0,
	}
	if t.Index != events.NoIndex {
		a.Index = &t.Index
	}
	if d, known, most := t.ran(); known {
		a.Ran, a.RanAtMost = d.String(), most
	}
	a.EndedBy = c.ending(t).By
	how := c.how(t)
	if a.How = how.cut; how.whole != how.cut {
		a.Whole = how.whole
	}
	if _, unseen := c.unseen(); a.EndedBy == ByNobody {
		a.Unseen = unseen || c.damage != 0 || c.Job.Gap != nil && !c.over()
	}
	for _, x := range failures(t.Containers) {
		a.Exits = append(a.Exits, Exit{x.Name, x.ExitCode, x.Reason})
	}
	a.Records = map[string]uint64{}
	for name, m := range map[string]Mark{
		"ordered": t.Ordered, "seen": t.Seen, "started": t.Started, "ended": t.Ended, "deletionSeen": t.AskedSeen, "gone": t.Gone,
		"deletedByUs": t.Deleted, "counted": t.CountAt,
	} {
		if m.Record != 0 {
			a.Records[name] = uint64(m.Record)
		}
	}
	return a
}

// how returns how a try ended, or what it waits for.
func (c *Case) how(t *Try) passage {
	e := c.ending(t)
	how := phrase("%s", e.Why)
	switch {
	case e.Then != "" && e.Why == "":
		how = phrase("%s", e.Then)
	case e.Then != "":
		how = phrase("%s; %s", how, e.Then)
	}
	if h, half := c.halfDone(t); e.By == ByNobody && half {
		how = phrase("%s", h.text)
	} else if e.By == ByNobody {
		how = t.waitsText()
	}
	if n := len(t.Waits); n > 0 && t.Started.Record == 0 && e.By != ByNobody && t.toldWait() {
		how = phrase("%s; it had waited: %s", how, t.waitWords())
	}
	if k := t.ended0(); k != nil && t.over() && len(failures(t.Containers)) > 0 {
		how = phrase("%s; %s had ended with 0%s", how, k.Name, c.atClock(k.Finished))
	}
	return how
}

// notBefore returns the time before which the try after t could not start because of t's failure. It is 0 if no try was
// to follow because the Job's end was settled. It is never later than the next try came: the controller that created it
// may count from another second than we do.
func (c *Case) notBefore(t *Try) events.Time {
	if t.Again == 0 {
		return 0
	}
	if next := c.follower(t); next != nil {
		return min(t.Again, next.came())
	}
	if c.noneFollows(t) {
		return 0
	}
	return t.Again
}

// heldUntil returns the end, by our clock, of the backoff that delayed the try after t; 0 for no backoff.
func (c *Case) heldUntil(t *Try) events.Time {
	if next := c.follower(t); next != nil && t.Again != 0 {
		return min(t.Again, next.Seen.At)
	}
	return c.notBefore(t)
}

// follower returns the next try of the same index that was created after t ended; nil for none.
func (c *Case) follower(t *Try) (next *Try) {
	for _, x := range c.Tries {
		later := x.Seen.Record > t.end().Record && x.Created.Add(time.Second) > t.end().At
		if x != t && x.Index == t.Index && later && (next == nil || x.came() < next.came()) {
			next = x
		}
	}
	return next
}

// came returns when a list shows the try as present: its creation or its start, whichever time is earlier. The two come
// from different clocks.
func (t *Try) came() events.Time {
	came := cmp.Or(t.Created, t.Seen.At)
	if began := t.began(); began != 0 {
		came = min(came, began)
	}
	return came
}

// noneFollows reports whether no try follows t: the Job's end is settled, our rules derive it from the records, or the
// Job is being deleted.
func (c *Case) noneFollows(t *Try) bool {
	if c.over() || c.settled != nil || c.spare != nil && !c.ours() || c.deletion().Record != 0 {
		return true
	}
	return c.folded != nil && c.folded.FailedIndexes().Has(t.Index)
}

// waitText returns the reason for which a try waits now; empty if it does not wait.
func (t *Try) waitText() string {
	if n := len(t.Waits); n > 0 && t.Waits[n-1].Until.Record == 0 {
		return t.Waits[n-1].Reason
	}
	return ""
}

// waitsText returns waitText with its message.
func (t *Try) waitsText() passage {
	if t.waitText() == "" {
		return passage{}
	}
	return t.waitWords()
}

// toldWait reports whether the wait of a try that never started is worth telling: its reason does not pass by itself,
// or it took at least waitTold.
func (t *Try) toldWait() bool {
	return slices.Contains(stuckWords, t.wait0().Reason) || t.end().At.Sub(t.Seen.At) >= waitTold
}

// waitWords returns the newest wait of a try and its message.
func (t *Try) waitWords() passage {
	w := t.wait0()
	return phrase("%s%s", w.word(), colon(w.Message))
}

// lacking names the records that the list of tries is limited to, if other records may have had more tries; empty if
// the list is complete.
func (c *Case) lacking() string {
	switch {
	case c.Truncated() && c.resumed != 0, c.cut && !c.over():
		return " in the records that can be read"
	case c.Truncated():
		return " in the records that are kept"
	}
	return ""
}

// Sum returns a line with the number of tries and how they ended: "4 tries · 1 succeeded, 3 failed (2 disruptions)".
func (c *Case) Sum() string {
	if len(c.Tries) == 0 && c.lacking() != "" {
		return "no tries" + c.lacking()
	}
	indexes, counts := map[int32]bool{}, map[Counted]int{}
	disrupted := 0
	for _, t := range c.Tries {
		indexes[t.Index] = true
		counts[t.Counted]++
		if c.ending(t).By.Disruption() {
			disrupted++
		}
	}
	text := tries(len(c.Tries)) + c.lacking()
	if c.folded != nil && c.folded.Indexed {
		text += fmt.Sprintf(", %d indexes", len(indexes))
	}
	text += fmt.Sprintf(" · %d succeeded, %d failed", counts[CountedSucceeded], counts[CountedFailed])
	text += c.statusText(counts)
	if disrupted > 0 {
		text += fmt.Sprintf(" (%s)", words.Count(disrupted, "disruption"))
	}
	if n := counts[CountedIgnored]; n > 0 {
		text += fmt.Sprintf(", %d ignored by the podFailurePolicy", n)
	}
	if n := len(c.touching()); n > 0 {
		text += " · history has " + words.Count(n, "gap")
	}
	if !c.complete() {
		text += " · not all is recorded: the log's budget (explain says what)"
	}
	return text
}

func tries(n int) string {
	if n == 1 {
		return "1 try"
	}
	return fmt.Sprintf("%d tries", n)
}

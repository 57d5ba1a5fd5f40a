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

// Attempt is one try of a Job's work, for a list. Its JSON changes only by growing.
type Attempt struct {
	Index *int32 `json:"index,omitempty"`
	Try   int    `json:"try"` // of its index, or of a Job without indexes of the Job, from 1
	Pod   string `json:"pod"`
	UID   string `json:"uid"`
	Node  string `json:"node,omitempty"`

	Created   recordjson.Instant `json:"created,omitzero"` // by the API server's clock
	Started   recordjson.Instant `json:"started,omitzero"` // by the node's clock, in whole seconds; else when it was seen to run
	Ran       string             `json:"ran,omitempty"`    // for how long, as Go writes durations
	RanAtMost bool               `json:"ranAtMost,omitempty"`

	EndedBy  By                 `json:"endedBy,omitempty"` // absent while it goes on
	How      string             `json:"how,omitempty"`     // how it ended, or what it waits for
	Whole    string             `json:"whole,omitempty"`   // How with all of the texts of others that are cut in it
	Unseen   bool               `json:"unseen,omitempty"`  // nobody looked at the time that is asked for: so it was seen last
	Exits    []Exit             `json:"exits,omitempty"`
	Restarts uint32             `json:"restarts,omitempty"`
	Counted  Counted            `json:"counted,omitempty"`
	Failure  int32              `json:"failure,omitempty"` // which failure of the Job it is, from 1
	Next     recordjson.Instant `json:"next,omitzero"`     // not before then came the next try: backoff
	Deleted  recordjson.Instant `json:"deletionAsked,omitzero"`
	Gone     bool               `json:"gone,omitempty"` // its object is
	Records  map[string]uint64  `json:"records,omitempty"`
}

// Exit is how a container ended other than with 0.
type Exit struct {
	Container string `json:"container"`
	Code      int32  `json:"code"`
	Reason    string `json:"reason,omitempty"`
}

// Attempts are the Job's tries by index and number, so many from one on, counted from 0; of failed ones only, if only
// those are wanted.
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

// how is how a try ended, or what it waits for.
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

// notBefore is until when the next try had to wait for this one's failure; 0 when none was to follow, because it was
// settled how the Job ends. Where the next try is known, it is no later than that came: the controller that made it may
// count from another second than we do.
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

// heldUntil is until when the backoff after a try's failure kept the next one from coming, by our own clock; 0 for not
// at all.
func (c *Case) heldUntil(t *Try) events.Time {
	if next := c.follower(t); next != nil && t.Again != 0 {
		return min(t.Again, next.Seen.At)
	}
	return c.notBefore(t)
}

// follower is the try of the same index that was made next after one had ended; nil for none.
func (c *Case) follower(t *Try) (next *Try) {
	for _, x := range c.Tries {
		later := x.Seen.Record > t.end().Record && x.Created.Add(time.Second) > t.end().At
		if x != t && x.Index == t.Index && later && (next == nil || x.came() < next.came()) {
			next = x
		}
	}
	return next
}

// came is when a try was there, as a list says it: when it was created, or began, whichever clock is behind.
func (t *Try) came() events.Time {
	came := cmp.Or(t.Created, t.Seen.At)
	if began := t.began(); began != 0 {
		came = min(came, began)
	}
	return came
}

// noneFollows reports whether no try comes after one: the Job's end is settled, or follows from the records by our
// rules, or it is being deleted.
func (c *Case) noneFollows(t *Try) bool {
	if c.over() || c.settled != nil || c.spare != nil && !c.ours() || c.deletion().Record != 0 {
		return true
	}
	return c.folded != nil && c.folded.FailedIndexes().Has(t.Index)
}

// waitText is what a try that goes on waits for; empty when it runs.
func (t *Try) waitText() string {
	if n := len(t.Waits); n > 0 && t.Waits[n-1].Until.Record == 0 {
		return t.Waits[n-1].Reason
	}
	return ""
}

// waitsText is waitText with what was said about it.
func (t *Try) waitsText() passage {
	if t.waitText() == "" {
		return passage{}
	}
	return t.waitWords()
}

// toldWait reports whether a try that never started had waited for something worth telling.
func (t *Try) toldWait() bool {
	return slices.Contains(stuckWords, t.wait0().Reason) || t.end().At.Sub(t.Seen.At) >= waitTold
}

// waitWords is the newest wait of a try, and what was said about it.
func (t *Try) waitWords() passage {
	w := t.wait0()
	return phrase("%s%s", w.word(), colon(w.Message))
}

// lacking says in which records the tries of a Job stand, where others may have said more; empty when all of it is
// told.
func (c *Case) lacking() string {
	switch {
	case c.Truncated() && c.resumed != 0, c.cut && !c.over():
		return " in the records that can be read"
	case c.Truncated():
		return " in the records that are kept"
	}
	return ""
}

// Sum says what the tries came to.
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

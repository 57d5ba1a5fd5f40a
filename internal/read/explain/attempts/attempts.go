package attempts

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/ending"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/stuck"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Attempt is one try (pod) of a Job, as a row of a list. Its JSON changes only by adding fields.
type Attempt struct {
	Index *int32 `json:"index,omitempty"`
	Try   int    `json:"try"` // number from 1 within the index; within the Job if it has no indexes
	Pod   string `json:"pod"`
	UID   string `json:"uid"`
	Node  string `json:"node,omitempty"`

	Created recordjson.Instant `json:"created,omitzero"` // by the API server's clock
	// Started is when its containers started, by the node's clock, in whole seconds. If the node did not tell, it is
	// the time at which the pod was seen running.
	Started   recordjson.Instant `json:"started,omitzero"`
	Ran       string             `json:"ran,omitempty"` // how long it ran, such as "2m3s"
	RanAtMost bool               `json:"ranAtMost,omitempty"`

	EndedBy try.By `json:"endedBy,omitempty"` // what ended it; absent while it has not ended
	How     string `json:"how,omitempty"`     // how it ended, or what it waits for
	Whole   string `json:"whole,omitempty"`   // How without cuts in quoted messages
	// Unseen is set if nobody watched the cluster at the requested time: the row then has the last state that was seen.
	Unseen   bool        `json:"unseen,omitempty"`
	Exits    []Exit      `json:"exits,omitempty"`
	Restarts uint32      `json:"restarts,omitempty"`
	Counted  try.Counted `json:"counted,omitempty"`
	// Number of this failure among the failures of the Job, from 1; absent if it is none.
	Failure int32              `json:"failure,omitempty"`
	Next    recordjson.Instant `json:"next,omitzero"` // end of the backoff before the next try
	Deleted recordjson.Instant `json:"deletionAsked,omitzero"`
	Gone    bool               `json:"gone,omitempty"` // its object is deleted
	Records map[string]uint64  `json:"records,omitempty"`
}

// Exit is a container's exit code other than 0.
type Exit struct {
	Container string `json:"container"`
	Code      int32  `json:"code"`
	Reason    string `json:"reason,omitempty"`
}

// Rows returns one row for each try (pod) of the Job, sorted by index and number. It skips the first rows, as many as
// `from` says, and returns no more rows than `most` (0 for all). If failed is set, it returns only failed tries. The
// result `all` is the number of rows without the limits from and most.
func Rows(c *jobcase.Case, failed bool, from, most int) (rows []Attempt, all int) {
	tries := c.Tries
	if failed {
		tries = ending.FailedTries(c)
	}
	tries = slices.Clone(tries)
	slices.SortStableFunc(tries, func(a, b *try.Try) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index),
			cmp.Compare(a.Number, b.Number))
	})
	all = len(tries)
	tries = tries[min(from, all):]
	if most > 0 {
		tries = tries[:min(most, len(tries))]
	}
	for _, t := range tries {
		rows = append(rows, attempt(c, t))
	}
	return rows, all
}

func attempt(c *jobcase.Case, t *try.Try) Attempt {
	a := Attempt{
		Try: t.Number, Pod: t.Pod, UID: string(t.UID), Node: t.Node, Created: recordjson.Instant(t.Created),
		Started: recordjson.Instant(cmp.Or(t.Began(), t.Started.At)), Restarts: t.RestartsSeen(), Counted: t.Counted,
		Failure: t.Failure,
		Next:    recordjson.Instant(c.NotBefore(t)), Deleted: recordjson.Instant(t.Asked), Gone: t.Gone.Record != 0,
	}
	if t.Index != events.NoIndex {
		a.Index = &t.Index
	}
	if d, known, most := t.Ran(); known {
		a.Ran, a.RanAtMost = d.String(), most
	}
	a.EndedBy = ending.Of(c, t).By
	how := how(c, t)
	if a.How = how.Cut; how.Whole != how.Cut {
		a.Whole = how.Whole
	}
	if _, unseen := c.Unseen(); a.EndedBy == try.ByNobody {
		a.Unseen = unseen || c.Damage != 0 || c.Job.Gap != nil && !c.Over()
	}
	for _, x := range try.Failures(t.Containers) {
		a.Exits = append(a.Exits, Exit{x.Name, x.ExitCode, x.Reason})
	}
	a.Records = map[string]uint64{}
	for name, m := range map[string]explain.Mark{
		"ordered": t.Ordered, "seen": t.Seen, "started": t.Started, "ended": t.Ended, "deletionSeen": t.AskedSeen,
		"gone":        t.Gone,
		"deletedByUs": t.Deleted, "counted": t.CountAt,
	} {
		if m.Record != 0 {
			a.Records[name] = uint64(m.Record)
		}
	}
	return a
}

// how returns how try t (a pod) ended, or what it waits for if it has not ended.
func how(c *jobcase.Case, t *try.Try) explain.Passage {
	e := ending.Of(c, t)
	how := explain.Phrase("%s", e.Why)
	switch {
	case e.Then != "" && e.Why == "":
		how = explain.Phrase("%s", e.Then)
	case e.Then != "":
		how = explain.Phrase("%s; %s", how, e.Then)
	}
	if h, half := stuck.HalfDone(c, t); e.By == try.ByNobody && half {
		how = explain.Phrase("%s", h.Text)
	} else if e.By == try.ByNobody {
		how = t.WaitsText()
	}
	if n := len(t.Waits); n > 0 && t.Started.Record == 0 && e.By != try.ByNobody && t.ToldWait() {
		how = explain.Phrase("%s; it had waited: %s", how, t.WaitWords())
	}
	if k := t.DoneFirst(); k != nil && t.Over() && len(try.Failures(t.Containers)) > 0 {
		how = explain.Phrase("%s; %s had ended with 0%s", how, k.Name, c.AtClock(k.Finished))
	}
	return how
}

// lacking says which part of the Job's life the list of tries (pods) covers, if other tries may be missing because
// records are pruned (deleted) or damaged. It is empty if the list is complete.
func lacking(c *jobcase.Case) string {
	switch {
	case c.Truncated() && c.Resumed != 0, c.Cut && !c.Over():
		return " in the records that can be read"
	case c.Truncated():
		return " in the records that are kept"
	}
	return ""
}

// Sum returns a line that counts the tries (pods) of a Job by how they ended: "4 tries · 1 succeeded, 3 failed (2
// disruptions)".
func Sum(c *jobcase.Case) string {
	if len(c.Tries) == 0 && lacking(c) != "" {
		return "no tries" + lacking(c)
	}
	indexes, counts := map[int32]bool{}, map[try.Counted]int{}
	disrupted := 0
	for _, t := range c.Tries {
		indexes[t.Index] = true
		counts[t.Counted]++
		if ending.Of(c, t).By.Disruption() {
			disrupted++
		}
	}
	text := try.Count(len(c.Tries)) + lacking(c)
	if c.Folded != nil && c.Folded.Indexed {
		text += fmt.Sprintf(", %d indexes", len(indexes))
	}
	text += fmt.Sprintf(" · %d succeeded, %d failed", counts[try.CountedSucceeded], counts[try.CountedFailed])
	text += statusText(c, counts)
	if disrupted > 0 {
		text += fmt.Sprintf(" (%s)", words.Count(disrupted, "disruption"))
	}
	if n := counts[try.CountedIgnored]; n > 0 {
		text += fmt.Sprintf(", %d ignored by the podFailurePolicy", n)
	}
	if n := len(c.Touching()); n > 0 {
		text += " · history has " + words.Count(n, "gap")
	}
	if !c.Complete() {
		text += " · not all is recorded: the log's budget (explain says what)"
	}
	return text
}

// statusText says how many pods the Job's status counts, if the known tries add up to other numbers; empty otherwise.
// counts has the number of tries by what they count as.
func statusText(c *jobcase.Case, counts map[try.Counted]int) string {
	if c.Folded == nil || !c.Folded.Finished() {
		return ""
	}
	b := &c.Folded.Base
	if int(b.Succeeded) == counts[try.CountedSucceeded] && int(b.Failed) == counts[try.CountedFailed] {
		return ""
	}
	return fmt.Sprintf(" · the status counts %d succeeded, %d failed", b.Succeeded, b.Failed)
}

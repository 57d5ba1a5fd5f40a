package explain

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Answer explains the Job: a verdict, and the sections that have sentences.
func (c *JobCase) Answer() Answer {
	j := &c.Job
	a := Answer{
		Kind: "job", Namespace: j.Namespace, Name: j.Name, UID: j.UID, AsOf: j.AsOf, Clock: j.Clock, LastRecord: j.LastRecord, State: string(j.State),
		Created: j.Created, Finished: j.Finished, Lives: c.Lives, InPart: j.InPart(), Truncated: c.Truncated(), Damaged: uint64(c.damage), Resumed: uint64(c.resumed),
		Sections: []Section{},
	}
	for _, g := range c.touching() {
		a.Gaps = append(a.Gaps, *g)
	}
	a.PassedOver, a.Unrecorded = c.passedOver(), c.unrecorded.versions
	a.Verdict, a.Begun = c.verdict(), c.begunBefore()
	if s, ok := c.removal(); ok {
		a.Deleted = &s
	}
	a.add(headTick, c.tick()...)
	a.add(headWhy, c.why()...)
	if !c.over() {
		a.add(headWaits, c.waitsFor(c.beside.freedText())...)
	}
	a.add(headWaited, append(c.lacked(false), c.waited()...)...)
	a.add(headFirst, c.first()...)
	a.add(headAlike, c.alike()...)
	c.addPods(&a)
	a.add(headAdmitted, c.admission()...)
	a.add(headEdits, c.edited()...)
	a.add(headRefused, c.refusedText()...)
	a.add(headChanged, c.beside.changed()...)
	a.add(headAlso, c.beside.also()...)
	a.add(headTime, append(c.took(), c.late()...)...)
	a.add(headClose, c.close()...)
	a.add(headRuledOut, c.ruledOut()...)
	a.add(headHistory, c.history()...)
	a.putFirst(c.leads()...)
	return a
}

// finished reports whether the Job is complete or failed.
func (c *Case) finished() bool {
	return c.Job.State == history.StateComplete || c.Job.State == history.StateFailed
}

// over reports whether the Job is final: finished, or its object is gone.
func (c *Case) over() bool {
	return c.finished() || c.Job.State == history.StateFinished || c.gone.Record != 0
}

// start returns the creation time of the Job, from which its duration counts.
func (c *Case) start() events.Time {
	if c.added.At != 0 && c.added.At.Sub(events.Time(c.Job.Created)) < 2*time.Second {
		return c.added.At // we saw the creation at once, and our clock is finer than the object's whole seconds
	}
	if c.Job.Created == 0 && len(c.Tries) > 0 { // the records with the creation time are pruned
		return c.Tries[0].Seen.At
	}
	return events.Time(c.Job.Created)
}

// end returns the time at which the Job was known to have ended. For a Job that goes on it is the time up to which it
// was watched: the start of an open gap, otherwise the point that was asked for.
func (c *Case) end() events.Time {
	switch {
	case c.settled != nil && c.settled.Over.At != 0 && c.finished():
		return c.settled.Over.At
	case c.settled != nil && c.settled.Stored.At != 0 && c.finished():
		return c.settled.Stored.At
	case c.gone.At != 0:
		return c.gone.At
	}
	if m, is := c.unseen(); is {
		return m.At
	}
	if c.Job.Gap != nil {
		return events.Time(c.Job.Gap.From)
	}
	return events.Time(c.Job.AsOf.Time)
}

// touching returns the gaps that overlap the time from the Job's creation to its end.
func (c *Case) touching() []*history.Gap {
	var out []*history.Gap
	all := c.Gaps
	if g := c.Job.Gap; g != nil && !c.over() { // the point that was asked for lies in gap g
		if all = slices.DeleteFunc(slices.Clone(all), func(x *history.Gap) bool { return x.Listing == g.Listing }); g.From != 0 {
			out = append(out, g)
		}
	}
	for _, g := range all {
		until := events.Time(g.Until)
		if g.From == 0 && c.start() == c.added.At {
			continue // nobody watched before the first listing, but it found the Job right after its creation
		}
		if events.Time(g.From) < c.end() && (until == 0 || until > c.start()) && !instant(g) {
			out = append(out, g)
		}
	}
	return out
}

// instant reports whether a gap is shorter than 50 ms: a relist that followed at once. Such a gap loses nothing.
func instant(g *history.Gap) bool {
	return g.Until != 0 && events.Time(g.Until).Sub(events.Time(g.From)) < 50*time.Millisecond
}

// removal says when the Job's object was deleted, and by whom. The result is false if it was not deleted.
func (c *Case) removal() (Sentence, bool) {
	m := c.deletion()
	if m.Record == 0 {
		return Sentence{}, false
	}
	at, when := m.At, "deleted"
	if c.jobDeleted != 0 {
		at = c.jobDeleted
	}
	if c.gone.Record == 0 {
		when = "being deleted since"
	}
	by, _, from := c.removedBy(m, at)
	if g := c.goneUnseen(m); g != nil {
		return say(marks(m), "found gone %s, who deleted it is unknown: it was not watched from %s on", c.clock(m.At), c.clock(events.Time(g.From))), true
	}
	first := []Mark{m, c.gone}
	if c.expiredByUs(m) {
		first = []Mark{c.ttl, m, c.gone}
	}
	return say(marks(append(first, from...)...), "%s %s %s", when, c.clock(at), by), true
}

// goneUnseen returns the gap in which the Job disappeared. It is nil for none, and if a record announced the deletion.
func (c *Case) goneUnseen(m Mark) *history.Gap {
	if c.jobDeleted != 0 || c.expiredByUs(m) {
		return nil
	}
	if w := c.ownerSaid(m); w != nil && w.ordered.Record != 0 {
		return nil
	}
	return c.gapBefore(nil, m)
}

// expiredByUs reports whether we decided to delete the Job after its TTL, before record m showed the deletion.
func (c *Case) expiredByUs(m Mark) bool { return c.ttl.Record != 0 && c.ttl.Record < m.Record }

// whichClient follows a statement that an API client deleted something: no record names the user of a request.
const whichClient = "; which one is unknown"

// removedBy says who deleted the Job. Record m shows the deletion, and at is the time of the request. unknown says
// which part of the answer the log does not show; from are the records that show by.
func (c *Case) removedBy(m Mark, at events.Time) (by, unknown string, from []Mark) {
	namespace, going := c.namespaceRemoval()
	switch {
	case c.expiredByUs(m):
		return "by Jobledger, as its ttlSecondsAfterFinished had passed", "", nil
	case going:
		return "with its namespace, whose deletion was asked for at " + c.clock(namespace.seen.Deleted), "", marks(namespace.Mark)
	case c.namespaceGoing.Record != 0:
		return "with its namespace", "", nil
	}
	w := c.ownerSaid(m)
	if w != nil {
		if by, from = w.removedBy(c.origin.Name, m); by != "" {
			return by, "", from
		}
	}
	others := ""
	switch {
	case c.expiredBefore(at):
		return "after its ttlSecondsAfterFinished had passed", "", nil
	case c.origin != nil && c.origin.Kind != "" && (w == nil || w.deleted.Record != 0):
		others = " or with its " + c.origin.Kind + " " + c.origin.Name
	case w != nil && !w.ours:
		others = ", or by the CronJob's own controller"
	}
	if others += c.orNamespace(m); others == "" {
		return "by an API client", whichClient, nil
	}
	return "by an API client" + others, "; which is unknown", nil
}

// orNamespace says that the Job may have been deleted with its namespace, if namespaces were not watched at m.
func (c *Case) orNamespace(m Mark) string {
	if c.look(m).Namespaces == events.WatchingOn {
		return ""
	}
	return " or with its namespace (namespaces are not watched)"
}

// expiredBefore reports whether the Job's TTL had passed at a time.
func (c *Case) expiredBefore(at events.Time) bool {
	if !c.finished() || c.Spec == nil || c.Spec.TTLSecondsAfterFinished == nil {
		return false
	}
	return at >= events.Time(c.Job.Finished).Add(time.Duration(*c.Spec.TTLSecondsAfterFinished)*time.Second)
}

// edited lists the edits of the spec and their field managers.
func (c *JobCase) edited() []Sentence {
	var out []Sentence
	for i := range c.edits {
		e := &c.edits[i]
		text := strings.Join(words.SpecChanges(e.Before, e.After), ", ") + byManager(e.By)
		out = append(out, say(marks(e.Was, e.At), "%s %s", c.clock(e.At.At), text))
	}
	return fewer(out, 3)
}

// fewer marks the sentences after the first most as details.
func fewer(s []Sentence, most int) []Sentence {
	for i := most; i < len(s); i++ {
		s[i].Detail = true
	}
	return s
}

// refusedText lists what the API server refused, and for how long.
func (c *JobCase) refusedText() []Sentence {
	var out []Sentence
	for _, x := range c.refusals {
		if !x.Class.Passing() || x.Class == events.RefusedConflict {
			continue // a retry under other terms followed
		}
		to, then, over := "", "; still refused", x.Over
		switch {
		case x.Over.Record != 0:
			to, then = " to "+c.clock(x.Over.At), "; then accepted"
		case x.Then != nil:
			to, then, over = " to "+c.clock(x.Last.At), fmt.Sprintf("; then refused (%s)", x.Then.Class), x.Then.Last
		case c.gone.Record != 0: // nothing is requested any more
			then, over = "; not accepted before the Job was deleted", c.gone
		case c.finished() && x.Kind == events.CommandCreatePod && c.settled != nil:
			then, over = "; not accepted before the Job ended", c.settled.stored()
		}
		out = append(out, say(marks(x.First, x.Last, over), "%s refused (%s) from %s%s: %s%s",
			x.Kind.Traits().Verb, x.Class, c.clock(x.First.At), to, says(x.Says), then))
	}
	return fewer(out, 2)
}

func says(text string) string {
	if text == "" {
		return "the log has no words of the server"
	}
	return forbidden.ReplaceAllString(text, "")
}

// forbidden matches the prefix of the API server's message when admission refuses a pod: `pods "a-x2x7k" is forbidden:
// `. It is cut off because the refusal class says the same.
var forbidden = regexp.MustCompile(`^pods "[^"]*" is forbidden: `)

func (c *Case) clock(t events.Time) string {
	if t == 0 {
		return "an unknown time"
	}
	return c.zone.In(t).Format(c.day(t) + "15:04:05")
}

// history lists the gaps of the watch within the Job's time, and the pruned or damaged records.
func (c *JobCase) history() []Sentence {
	var out []Sentence
	switch {
	case c.added.Record == 0 && c.resumed != 0:
		out = append(out, say(nil, "its first records are damaged, or before damage, so what happened before record %d is not told", c.resumed))
	case c.added.Record == 0:
		out = append(out, say([]Mark{record(events.Sequence(c.Job.First))}, "its first records are no longer in the log, so what happened before is not told"))
	}
	if had := c.begunBefore(); had != "" {
		out = append(out, say(marks(c.added), "when it was first seen %s: what came before was not seen", had))
	}
	out = append(out, c.changedHands()...)
	for _, g := range c.touching() {
		from, until := events.Time(g.From), events.Time(g.Until)
		end := "and it is not watched yet"
		if until != 0 {
			end = "to " + c.moment(until)
		}
		if g.From == 0 {
			out = append(out, say(gapMarks(g),
				"GAP to %s: this log begins there, and the Job is older. What had happened was found then", c.moment(until)))
			continue
		}
		why := "the controller was not running: it had not stopped in good order"
		switch {
		case g.Reason == events.ListingGap.String():
			why = "the log had no room"
		case g.Reason == events.ListingRelisted.String():
			why = "the watch was lost"
		case g.Orderly:
			why = "the controller had been stopped"
		}
		out = append(out, say(gapMarks(g),
			"GAP %s %s: %s. What happened in it was found at its end", c.moment(from), end, why))
	}
	for _, p := range c.passedOver() {
		out = append(out, passedText(&p, c.moment))
	}
	return append(out, c.unrecorded.sentences("the Job and its pods")...)
}

// gapMarks returns the records of the listing that ended a gap: its beginning and its end.
func gapMarks(g *history.Gap) []Mark {
	return marks(Mark{events.Sequence(g.Listing), events.Time(g.Until)}, Mark{events.Sequence(g.Synced), events.Time(g.Until)})
}

func (c *Case) moment(t events.Time) string { return c.zone.In(t).Format(c.day(t) + "15:04:05.000") }

// day returns the layout of a date before a time of day. It is empty if all times of the Job and t are on one day.
func (c *Case) day(t events.Time) string {
	const of = "2006-01-02"
	first, last := c.start(), c.newest
	if !c.over() {
		last = max(last, events.Time(c.Job.AsOf.Time))
	}
	day := c.zone.In(first).Format(of)
	if day == c.zone.In(last).Format(of) && day == c.zone.In(t).Format(of) {
		return ""
	}
	return "2 Jan "
}
